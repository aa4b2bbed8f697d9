import * as fc from "fast-check";
import { expect, test } from "vitest";

import { isStamp, stampMs, toStamp } from "./stamp.ts";

test.each<[string, string, string]>([
  ["2026-03-28T10:15", "UTC", "2026-03-28T10:15:00Z"],
  ["2026-03-28T10:15", "Europe/Berlin", "2026-03-28T09:15:00Z"],
  ["2026-07-01T00:00", "America/New_York", "2026-07-01T04:00:00Z"],
  // Clocks show this minute twice: the earlier one is meant.
  ["2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00Z"],
  ["2026-11-01T01:30", "America/New_York", "2026-11-01T05:30:00Z"],
  // Clocks skip this minute: the first one after the gap is meant.
  ["2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:00:00Z"],
  ["2026-03-08T02:00", "America/New_York", "2026-03-08T07:00:00Z"],
  // A gap of half an hour.
  ["2026-10-04T02:15", "Australia/Lord_Howe", "2026-10-03T15:30:00Z"],
])("%s in %s is %s", (stamp, timezone, expected) => {
  expect(stampMs(stamp, timezone)).toBe(Date.parse(expected));
});

test.each([
  "",
  "--",
  "2026-03-28",
  "2026-03-28 10:15",
  "2026-03-28T10:15:00",
  "2026-03-28T10:15Z",
  "2026-13-01T10:15",
  "2026-02-29T10:15",
  "2026-02-30T10:15",
  "2026-04-31T10:15",
  "2026-03-28T24:00",
  "2026-03-28T10:60",
  " 2026-03-28T10:15",
])("%j is no stamp", (text) => {
  expect(isStamp(text)).toBe(false);
  expect(stampMs(text, "UTC")).toBeUndefined();
});

test("the 29th of February is a day in every fourth year", () => {
  expect(isStamp("2028-02-29T23:59")).toBe(true);
});

test("a moment, written and read, is the minute it was in, or the same minute an hour before", () => {
  const moments = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2060, 0, 1) });
  const zones = fc.constantFrom("UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe");
  fc.assert(
    fc.property(moments, zones, (atMs, timezone) => {
      const stamp = toStamp(atMs, timezone);
      expect(isStamp(stamp)).toBe(true);
      const readMs = stampMs(stamp, timezone)!;
      expect(toStamp(readMs, timezone)).toBe(stamp);
      const minuteMs = Math.floor(atMs / 60_000) * 60_000;
      expect([0, 1_800_000, 3_600_000]).toContain(minuteMs - readMs);
    }),
  );
});
