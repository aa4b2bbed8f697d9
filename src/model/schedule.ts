/**
 * Schedules, as hooks write them: `0 9 * * 1-5`, `every 30m`, `at 2026-12-01T09:00`.
 *
 * All of them are made of whole minutes, because the timer has one event a minute. Where clocks change, cron keeps
 * to what people expect of it since Vixie: a fixed time that is skipped comes right after the gap, one that
 * occurs twice counts once, and what goes by `*` or a step goes on with the real minutes.
 */
import { Cron } from "croner";

import { MINUTE_MS } from "./durations.ts";
import { CortexError } from "./errors.ts";

export type Schedule = { readonly text: string } & (
  | { readonly kind: "cron" }
  /** Counted from 1970 in UTC, so that neither a restart nor a change of clocks moves it. */
  | { readonly kind: "every"; readonly periodMs: number }
  | { readonly kind: "at"; readonly moment: Moment }
);

type Moment =
  | { readonly kind: "fixed"; readonly atMs: number }
  /** As clocks on the wall show it, with seconds and without a zone. */
  | { readonly kind: "local"; readonly time: string };

/** A year. */
export const MAX_EVERY_MINUTES = 366 * 24 * 60;
const MAX_SCHEDULE_LENGTH = 256;

/** Throws `schedule_invalid`, also where the time zone is none or the schedule would never come. */
export function parseSchedule(text: string, timezone = "UTC"): Schedule {
  const written = text.trim();
  if (written.length > MAX_SCHEDULE_LENGTH)
    throw invalid(text, `longer than ${MAX_SCHEDULE_LENGTH} characters`);
  checkTimezone(text, timezone);
  const [, every] = /^every\b\s*(.*)$/i.exec(written) ?? [];
  if (every !== undefined) return { text: written, kind: "every", periodMs: parsePeriod(every, text) };
  const [, at] = /^at\b\s*(.*)$/i.exec(written) ?? [];
  if (at !== undefined) return { text: written, kind: "at", moment: parseMoment(at, text) };
  checkCron(written, timezone);
  return { text: written, kind: "cron" };
}

/** Whether the minute that a moment is in belongs to the schedule. */
export function matchesMinute(schedule: Schedule, atMs: number, timezone: string): boolean {
  const minuteMs = startOfMinute(atMs);
  return nextFire(schedule, minuteMs - 1, timezone) === minuteMs;
}

/** The first minute of the schedule after a moment. Undefined: there is none any more. */
export function nextFire(schedule: Schedule, afterMs: number, timezone: string): number | undefined {
  switch (schedule.kind) {
    case "every":
      return (Math.floor(afterMs / schedule.periodMs) + 1) * schedule.periodMs;
    case "at": {
      const { moment } = schedule;
      const atMs = moment.kind === "fixed" ? moment.atMs : nextByClock(moment.time, afterMs, timezone);
      return atMs !== undefined && atMs > afterMs ? atMs : undefined;
    }
    case "cron":
      return nextByClock(schedule.text, afterMs, timezone);
  }
}

/** The newest minute of the schedule after one moment and not after another: the one to catch up on. */
export function missedSince(
  schedule: Schedule,
  fromMs: number,
  toMs: number,
  timezone: string,
): number | undefined {
  let newestMs: number | undefined;
  let lowMs = fromMs;
  let highMs = toMs;
  while (lowMs < highMs) {
    // What comes next after the middle decides in which half the newest one is.
    const middleMs = newestMs === undefined ? lowMs : Math.floor((lowMs + highMs) / 2);
    const nextMs = nextFire(schedule, middleMs, timezone);
    if (nextMs !== undefined && nextMs <= toMs) newestMs = lowMs = nextMs;
    else if (newestMs === undefined) return undefined;
    else highMs = middleMs;
  }
  return newestMs;
}

export function startOfMinute(atMs: number): number {
  return Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
}

interface Known {
  readonly cron: Cron;
  /** The last answer: it is the same for every moment between the two. */
  afterMs: number;
  nextMs: number | undefined;
}

