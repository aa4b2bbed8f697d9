/** Stamps, as task files have them: `2026-03-28T10:15`, by the clock on the wall, without a zone. */
import { offsetMs } from "../../model/day.ts";
import { DAY_MS, MINUTE_MS } from "../../model/durations.ts";

const STAMP = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d$/;

export function toStamp(atMs: number, timezone: string): string {
  return new Date(atMs + offsetMs(atMs, timezone)).toISOString().slice(0, 16);
}

export function isStamp(text: string): boolean {
  if (!STAMP.test(text)) return false;
  // JavaScript takes the 30th of February for the 2nd of March.
  return text[8] !== "3" && text[9] !== "9" ? true : new Date(`${text}Z`).toISOString().startsWith(text);
}

/**
 * When that minute began; undefined where the text is no stamp. Of a minute that clocks show twice it is the earlier
 * one, and one that they skip is the first after the gap, as schedules have it.
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

/** Clocks are put forward after one moment and not after the other. */
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
