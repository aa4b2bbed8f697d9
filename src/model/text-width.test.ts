import * as fc from "fast-check";
import { expect, test } from "vitest";

import { cutToWidth, graphemes, widthOf } from "./text-width.ts";

test.each([
  ["", 0],
  ["plain", 5],
  ["日本語", 6],
  ["한글", 4],
  ["ｆｕｌｌ", 8],
  ["e\u0301", 1],
  ["a\u200bb", 2],
  ["🙂", 2],
  ["✓ › ⠋", 5],
  ["☰〈𗀀", 6],
  ["🇩🇪", 2],
])("%j takes %i columns", (text, width) => {
  expect(widthOf(text)).toBe(width);
});

test("where terminals disagree, the larger number counts", () => {
  expect(widthOf("❤\uFE0F")).toBe(2);
  expect(widthOf("👩‍💻")).toBe(4);
});

test("a character is what a reader takes for one", () => {
  expect(graphemes("ae\u0301👩‍💻")).toEqual(["a", "e\u0301", "👩‍💻"]);
});

test("a text that is cut fits, and says that there was more", () => {
  expect(cutToWidth("日本語", 6)).toBe("日本語");
  expect(cutToWidth("日本語", 5)).toBe("日本…");
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 20 }), (text, columns) => {
      expect(widthOf(cutToWidth(text, columns))).toBeLessThanOrEqual(columns);
    }),
  );
});
