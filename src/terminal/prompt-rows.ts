/** Lays out the input text as rows with a cursor. */
import type { TextRow } from "./spans.ts";
import { widthOfRow } from "./spans.ts";
import { graphemes, widthOf } from "../model/text-width.ts";

export interface Cursor {
  readonly row: number;
  readonly column: number;
}

interface PromptRows {
  readonly rows: readonly TextRow[];
  readonly cursor: Cursor;
}

/** Further rows are indented like the first one's text, at most this far. */
const MAX_INDENT = 4;

/** If there are too many rows, shows those around the cursor. */
export function layoutPrompt(given: {
  readonly prompt: TextRow;
  readonly text: string;
  readonly at: number;
  readonly columns: number;
  readonly maxRows: number;
}): PromptRows {
  const { prompt, text, at, columns, maxRows } = given;
  const indent = " ".repeat(Math.min(widthOfRow(prompt), MAX_INDENT));
  const rows: string[] = [""];
  let cursor: Cursor | undefined;
  let used = widthOfRow(prompt);
  let read = 0;
  const nextRow = (): void => {
    rows.push("");
    used = indent.length;
  };
  for (const grapheme of graphemes(text)) {
    const width = grapheme === "\n" ? 0 : widthOf(grapheme);
    if (used + width > columns && used > indent.length) nextRow();
    if (read >= at) cursor ??= { row: rows.length - 1, column: used };
    if (grapheme === "\n") nextRow();
    else {
      rows[rows.length - 1] += grapheme;
      used += width;
    }
    read += grapheme.length;
  }
  if (used >= columns && cursor === undefined) nextRow();
  cursor ??= { row: rows.length - 1, column: used };
  const painted = rows.map((row, at) => (at === 0 ? [...prompt, { text: row }] : [{ text: indent + row }]));
  const top = Math.max(0, Math.min(cursor.row - Math.floor(maxRows / 2), rows.length - maxRows));
  return {
    rows: painted.slice(top, top + maxRows),
    cursor: { row: cursor.row - top, column: cursor.column },
  };
}
