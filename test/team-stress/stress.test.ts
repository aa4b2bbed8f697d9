import { expect, test } from "vitest";

import { stressUndisturbed } from "./stress.ts";

const EDITS = 120;

test(
  "six writers beside an editor that ignores locks lose nothing, and what it writes can be found",
  { timeout: 300_000 },
  async () => {
    const { edits, foreignEdits, problems } = await stressUndisturbed({ edits: EDITS, seed: 1 });
    expect(problems).toEqual([]);
    expect(edits).toBe(EDITS);
    expect(foreignEdits).toBeGreaterThan(0);
  },
);
