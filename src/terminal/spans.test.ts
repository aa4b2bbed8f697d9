import * as fc from "fast-check";
import { expect, test } from "vitest";

import { paintRow, type TextRow, widthOfRow, wrapLine } from "./spans.ts";

function textOf(row: TextRow): string {
  return row.map(({ text }) => text).join("");
}

test("a row ends between two words, where there is a space", () => {
  const rows = (text: string): string[] => wrapLine({ spans: [{ text }] }, 9).map(textOf);
  expect(rows("hello big world")).toEqual(["hello big", "world"]);
  expect(rows("abcdefghijkl")).toEqual(["abcdefghi", "jkl"]);
  expect(rows("")).toEqual([""]);
});

test("what stands before a line stands before each of its rows, unless no room is left beside it", () => {
  const line = { first: [{ text: "1. " }], next: [{ text: "   " }], spans: [{ text: "one two three" }] };
  expect(wrapLine(line, 11).map(textOf)).toEqual(["1. one two", "   three"]);
  expect(wrapLine(line, 5).map(textOf)).toEqual(["one", "two", "three"]);
});

test("a colour that goes on in the next row is painted in both", () => {
  const rows = wrapLine({ spans: [{ text: "a " }, { text: "bold words", format: "bold" }] }, 8);
  const style = (format: unknown, words: string): string => `<${String(format)} ${words}>`;
  expect(rows.map((row) => paintRow(row, style))).toEqual(["a <bold bold>", "<bold words>"]);
});

test("no row is wider than it may be, and no character is lost", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme", maxLength: 60 }), { maxLength: 4 }),
      fc.integer({ min: 6, max: 30 }),
      (texts, columns) => {
        const spans = texts.map((text) => ({ text: text.replaceAll("\n", "") }));
        const rows = wrapLine({ first: [{ text: "› " }], next: [{ text: "  " }], spans }, columns);
        const widestCharacter = 8; // a grapheme may be wider than the terminal
        for (const row of rows)
          expect(widthOfRow(row)).toBeLessThanOrEqual(Math.max(columns, widestCharacter));
        const without = (text: string): string => text.replaceAll(/[ ›]/g, "");
        expect(without(rows.map(textOf).join(""))).toBe(without(textOf(spans)));
      },
    ),
  );
});
