import * as fc from "fast-check";
import { expect, test } from "vitest";

import { MIN_COLUMN, sideBySide } from "./side-by-side.ts";
import { widthOf } from "../model/text-width.ts";

test("lines are broken between words, or within one that is too long", () => {
  const left = ["the quick brown fox jumps", "", "x".repeat(25)];
  expect(sideBySide(left, ["a dog"], 2 * MIN_COLUMN + 3)).toEqual([
    "the quick brown fox  │ a dog",
    "jumps                │",
    "                     │",
    `${"x".repeat(20)} │`,
    "xxxxx                │",
  ]);
});

test("the line between the columns is straight, whatever is written", () => {
  const line = fc.string({
    unit: fc.constantFrom("a", " ", "語", "é", "👍", "\t", "e\u0301"),
    maxLength: 60,
  });
  fc.assert(
    fc.property(fc.array(line), fc.array(line), fc.integer({ min: 0, max: 120 }), (left, right, columns) => {
      const width = Math.max(MIN_COLUMN, Math.floor((columns - 3) / 2));
      for (const row of sideBySide(left, right, columns)) {
        expect(widthOf(row.slice(0, row.indexOf("│")))).toBe(width + 1);
        expect(widthOf(row)).toBeLessThanOrEqual(2 * width + 3);
      }
    }),
  );
});

test("every word is there, in its order", () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,30}$/), { maxLength: 30 });
  fc.assert(
    fc.property(words, (said) => {
      const rows = sideBySide([said.join(" ")], [], 60);
      const read = rows.map((row) => row.slice(0, row.indexOf("│"))).join("");
      expect(read.replaceAll(" ", "")).toBe(said.join(""));
    }),
  );
});
