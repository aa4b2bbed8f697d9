import { DAY_MS, HOUR_MS, MINUTE_MS } from "../model/durations.ts";
import { CortexError } from "../model/errors.ts";
import { type Invocation, text } from "./command.ts";

const SPAN_MS = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS };

/** A moment as a person gives it: a date, a time, or how long ago it was. Undefined: it was not given. */
export function momentOf(given: Invocation, option: string, nowMs: number): number | undefined {
  const said = text(given, option);
  if (said === undefined) return undefined;
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(said) ?? [];
  if (count !== undefined) return nowMs - Number(count) * SPAN_MS[unit as keyof typeof SPAN_MS];
  const dated = /^\d{4}-\d\d-\d\d$/.test(said) ? `${said}T00:00` : said; // of the clock on the wall, not of UTC
  const ms = /^\d{4}-\d\d-\d\d[T ]/.test(dated) ? Date.parse(dated) : Number.NaN;
  if (Number.isFinite(ms)) return ms;
  throw new CortexError("usage", `"${said}" is not a moment`, {
    hint: "Give a date such as 2026-03-01, a time such as 2026-03-01T09:30, or how long ago: 30m, 12h, 7d, 2w.",
  });
}
