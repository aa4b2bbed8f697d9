import * as fc from "fast-check";
import { expect, test } from "vitest";

import { excerpt } from "./excerpt.ts";
import { readQuery } from "./words.ts";

function cut(text: string, asked: string, length: number, weights?: number[]): string {
  const query = readQuery(asked);
  return excerpt(text, { query, weights: weights ?? query.terms.map(() => 1) }, length);
}

test("a short text is shown as it is", () => {
  expect(cut("The Key\n is here", "key", 100)).toBe("The Key\n is here");
});

test("of a long text, the place is shown where the most telling word stands", () => {
  const text = `${"the sea ".repeat(50)}a KEY lay there ${"and sand ".repeat(50)}`;
  expect(cut(text, "key", 40)).toMatch(/^….*KEY lay.*…$/s);
  expect(cut(text, "the keys key", 40, [0.1, 5, 4])).toContain("KEY");
  expect(cut(text, "the", 20)).toMatch(/^the sea .*[^…]…$/);
  expect(cut(text, "absent", 20)).toMatch(/^the sea /);
  expect(cut(`${"海".repeat(200)}東京タワー`, "東京", 20)).toMatch(/^….*東京タワー$/);
});

test("an excerpt is never longer than wanted, and holds no half characters", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme" }),
      fc.string(),
      fc.integer({ min: 3, max: 50 }),
      (text, asked, length) => {
        const shown = cut(text.toWellFormed(), asked, length);
        expect(shown.length).toBeLessThanOrEqual(length);
        expect(shown.isWellFormed()).toBe(true);
      },
    ),
  );
});
