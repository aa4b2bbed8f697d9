import { expect, test } from "vitest";

import { killAgainAndAgain } from "./harness.ts";

const KILLS = 8;

test("a process that is killed while it writes loses nothing that it acknowledged and leaves nothing by half", async () => {
  const report = await killAgainAndAgain({ kills: KILLS, seed: 1 });
  expect(report.problems).toEqual([]);
  expect(report.kills).toBe(KILLS);
  expect(report.acknowledged).toBeGreaterThan(KILLS); // it was at work when it died
});