/** How many patterns are kept compiled: those of many hooks, which are all asked every minute. */
const MAX_KNOWN = 4_000;
const known = new Map<string, Known>();

function nextByClock(pattern: string, afterMs: number, timezone: string): number | undefined {
  const key = `${timezone} ${pattern}`;
  let entry = known.get(key);
  if (entry === undefined) {
    entry = { cron: compile(pattern, timezone), afterMs: Infinity, nextMs: undefined };
    known.set(key, entry);
    if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!);
  }
  if (afterMs < entry.afterMs || afterMs >= (entry.nextMs ?? Infinity)) {
    entry.nextMs = entry.cron.nextRun(new Date(afterMs))?.getTime();
    entry.afterMs = afterMs;
  }
  return entry.nextMs;
}

/** Paused, it only computes. */
function compile(pattern: string, timezone: string): Cron {
  return new Cron(pattern, { timezone, paused: true, mode: "5-part" });
}

function checkCron(pattern: string, timezone: string): void {
  if (/^\d{4}-/.test(pattern)) throw invalid(pattern, "a single time needs `at`", `Write "at ${pattern}".`);
  const parts = pattern.split(/\s+/).length;
  if (!pattern.startsWith("@") && parts !== 5) throw invalid(pattern, `expected 5 cron fields, got ${parts}`);
  let nextMs: number | undefined;
  try {
    nextMs = compile(pattern, timezone).nextRun(new Date(0))?.getTime();
  } catch (error) {
    throw invalid(pattern, (error as Error).message.replace("CronPattern: ", "").replace(/\.$/, ""));
  }
  if (nextMs === undefined) throw invalid(pattern, "the date never occurs");
}

const PERIOD = /^(?<count>\d{1,9})?\s*(?:m|mins?|minutes?|(?<h>h|hours?)|(?<d>d|days?))$/i;

function parsePeriod(rest: string, text: string): number {
  const found = PERIOD.exec(rest);
  if (found === null)
    throw invalid(text, `expected a period of minutes, hours or days, got ${JSON.stringify(rest)}`);
  const { count: periods = "1", h, d } = found.groups!;
  const minutes = Number(periods) * (d !== undefined ? 24 * 60 : h !== undefined ? 60 : 1);
  if (minutes < 1 || minutes > MAX_EVERY_MINUTES)
    throw invalid(text, `the period must be 1 to ${MAX_EVERY_MINUTES} minutes, got ${minutes}`);
  return minutes * MINUTE_MS;
}

const MOMENT =
  /^(?<date>\d{4}-\d\d-\d\d)[T ](?<time>([01]\d|2[0-3]):[0-5]\d)(:00)?(?<zone>Z|[+-]\d\d:\d\d)?$/i;

function parseMoment(rest: string, text: string): Moment {
  const { date, time, zone } = MOMENT.exec(rest)?.groups ?? {};
  if (date === undefined || time === undefined || !isDate(date))
    throw invalid(text, `expected a time to the minute, got ${JSON.stringify(rest)}`);
  if (zone === undefined) return { kind: "local", time: `${date}T${time}:00` };
  const atMs = Date.parse(`${date}T${time}:00${zone.toUpperCase()}`);
  if (Number.isNaN(atMs)) throw invalid(text, `invalid UTC offset ${JSON.stringify(zone)}`);
  return { kind: "fixed", atMs };
}

/** JavaScript takes the 30th of February for the 2nd of March. */
function isDate(date: string): boolean {
  const atMs = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(date);
}

function checkTimezone(text: string, timezone: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone }).format(0);
  } catch {
    // Intl has no other way to ask.
    throw invalid(text, `unknown time zone ${JSON.stringify(timezone)}`, "Use a name such as Europe/Berlin.");
  }
}

function invalid(
  text: string,
  why: string,
  hint = 'Write "0 9 * * 1-5" (minute, hour, day, month, weekday), "every 30m" or "at 2026-12-01T09:00".',
): CortexError {
  return new CortexError(
    "schedule_invalid",
    `Invalid schedule ${JSON.stringify(text.slice(0, MAX_SCHEDULE_LENGTH))}: ${why}`,
    { hint },
  );
}
