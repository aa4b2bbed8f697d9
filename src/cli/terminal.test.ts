import * as fc from "fast-check";
import { expect, test } from "vitest";

import { breakRows } from "./terminal.ts";

test("complete lines are given away whole, and the rest fits in one row", () => {
  expect(breakRows("a line that is longer than the terminal\nrest", 10)).toEqual({
    rows: "a line that is longer than the terminal\n",
    rest: "rest",
  });
});

test("a row ends between two words, where there is a space", () => {
  expect(breakRows("hello big world", 10)).toEqual({ rows: "hello big\n", rest: "world" });
  expect(breakRows("abcdefghijkl", 10)).toEqual({ rows: "abcdefghi\n", rest: "jkl" });
});

test("no row is as wide as the terminal, and no character is lost", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 200 }),
      fc.integer({ min: 4, max: 20 }),
      (text, columns) => {
        const line = text.replaceAll("\n", "");
        const { rows, rest } = breakRows(line, columns);
        for (const row of [...rows.split("\n"), rest]) expect(Array.from(row).length).toBeLessThan(columns);
        expect((rows + rest).replaceAll(/[\n ]/g, "")).toBe(line.replaceAll(" ", ""));
      },
    ),
  );
});
