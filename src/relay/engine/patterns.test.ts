import { expect, test } from "vitest";

import { matchesPattern, MAX_EXAMINED_CHARACTERS } from "./transitions.ts";

test("a pattern matchesPattern anywhere in a text, and the empty one everywhere", async () => {
  expect(await matchesPattern(String.raw`\[DONE\]`, "so it is [DONE] now")).toBe(true);
  expect(await matchesPattern("^done", "not done")).toBe(false);
  expect(await matchesPattern("", "")).toBe(true);
});

test("patterns that explode elsewhere take time in proportion to the text", async () => {
  const text = `${"a".repeat(MAX_EXAMINED_CHARACTERS - 1)}!`;
  const patterns = ["^(a+)+$", "^(a|aa)+$", "^(a|a)*$", "^(.*a){25}$", String.raw`^(\w+\s?)*$`];
  for (const pattern of patterns) expect(await matchesPattern(pattern, text)).toBe(false);
});

test("of a text that is too long the end is matched", async () => {
  const filler = " ".repeat(MAX_EXAMINED_CHARACTERS - 3);
  expect(await matchesPattern("one", `one${filler}`)).toBe(true);
  expect(await matchesPattern("one", `one${filler} `)).toBe(false);
  expect(await matchesPattern("two", `one${filler}two`)).toBe(true);
});

test("a pattern that is not valid is an error that names it", async () => {
  await expect(matchesPattern("(", "")).rejects.toMatchObject({ code: "pattern_refused" });
  await expect(matchesPattern("(?=a)", "")).rejects.toThrow(/"\(\?=a\)"/);
});
