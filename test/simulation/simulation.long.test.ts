import { expect, test } from "vitest";

import { simulate } from "./simulate.ts";

const SEEDS = 1_000;
const GROUPS = 10;

test.each(Array.from({ length: GROUPS }, (_, group) => group * (SEEDS / GROUPS) + 1))(
  "the store keeps its promises over random calls and crashes, seeds from %i",
  { timeout: 300_000 },
  async (first) => {
    let kept = 0;
    for (let seed = first; seed < first + SEEDS / GROUPS; seed++) {
      await simulate(seed); // a broken promise throws, with the steps that led there
      kept++;
    }
    expect(kept).toBe(SEEDS / GROUPS);
  },
);
