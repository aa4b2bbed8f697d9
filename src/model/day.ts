/** Days as people count them: from midnight to midnight where they live, which is not always 24 hours. */
import { DAY_MS, MINUTE_MS } from "./durations.ts";

/** When the day of this moment began. */
export function dayStart(atMs: number, timezone: string): number {
  const { year, month, day } = dateIn(atMs, timezone);
  return midnight(year, month, day, timezone);
}

/** When each of the last days began, oldest first; the last of them holds this moment. */
export function dayStarts(atMs: number, days: number, timezone: string): number[] {
  const { year, month, day } = dateIn(atMs, timezone);
  return Array.from({ length: days }, (_, i) => midnight(year, month, day - (days - 1 - i), timezone));
}

/** As 2026-11-15. */
export function dateOf(atMs: number, timezone: string): string {
  const { year, month, day } = dateIn(atMs, timezone);
  return [year, String(month).padStart(2, "0"), String(day).padStart(2, "0")].join("-");
}

/** As 2026-04-16T18:00:00+02:00. */
export function localTime(atMs: number, timezone: string): string {
  const offset = offsetMs(atMs, timezone);
  const minutes = Math.abs(offset) / MINUTE_MS;
  const zone = [minutes / 60, minutes % 60]
    .map((part) => String(Math.trunc(part)).padStart(2, "0"))
    .join(":");
  const local = new Date(atMs + offset).toISOString().slice(0, "2026-04-16T18:00:00".length);
  return `${local}${offset === 0 ? "Z" : `${offset < 0 ? "-" : "+"}${zone}`}`;
}

interface CalendarDate {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
}

function dateIn(atMs: number, timezone: string): CalendarDate {
  const shifted = new Date(atMs + offsetMs(atMs, timezone));
  return { year: shifted.getUTCFullYear(), month: shifted.getUTCMonth() + 1, day: shifted.getUTCDate() };
}

/** The first moment of a date. Where clocks are put forward at midnight, that is later than 00:00. */
function midnight(year: number, month: number, day: number, timezone: string): number {
  const asUtc = Date.UTC(year, month - 1, day);
  const before = asUtc - offsetMs(asUtc - DAY_MS, timezone);
  const after = asUtc - offsetMs(asUtc + DAY_MS, timezone);
  return (
    [Math.min(before, after), Math.max(before, after)].find((atMs) => isOn(atMs, asUtc, timezone)) ?? after
  );
}

function isOn(atMs: number, asUtc: number, timezone: string): boolean {
  return atMs + offsetMs(atMs, timezone) >= asUtc;
}

/** How far clocks there are ahead of UTC at this moment. */
export function offsetMs(atMs: number, timezone: string): number {
  const minute = Math.floor(atMs / MINUTE_MS);
  let offsets = offsetsOf.get(timezone);
  if (offsets === undefined || offsets.size >= MAX_OFFSETS) offsetsOf.set(timezone, (offsets = new Map()));
  let offset = offsets.get(minute);
  if (offset === undefined) offsets.set(minute, (offset = findOffset(atMs, timezone)));
  return offset;
}

/** Finding one takes a microsecond or more, and a thousand members are asked about the same few minutes. */
const MAX_OFFSETS = 10_000;
const offsetsOf = new Map<string, Map<number, number>>();

function findOffset(atMs: number, timezone: string): number {
  const parts = formatterOf(timezone).formatToParts(atMs);
  const part = (type: string): number =>
    Number(parts.find((candidate) => candidate.type === type)?.value ?? 0);
  const local = Date.UTC(
    part("year"),
    part("month") - 1,
    part("day"),
    part("hour"),
    part("minute"),
    part("second"),
  );
  return local - Math.floor(atMs / 1_000) * 1_000;
}

/** Making one takes much longer than using it. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timezone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(timezone);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat("en-US", {
      timeZone: timezone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formatters.set(timezone, formatter);
  }
  return formatter;
}
