import { expect, test } from "vitest";

import { DAY_MS } from "./durations.ts";
import { ALL_FOUND, relevance, spaced, weigh } from "./relevance.ts";
import { readQuery, words } from "./words.ts";

function score(
  text: string,
  asked: string,
  { ageMs = 0, weights }: { ageMs?: number; weights?: number[] } = {},
) {
  const query = readQuery(asked);
  return relevance(spaced(words(text)), { query, weights: weights ?? query.terms.map(() => 1) }, ageMs);
}

test("a text with all of the query is above every text with a part of it", () => {
  const long = `red ${"and so on ".repeat(1_000)} door`;
  expect(score(long, "red door", { ageMs: 9_999 * DAY_MS })).toBeGreaterThan(ALL_FOUND);
  expect(score("red red red", "red door")).toBeLessThan(ALL_FOUND);
  expect(score("reddish doors", "red door")).toBeLessThan(ALL_FOUND);
  expect(score("blue", "red door")).toBe(0);
  expect(score("", "red door")).toBe(0);
});

test("a row of words is all there only as a row", () => {
  expect(score("write to ada@example.com", "ada@example.com")).toBeGreaterThan(ALL_FOUND);
  expect(score("ada has an example of com", "ada@example.com")).toBeLessThan(ALL_FOUND);
});

test("more of a word is better, a longer text is worse, a longer word is half as good", () => {
  expect(score("red red", "red")).toBeGreaterThan(score("red paint", "red"));
  expect(score("red paint", "red")).toBeGreaterThan(score(`red ${"paint ".repeat(50)}`, "red"));
  expect(score("door", "red door")).toBeGreaterThan(score("doors", "red door"));
  expect(score("doors", "red door")).toBeGreaterThan(0);
});

test("rare words weigh more than common ones, and age a little", () => {
  const weights = weigh(1_000, [900, 3]);
  expect(score("haunted", "the haunted", { weights })).toBeGreaterThan(
    score("the the the", "the haunted", { weights }),
  );
  const fresh = score("red", "red");
  const old = score("red", "red", { ageMs: 365 * DAY_MS });
  expect(old).toBeLessThan(fresh);
  expect(old).toBeGreaterThan(fresh * 0.9);
  expect(weigh(0, [0, 5]).every((weight) => weight > 0)).toBe(true);
});
