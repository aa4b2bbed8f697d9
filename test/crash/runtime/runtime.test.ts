import { describe, expect, test } from "vitest";

import { killRuntime } from "./harness.ts";
import { RUNTIME_BUGS } from "./seeded-bugs.ts";

const KILLS = 100;
const LANES = 2;
const MINUTES = 60_000;
/** Homes in which a planted bug may stay unseen, and the kills in each. */
const TRIES = 10;
const KILLS_PER_TRY = 6;

describe.concurrent("a Cortex that is killed again and again", () => {
  test.each(Array.from({ length: LANES }, (_, lane) => lane + 1))(
    "brings every message that it accepted to one end, and makes no call twice, lane %i",
    { timeout: 15 * MINUTES },
    async (seed) => {
      const report = await killRuntime({ kills: KILLS / LANES, seed });
      expect(report.problems).toEqual([]);
      expect(report.kills).toBe(KILLS / LANES);
      // It was at work when it died.
      expect(report.accepted).toBeGreaterThan(KILLS / LANES);
      expect(report.resumed).toBeGreaterThan(KILLS / LANES / 4);
    },
  );
});

describe.concurrent("the harness catches a planted bug", () => {
  test.each(RUNTIME_BUGS)("$name", { timeout: 15 * MINUTES }, async ({ patches, symptom }) => {
    const found: string[] = [];
    for (let seed = 1; seed <= TRIES && !found.some((problem) => symptom.test(problem)); seed++) {
      const report = await killRuntime({ kills: KILLS_PER_TRY, seed, patches });
      found.push(...report.problems);
    }
    expect(found).toContainEqual(expect.stringMatching(symptom));
  });
});
