import { expect, test } from "vitest";

import { stressTeam } from "./stress.ts";

test(
  "six writers beside an editor that ignores locks lose nothing, and what it writes can be found",
  { timeout: 300_000 },
  async () => {
    const { edits, foreignEdits, problems } = await stressTeam({ edits: 300, seed: 1 });
    expect(problems).toEqual([]);
    expect(edits).toBe(300);
    expect(foreignEdits).toBeGreaterThan(0);
  },
);
