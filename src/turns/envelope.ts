import type { StoredEvent } from "../store/store.ts";

export const MAX_ENVELOPE_LENGTH = 120;

/** One line that tells the model when, where and by whom something was said. */
export function envelope(event: StoredEvent, timezone: string): string {
  const where = [event.channel, event.place, event.topic].filter((part) => part !== undefined).join("/");
  const line = `[${localTime(event.atMs, timezone)} ${where}${event.sender === undefined ? "" : ` from ${event.sender}`}]`;
  const flat = line.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
  return flat.length <= MAX_ENVELOPE_LENGTH
    ? flat
    : `${flat.slice(0, MAX_ENVELOPE_LENGTH - 2).toWellFormed()}…]`;
}

/** With the weekday, which people refer to, and the offset, so that a model can compute with it. */
function localTime(atMs: number, timezone: string): string {
  const parts = formatterOf(timezone).formatToParts(atMs);
  const part = (type: string): string => parts.find((candidate) => candidate.type === type)?.value ?? "";
  const offset = part("timeZoneName")
    .replace(/^GMT(\+00:00)?$/, "Z")
    .replace("GMT", "");
  return `${part("weekday")} ${part("year")}-${part("month")}-${part("day")} ${part("hour")}:${part("minute")}${offset}`;
}

/** The last one is kept: making one takes ten times as long as using it, and the time zone hardly ever changes. */
let kept: { readonly timezone: string; readonly formatter: Intl.DateTimeFormat } | undefined;

function formatterOf(timezone: string): Intl.DateTimeFormat {
  if (kept?.timezone !== timezone) {
    const formatter = new Intl.DateTimeFormat("en-GB", {
      timeZone: timezone,
      weekday: "short",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      timeZoneName: "longOffset",
    });
    kept = { timezone, formatter };
  }
  return kept.formatter;
}
