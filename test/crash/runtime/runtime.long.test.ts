import { describe, expect, test } from "vitest";

import { killRuntime } from "./harness.ts";
import { RUNTIME_BUGS } from "./seeded-bugs.ts";

const KILLS = 100;
const LANES = 2;
const MINUTES = 60_000;
/** Homes in which a planted bug may stay unseen, and the kills in each. */
const TRIES = 15;
const KILLS_PER_TRY = 6;

describe.concurrent("a Cortex that is killed again and again", () => {
  test.each(Array.from({ length: LANES }, (_, lane) => lane + 1))(
    "brings every message that it accepted to one end, makes no call twice, loses no answer, judges every event once and tells of work once, lane %i",
    { timeout: 15 * MINUTES },
    async (seed) => {
      const report = await killRuntime({ kills: KILLS / LANES, seed });
      expect(report.problems).toEqual([]);
      expect(report.kills).toBe(KILLS / LANES);
      // It was at work when it died.
      expect(report.accepted).toBeGreaterThan(KILLS / LANES);
      expect(report.resumed).toBeGreaterThan(KILLS / LANES / 4);
      expect(report.aborted).toBeGreaterThan(0);
      expect(report.compactions).toBeGreaterThan(0);
      expect(report.deliveries).toBeGreaterThan(KILLS / LANES / 4);
      expect(report.firings).toBeGreaterThan(KILLS / LANES / 4);
      expect(report.delegations).toBeGreaterThan(KILLS / LANES / 4);
      expect(report.subAgents).toBeGreaterThan(0);
      expect(report.killedChildren).toBeGreaterThan(0);
    },
  );
});

describe.concurrent("the harness catches a planted bug", () => {
  test.each(RUNTIME_BUGS)("$name", { timeout: 15 * MINUTES }, async (bug) => {
    const { problems } = await killRuntime({
      kills: TRIES * KILLS_PER_TRY,
      killsPerHome: KILLS_PER_TRY,
      seed: 1,
      bug,
      ...(bug.managing === undefined ? {} : { managing: bug.managing }),
      ...(bug.interrupting === undefined ? {} : { interrupting: bug.interrupting }),
    });
    expect(problems).toContainEqual(expect.stringMatching(bug.symptom));
  });
});
