import * as fc from "fast-check";
import { expect, test } from "vitest";

import { dateOf, dayStart, dayStarts, localTime } from "./day.ts";

test.each<[string, string, string]>([
  ["2026-11-15T15:00:00Z", "UTC", "2026-11-15T00:00:00Z"],
  ["2026-11-15T23:30:00Z", "Europe/Berlin", "2026-11-15T23:00:00Z"],
  // Clocks are put back in the night, so this day has 25 hours.
  ["2026-10-25T22:59:00Z", "Europe/Berlin", "2026-10-24T22:00:00Z"],
  ["2026-03-29T20:00:00Z", "Europe/Berlin", "2026-03-28T23:00:00Z"],
  // Clocks are put forward at midnight, so this day begins at one o'clock.
  ["2026-04-24T12:00:00Z", "Africa/Cairo", "2026-04-23T22:00:00Z"],
  ["2026-11-15T12:00:00Z", "Asia/Kathmandu", "2026-11-14T18:15:00Z"],
])("the day of %s in %s began at %s", (moment, timezone, expected) => {
  expect(new Date(dayStart(Date.parse(moment), timezone)).toISOString()).toBe(
    new Date(expected).toISOString(),
  );
});

test("days follow one another without a gap, and each moment is in the last of them", () => {
  const moments = fc.date({ min: new Date("2000-01-01"), max: new Date("2060-01-01"), noInvalidDate: true });
  const zones = fc.constantFrom(
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kolkata",
  );
  fc.assert(
    fc.property(moments, zones, (moment, timezone) => {
      const atMs = moment.getTime();
      const starts = dayStarts(atMs, 5, timezone);
      expect(starts).toEqual([...new Set(starts)].toSorted((a, b) => a - b));
      expect(starts.at(-1)).toBe(dayStart(atMs, timezone));
      expect(starts.at(-1)!).toBeLessThanOrEqual(atMs);
      expect(new Set(starts.map((start) => dateOf(start, timezone))).size).toBe(5);
    }),
  );
});

test.each<[string, string]>([
  ["UTC", "2026-04-16T16:00:59Z"],
  ["Europe/Berlin", "2026-04-16T18:00:59+02:00"],
  ["America/St_Johns", "2026-04-16T13:30:59-02:30"],
  ["Asia/Kathmandu", "2026-04-16T21:45:59+05:45"],
])("the time in %s is %s, with its offset", (timezone, expected) => {
  expect(localTime(Date.parse("2026-04-16T16:00:59.999Z"), timezone)).toBe(expected);
});
