import { expect, test } from "vitest";

import { loadPatterns, MAX_COMPILED_PATTERNS, MAX_MATCHED_CHARACTERS } from "./patterns.ts";

const matches = await loadPatterns();

test("a pattern matches anywhere in a text, and the empty one everywhere", () => {
  expect(matches(String.raw`\[DONE\]`, "so it is [DONE] now")).toBe(true);
  expect(matches("^done", "not done")).toBe(false);
  expect(matches("", "")).toBe(true);
});

test("patterns that explode elsewhere take time in proportion to the text", () => {
  const text = `${"a".repeat(MAX_MATCHED_CHARACTERS - 1)}!`;
  const patterns = ["^(a+)+$", "^(a|aa)+$", "^(a|a)*$", "^(.*a){25}$", String.raw`^(\w+\s?)*$`];
  expect(patterns.filter((pattern) => matches(pattern, text))).toEqual([]);
});

test("of a text that is too long the end is matched", () => {
  const filler = " ".repeat(MAX_MATCHED_CHARACTERS - 3);
  expect(matches("one", `one${filler}`)).toBe(true);
  expect(matches("one", `one${filler} `)).toBe(false);
  expect(matches("two", `one${filler}two`)).toBe(true);
});

test("a pattern that is not valid is an error that names it", () => {
  expect(() => matches("(", "")).toThrow(expect.objectContaining({ code: "config_invalid" }));
  expect(() => matches("(?=a)", "")).toThrow(/"\(\?=a\)"/);
});

test("more patterns than are kept still match", () => {
  for (let count = 0; count <= MAX_COMPILED_PATTERNS; count += 1)
    expect(matches(`^${count}$`, String(count))).toBe(true);
  expect(matches("^0$", "0")).toBe(true);
});
