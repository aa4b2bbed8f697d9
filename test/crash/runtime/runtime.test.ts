import { expect, test } from "vitest";

import { killRuntime } from "./harness.ts";

const KILLS = 4;

test("a Cortex that is killed again and again brings every message that it accepted to one end", async () => {
  const report = await killRuntime({ kills: KILLS, seed: 1 });
  expect(report.problems).toEqual([]);
  expect(report.kills).toBe(KILLS);
  expect(report.accepted).toBeGreaterThan(KILLS); // it was at work when it died
  expect(report.resumed).toBeGreaterThan(0);
});
