import { expect, test } from "vitest";

import { simulate } from "./simulate.ts";

const SEEDS = 25;

test("the store keeps its promises over random calls and crashes", async () => {
  let kept = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    await simulate(seed); // a broken promise throws, with the steps that led there
    kept++;
  }
  expect(kept).toBe(SEEDS);
});
