import * as fc from "fast-check";
import { expect, test } from "vitest";

import { MINUTE_MS } from "./durations.ts";
import {
  matchesMinute,
  MAX_EVERY_MINUTES,
  missedSince,
  nextFire,
  parseSchedule,
  startOfMinute,
} from "./schedule.ts";

const BERLIN = "Europe/Berlin";

/** The first moments of a schedule after one. */
function firings(text: string, after: string, count: number, timezone = BERLIN): string[] {
  const schedule = parseSchedule(text, timezone);
  const found: string[] = [];
  for (let atMs: number | undefined = Date.parse(after); found.length < count;) {
    atMs = nextFire(schedule, atMs, timezone);
    if (atMs === undefined) break;
    found.push(new Date(atMs).toISOString().slice(0, 16));
  }
  return found;
}

test.each([
  ["0 9 * * 1-5", "2026-11-13T12:00Z", ["2026-11-16T08:00", "2026-11-17T08:00"]],
  ["*/20 * * * *", "2026-11-15T08:00Z", ["2026-11-15T08:20", "2026-11-15T08:40"]],
  ["0 9 1 * MON", "2026-11-28T00:00Z", ["2026-11-30T08:00", "2026-12-01T08:00"]],
  ["0 9 29 2 *", "2026-01-01T00:00Z", ["2028-02-29T08:00", "2032-02-29T08:00"]],
  ["@daily", "2026-11-15T08:00Z", ["2026-11-15T23:00", "2026-11-16T23:00"]],
  ["every 30m", "2026-11-15T08:00Z", ["2026-11-15T08:30", "2026-11-15T09:00"]],
  ["every hour", "2026-11-15T08:10Z", ["2026-11-15T09:00", "2026-11-15T10:00"]],
  ["Every 2 days", "2026-11-15T08:10Z", ["2026-11-17T00:00", "2026-11-19T00:00"]],
  ["at 2026-12-01T09:00", "2026-11-15T08:10Z", ["2026-12-01T08:00"]],
  ["at 2026-12-01 09:00:00", "2026-11-15T08:10Z", ["2026-12-01T08:00"]],
  ["at 2026-12-01T09:00Z", "2026-11-15T08:10Z", ["2026-12-01T09:00"]],
  ["at 2026-12-01T09:00-05:00", "2026-11-15T08:10Z", ["2026-12-01T14:00"]],
  ["at 2026-12-01T09:00", "2026-12-01T08:00Z", []],
])("%s comes after %s at %j", (text, after, expected) => {
  expect(firings(text, after, 2)).toEqual(expected);
});

// In Berlin, 2:00 to 3:00 is skipped on 29 March 2026, and comes twice on 25 October.
test.each([
  [
    "a fixed time that is skipped comes right after",
    "30 2 * * *",
    "2026-03-28T12:00Z",
    ["29T01:00", "30T00:30"],
  ],
  ["the hour after the gap comes once", "0 3 * * *", "2026-03-28T12:00Z", ["29T01:00", "30T01:00"]],
  ["steps go on over the gap", "*/30 * * * *", "2026-03-29T00:00Z", ["29T00:30", "29T01:00", "29T01:30"]],
  ["a fixed time that comes twice counts once", "30 2 * * *", "2026-10-24T12:00Z", ["25T00:30", "26T01:30"]],
  ["every hour is every hour", "30 * * * *", "2026-10-25T00:00Z", ["25T00:30", "25T01:30", "25T02:30"]],
  ["periods do not know of clocks", "every 30m", "2026-10-25T00:30Z", ["25T01:00", "25T01:30", "25T02:00"]],
  ["a moment that is skipped is as much later", "at 2026-03-29T02:30", "2026-03-01T00:00Z", ["29T01:30"]],
  ["a moment that comes twice is the first", "at 2026-10-25T02:30", "2026-10-01T00:00Z", ["25T00:30"]],
])("when clocks change, %s: %s", (_, text, after, expected) => {
  const found = firings(text, after, expected.length);
  expect(found.map((at) => at.slice(8))).toEqual(expected);
});

test("each zone has its own nine o'clock", () => {
  expect(firings("0 9 * * *", "2026-11-15T00:00Z", 1, "Asia/Kolkata")).toEqual(["2026-11-15T03:30"]);
  expect(firings("0 9 * * *", "2026-11-15T00:00Z", 1, "UTC")).toEqual(["2026-11-15T09:00"]);
});

const field = (min: number, max: number) =>
  fc.oneof(
    fc.constant("*"),
    fc.integer({ min, max }).map(String),
    fc.integer({ min: 1, max }).map((step) => `*/${step}`),
    fc
      .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
      .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
  );
