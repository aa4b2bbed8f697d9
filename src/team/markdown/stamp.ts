/** Stamps of task files: `2026-03-28T10:15`, local time without a zone. */
import { offsetMs } from "../../model/day.ts";
import { DAY_MS, MINUTE_MS } from "../../model/durations.ts";

const STAMP = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d$/;

export function toStamp(atMs: number, timezone: string): string {
  return new Date(atMs + offsetMs(atMs, timezone)).toISOString().slice(0, 16);
}

export function isStamp(text: string): boolean {
  if (!STAMP.test(text)) return false;
  // JavaScript parses February 30 as March 2.
  return text[8] !== "3" && text[9] !== "9" ? true : new Date(`${text}Z`).toISOString().startsWith(text);
}

/**
 * The start of that minute; undefined for an invalid stamp. A minute that occurs twice (DST) means the first; a skipped
 * one means the first minute after the gap, as in schedules.
 */
export function stampMs(stamp: string, timezone: string): number | undefined {
  const utcMs = asUtc(stamp);
  if (utcMs === undefined) return undefined;
  const before = offsetMs(utcMs - DAY_MS, timezone);
  const after = offsetMs(utcMs + DAY_MS, timezone);
  const earlierMs = utcMs - Math.max(before, after);
  if (earlierMs + offsetMs(earlierMs, timezone) === utcMs) return earlierMs;
  const laterMs = utcMs - Math.min(before, after);
  if (laterMs + offsetMs(laterMs, timezone) === utcMs) return laterMs;
  return endOfGap(earlierMs, laterMs, timezone);
}

/** Bisects for the moment at which the clock jumped forward. */
function endOfGap(fromMs: number, toMs: number, timezone: string): number {
  const offset = offsetMs(toMs, timezone);
  let [lowMs, highMs] = [fromMs, toMs];
  while (highMs - lowMs > MINUTE_MS) {
    const middleMs = lowMs + Math.ceil((highMs - lowMs) / 2 / MINUTE_MS) * MINUTE_MS;
    if (offsetMs(middleMs, timezone) === offset) highMs = middleMs;
    else lowMs = middleMs;
  }
  return highMs;
}

function asUtc(stamp: string): number | undefined {
  return isStamp(stamp) ? Date.parse(`${stamp}Z`) : undefined;
}
