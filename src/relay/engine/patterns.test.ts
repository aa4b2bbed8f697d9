import { expect, test } from "vitest";

import { matches, MAX_MATCHED_CHARACTERS } from "./transitions.ts";

test("a pattern matches anywhere in a text, and the empty one everywhere", async () => {
  expect(await matches(String.raw`\[DONE\]`, "so it is [DONE] now")).toBe(true);
  expect(await matches("^done", "not done")).toBe(false);
  expect(await matches("", "")).toBe(true);
});

test("patterns that explode elsewhere take time in proportion to the text", async () => {
  const text = `${"a".repeat(MAX_MATCHED_CHARACTERS - 1)}!`;
  const patterns = ["^(a+)+$", "^(a|aa)+$", "^(a|a)*$", "^(.*a){25}$", String.raw`^(\w+\s?)*$`];
  for (const pattern of patterns) expect(await matches(pattern, text)).toBe(false);
});

test("of a text that is too long the end is matched", async () => {
  const filler = " ".repeat(MAX_MATCHED_CHARACTERS - 3);
  expect(await matches("one", `one${filler}`)).toBe(true);
  expect(await matches("one", `one${filler} `)).toBe(false);
  expect(await matches("two", `one${filler}two`)).toBe(true);
});

test("a pattern that is not valid is an error that names it", async () => {
  await expect(matches("(", "")).rejects.toMatchObject({ code: "pattern_refused" });
  await expect(matches("(?=a)", "")).rejects.toThrow(/"\(\?=a\)"/);
});
