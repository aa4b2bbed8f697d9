import { DAY_MS, HOUR_MS, MINUTE_MS } from "../model/durations.ts";
import { CortexError } from "../model/errors.ts";
import { type Invocation, text } from "./command.ts";

const SPAN_MS = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS };

/** The value of a time option: a date, a time, or an age. Undefined: not given. */
export function momentOf(given: Invocation, option: string, nowMs: number): number | undefined {
  const said = text(given, option);
  if (said === undefined) return undefined;
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(said) ?? [];
  if (count !== undefined) return nowMs - Number(count) * SPAN_MS[unit as keyof typeof SPAN_MS];
  const dated = /^\d{4}-\d\d-\d\d$/.test(said) ? `${said}T00:00` : said; // local time, not UTC
  const ms = /^\d{4}-\d\d-\d\d[T ]/.test(dated) ? Date.parse(dated) : Number.NaN;
  if (Number.isFinite(ms)) return ms;
  throw new CortexError("usage", `Invalid time "${said}"`, {
    hint: "Use a date such as 2026-03-01, a time such as 2026-03-01T09:30, or an age: 30m, 12h, 7d, 2w.",
  });
}