const schedules = fc.oneof(
  fc
    .tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(1, 6))
    .map((parts) => parts.join(" ")),
  fc.tuple(field(0, 59), field(0, 23)).map((parts) => [...parts, "* * *"].join(" ")),
  fc.integer({ min: 1, max: 3_000 }).map((minutes) => `every ${minutes}m`),
);
const zones = fc.constantFrom("UTC", BERLIN, "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu");
const moments = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 0, 1) });

test("what comes next is a whole minute that matches, and nothing before it does", () => {
  fc.assert(
    fc.property(
      schedules,
      zones,
      moments,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (text, zone, afterMs, part) => {
        const schedule = parseSchedule(text, zone);
        const nextMs = nextFire(schedule, afterMs, zone)!;
        expect(nextMs).toBeGreaterThan(afterMs);
        expect(nextMs % MINUTE_MS).toBe(0);
        expect(matchesMinute(schedule, nextMs, zone)).toBe(true);
        expect(matchesMinute(schedule, nextMs + MINUTE_MS - 1, zone)).toBe(true);
        const between = startOfMinute(afterMs + part * (nextMs - afterMs));
        const isBetween = between > afterMs && between < nextMs;
        expect(isBetween && matchesMinute(schedule, between, zone)).toBe(false);
      },
    ),
  );
});

test("in which order moments are asked for changes no answer", () => {
  fc.assert(
    fc.property(schedules, zones, fc.array(moments, { minLength: 2, maxLength: 6 }), (text, zone, asked) => {
      const schedule = parseSchedule(text, zone);
      const answers = new Map(asked.map((atMs) => [atMs, nextFire(schedule, atMs, zone)]));
      for (const atMs of asked.toReversed()) expect(nextFire(schedule, atMs, zone)).toBe(answers.get(atMs));
    }),
  );
});

test("what was missed is the newest of all that came meanwhile", () => {
  fc.assert(
    fc.property(
      schedules,
      zones,
      moments,
      fc.integer({ min: 0, max: 40 * MINUTE_MS * 60 }),
      (text, zone, fromMs, forMs) => {
        const schedule = parseSchedule(text, zone);
        const toMs = fromMs + forMs;
        let newest: number | undefined;
        for (let atMs = nextFire(schedule, fromMs, zone); atMs !== undefined && atMs <= toMs;) {
          newest = atMs;
          atMs = nextFire(schedule, atMs, zone);
        }
        expect(missedSince(schedule, fromMs, toMs, zone)).toBe(newest);
      },
    ),
    { numRuns: 50 },
  );
});

test("of a moment, what was missed is the moment", () => {
  const schedule = parseSchedule("at 2026-12-01T09:00Z");
  const atMs = Date.UTC(2026, 11, 1, 9);
  expect(missedSince(schedule, atMs - 1, atMs, "UTC")).toBe(atMs);
  expect(missedSince(schedule, atMs, atMs + 1, "UTC")).toBeUndefined();
  expect(missedSince(schedule, atMs - 2, atMs - 1, "UTC")).toBeUndefined();
});

test.each([
  ["", "expected 5 cron fields, got 1"],
  ["* * * *", "expected 5 cron fields, got 4"],
  ["0 0 9 * * *", "expected 5 cron fields, got 6"],
  ["61 * * * *", "Invalid value for minute: 61"],
  ["*/0 * * * *", "illegal stepping: 0"],
  ["0 9 * * FUNDAY", "(FUNDAY) contains illegal characters"],
  ["@reboot", "@reboot is not supported"],
  ["0 0 30 2 *", "the date never occurs"],
  ["2026-12-01T09:00", "a single time needs `at`"],
  ["every 30s", 'expected a period of minutes, hours or days, got "30s"'],
  ["every", "expected a period"],
  ["every 0m", "minutes, got 0"],
  [`every ${MAX_EVERY_MINUTES + 1}m`, `minutes, got ${MAX_EVERY_MINUTES + 1}`],
  ["at noon", 'expected a time to the minute, got "noon"'],
  ["at 2026-02-30T09:00", "expected a time to the minute"],
  ["at 2026-02-20T09:00:30", "expected a time to the minute"],
  ["at 2026-02-20T09:00+99:00", "invalid UTC offset"],
  ["x".repeat(300), "longer than 256 characters"],
])("%j is not a schedule, and why is said", (text, why) => {
  expect(() => parseSchedule(text)).toThrow(
    expect.objectContaining({ code: "schedule_invalid", message: expect.stringContaining(why) as string }),
  );
});

test("a zone that does not exist is named", () => {
  expect(() => parseSchedule("every 5m", "Mars/Olympus")).toThrow(/unknown time zone "Mars\/Olympus"/);
});
