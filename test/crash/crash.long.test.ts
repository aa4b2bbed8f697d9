import { describe, expect, test } from "vitest";

import { killAgainAndAgain } from "./harness.ts";
import { SEEDED_BUGS } from "./patched-source.ts";

const KILLS = 300;
const LANES = 3;
const MINUTES = 60_000;

describe.concurrent("a process that is killed while it writes", () => {
  test.each(Array.from({ length: LANES }, (_, lane) => lane + 1))(
    "loses nothing that it acknowledged and leaves nothing by half, lane %i",
    { timeout: 8 * MINUTES },
    async (seed) => {
      const report = await killAgainAndAgain({ kills: KILLS / LANES, seed });
      expect(report.problems).toEqual([]);
      expect(report.kills).toBe(KILLS / LANES);
      expect(report.acknowledged).toBeGreaterThan(KILLS); // it was at work when it died
    },
  );
});

describe.concurrent("the harness catches a planted bug", () => {
  test.each(SEEDED_BUGS)("$name", { timeout: 4 * MINUTES }, async (bug) => {
    const { problems } = await killAgainAndAgain({ kills: KILLS, seed: 1, bug });
    expect(problems).toContainEqual(expect.stringMatching(bug.symptom));
  });
});
