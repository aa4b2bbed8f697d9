import * as fc from "fast-check";
import { expect, test } from "vitest";

import { layoutPrompt } from "./prompt-rows.ts";
import { widthOfRow } from "./spans.ts";

function layout(text: string, { at = text.length, columns = 10, maxRows = 5, prompt = "› " } = {}) {
  const { rows, cursor } = layoutPrompt({ prompt: [{ text: prompt }], text, at, columns, maxRows });
  return { rows: rows.map((row) => row.map(({ text }) => text).join("")), cursor };
}

test("a line that is too long goes on below, and the cursor with it", () => {
  expect(layout("")).toEqual({ rows: ["› "], cursor: { row: 0, column: 2 } });
  expect(layout("abcdefgh")).toEqual({ rows: ["› abcdefgh", "  "], cursor: { row: 1, column: 2 } });
  expect(layout("abcdefghij")).toEqual({ rows: ["› abcdefgh", "  ij"], cursor: { row: 1, column: 4 } });
  expect(layout("日本語日本", { at: 4 })).toEqual({
    rows: ["› 日本語日", "  本"],
    cursor: { row: 1, column: 2 },
  });
});

test("lines stand below each other", () => {
  expect(layout("a\nb\n")).toEqual({ rows: ["› a", "  b", "  "], cursor: { row: 2, column: 2 } });
  expect(layout("a\nb", { at: 1 })).toMatchObject({ cursor: { row: 0, column: 3 } });
  expect(layout("a\nb", { prompt: "followup › " }).rows).toEqual(["followup › ", "    a", "    b"]);
});

test("of more lines than fit, those around the cursor are shown", () => {
  const text = ["1", "2", "3", "4", "5", "6"].join("\n");
  expect(layout(text, { maxRows: 3 })).toEqual({
    rows: ["  4", "  5", "  6"],
    cursor: { row: 2, column: 3 },
  });
  expect(layout(text, { maxRows: 3, at: 0 })).toMatchObject({
    rows: ["› 1", "  2", "  3"],
    cursor: { row: 0 },
  });
  expect(layout(text, { maxRows: 3, at: 6 })).toMatchObject({
    rows: ["  3", "  4", "  5"],
    cursor: { row: 1 },
  });
});

test("whatever is typed, no row is too wide and the cursor is in one of them", () => {
  const text = fc.string({ unit: fc.constantFrom("a", " ", "\n", "日", "🙂", "e\u0301"), maxLength: 60 });
  fc.assert(
    fc.property(text, fc.nat(60), fc.integer({ min: 8, max: 30 }), (text, place, columns) => {
      const at = Math.min(place, text.length);
      const { rows, cursor } = layoutPrompt({ prompt: [{ text: "› " }], text, at, columns, maxRows: 4 });
      for (const row of rows) expect(widthOfRow(row)).toBeLessThanOrEqual(columns);
      expect(rows.length).toBeLessThanOrEqual(4);
      expect(cursor.row).toBeLessThan(rows.length);
      expect(cursor.column).toBeLessThanOrEqual(columns);
    }),
  );
});
