import { DAY_MS, HOUR_MS } from "../model/durations.ts";
import { CortexError } from "../model/errors.ts";

const UNIT_MS = { h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS };

/** Reads `12h`, `30d` or `8w`: at most 9,999 of a unit. */
export function lifetimeMs(span: string): number {
  const [, count, unit] = /^([1-9]\d{0,3})([hdw])$/.exec(span) ?? [];
  if (count !== undefined) return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  throw new CortexError("usage", `Invalid lifetime ${JSON.stringify(span.slice(0, 80))}`, {
    hint: "Use hours, days or weeks: 12h, 30d, 8w.",
  });
}
