import * as fc from "fast-check";
import { expect, test } from "vitest";

import { widthOfRow } from "./spans.ts";
import { addPiece, EMPTY_TRANSCRIPT, type Piece, unfinishedRows } from "./transcript.ts";

/** Pieces of which Markdown is made, so that all its forms come up. */
const source = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "# ",
        "- ",
        "1. ",
        "> ",
        "---\n",
        "```ts\n",
        "```\n",
        "| a | b |\n",
        "|---|---|\n",
        "\n",
      ),
      fc.constantFrom("**", "*", "`", "\\*", "[x](http://y) ", "a_b_c "),
      fc.constantFrom(
        "  - ",
        "    ",
        "> > ",
        "~~~\n",
        "a | b\n",
        "--|--\n",
        "- ```\n",
        "***\n",
        "- [x] ",
        "<http://a> ",
      ),
      fc.constantFrom("word ", "日本語 ", "🙂", "  ", "\t"),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(""));

const columns = fc.integer({ min: 12, max: 60 });

function play(pieces: readonly Piece[], columns: number): string[] {
  let transcript = EMPTY_TRANSCRIPT;
  const rows: string[] = [];
  for (const piece of pieces) {
    const added = addPiece(transcript, piece, columns);
    transcript = added.transcript;
    rows.push(...added.rows.map((row) => JSON.stringify(row)));
  }
  return rows;
}

test("a text gives the same rows, in whatever pieces it comes", () => {
  fc.assert(
    fc.property(source, fc.array(fc.nat(20)), columns, (text, lengths, columns) => {
      const pieces: Piece[] = [];
      let read = 0;
      for (const length of lengths) {
        pieces.push({ kind: "words", text: text.slice(read, read + length) });
        read += length;
      }
      pieces.push({ kind: "words", text: text.slice(read) }, { kind: "end" });
      expect(play(pieces, columns)).toEqual(play([{ kind: "words", text }, { kind: "end" }], columns));
    }),
  );
});

test("no row is wider than the terminal", () => {
  fc.assert(
    fc.property(source, columns, (text, columns) => {
      const { transcript, rows } = addPiece(EMPTY_TRANSCRIPT, { kind: "words", text }, columns);
      for (const row of [...rows, ...unfinishedRows(transcript, columns)])
        expect(widthOfRow(row)).toBeLessThanOrEqual(columns);
    }),
  );
});

test("what others say stands above the line that is being written, and does not break it", () => {
  const words = (text: string): Piece => ({ kind: "words", text });
  const note: Piece = { kind: "lines", lines: [{ spans: [{ text: "note" }] }] };
  const broken = play([words("```\nlet x"), note, words(" = 1;\n```"), { kind: "end" }], 40);
  const whole = play([words("```\n"), note, words("let x = 1;\n```"), { kind: "end" }], 40);
  expect(broken).toEqual(whole);
});
