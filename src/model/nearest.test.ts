import { expect, test } from "vitest";
import { nearest, suggest } from "./nearest.ts";

test.each([
  ["rol", "role"],
  ["maxConcurentRuns", "maxConcurrentRuns"],
  ["rloe", "role"],
  ["ROLE", "role"],
  ["apiKey", "apiKeyEnv"],
  ["xyzzy", undefined],
  ["", undefined],
])("of %j, %j was meant", (word, meant) => {
  expect(nearest(word, ["persona", "role", "maxConcurrentRuns", "apiKeyEnv"])).toBe(meant);
});

test("where nothing is near, all that is known is listed, unless that is too much", () => {
  expect(suggest("xyzzy", ["fail", "resume"])).toBe("Use one of fail, resume.");
  const many = Array.from({ length: 31 }, (_, index) => `setting-${index}`);
  expect(suggest("xyzzy", many)).toBe("31 names are known.");
});

test("a word of any length is compared at once", () => {
  expect(nearest("x".repeat(1_000_000), ["role"])).toBeUndefined();
});
