import * as fc from "fast-check";
import { expect, test } from "vitest";

import { addSpent, isNothing, NOTHING_SPENT, restOf, spentOf } from "./spent.ts";

const tokens = fc.nat(1_000_000);
const priced = fc.record({
  usage: fc.record({
    input: tokens,
    output: tokens,
    cacheRead: tokens,
    cacheWrite: tokens,
    reasoning: tokens,
  }),
  costUsd: fc.option(fc.double({ min: 0, max: 100, noNaN: true })),
});

test("nothing is left of what stands in messages, and nothing is counted twice", () => {
  fc.assert(
    fc.property(fc.array(priced), (messages) => {
      const all = messages.reduce(addSpent, NOTHING_SPENT);
      expect(isNothing(restOf(spentOf(all), all))).toBe(true);
    }),
  );
});

test("what a program has cost beyond its messages is the rest", () => {
  const known = { usage: { input: 5, output: 2, cacheRead: 3, cacheWrite: 2, reasoning: 1 }, costUsd: 0.25 };
  expect(restOf({ tokensIn: 110, tokensOut: 52, costUsd: 1 }, known)).toEqual({
    usage: { input: 100, output: 50, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
    costUsd: 0.75,
  });
});

test("a price that nobody knows stays unknown", () => {
  expect(restOf({ tokensIn: 1 }, NOTHING_SPENT).costUsd).toBeNull();
  expect(restOf({ tokensIn: 1, costUsd: null }, NOTHING_SPENT).costUsd).toBeNull();
  expect(addSpent(NOTHING_SPENT, { ...NOTHING_SPENT, costUsd: null }).costUsd).toBeNull();
});

test("a program that says less than its messages takes nothing back", () => {
  const known = { usage: { ...NOTHING_SPENT.usage, input: 10, output: 10 }, costUsd: 1 };
  expect(isNothing(restOf({ tokensIn: 1, tokensOut: 1, costUsd: 0.5 }, known))).toBe(true);
});
