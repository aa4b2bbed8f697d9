import { expect, test } from "vitest";

import { DAY_MS, HOUR_MS } from "../model/durations.ts";
import { lifetimeMs } from "./lifetime.ts";

test("a lifetime is a number of hours, days or weeks", () => {
  expect(["12h", "30d", "8w"].map(lifetimeMs)).toEqual([12 * HOUR_MS, 30 * DAY_MS, 56 * DAY_MS]);
});

test.each([
  "",
  "0d",
  "30",
  "d",
  "-1d",
  "1.5d",
  "30D",
  "30m",
  "10000d",
  "1d 2h",
  "1e3d",
  "٣d",
  `${"9".repeat(400)}d`,
])("%j is no lifetime", (span) => {
  expect(() => lifetimeMs(span)).toThrow("Invalid lifetime");
});
