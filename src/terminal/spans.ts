/** Text with colours that is broken into rows first and painted afterwards, so that no colour counts as a column. */
import type { Style } from "./print.ts";
import { graphemes, widthOf } from "./text-width.ts";

export type Format = Parameters<Style>[0];

export interface Span {
  readonly text: string;
  readonly format?: Format | undefined;
}

/** What fits into one row of a terminal. */
export type TextRow = readonly Span[];

/** A line of any length, with what stands before its first row and before all others. */
export interface Line {
  readonly first?: TextRow;
  readonly next?: TextRow;
  readonly spans: TextRow;
}

/** Where no more room would be left than this, what stands before a row is left out. */
const MIN_ROOM = 8;

/** Breaks a line between its words, and a word only where it is longer than a row. */
export function wrapLine({ first = [], next = [], spans }: Line, columns: number): TextRow[] {
  const cells = spans.flatMap(({ text, format }) =>
    graphemes(text).map((text) => ({ text, width: widthOf(text), format })),
  );
  const rows: TextRow[] = [];
  for (let start = 0; start < cells.length || rows.length === 0;) {
    const wanted = rows.length === 0 ? first : next;
    const before = widthOfRow(wanted) + MIN_ROOM > columns ? [] : wanted;
    const { end, resume } = breakAt(cells, start, columns - widthOfRow(before));
    rows.push([...before, ...joined(cells.slice(start, end))]);
    start = resume;
  }
  return rows;
}

export function widthOfRow(row: TextRow): number {
  return row.reduce((width, { text }) => width + widthOf(text), 0);
}

export function paintRow(row: TextRow, style: Style): string {
  return row.map(({ text, format }) => (format === undefined ? text : style(format, text))).join("");
}

interface Cell extends Span {
  readonly width: number;
}

function breakAt(cells: readonly Cell[], start: number, room: number): { end: number; resume: number } {
  let space = -1;
  let used = 0;
  let end = start;
  for (; end < cells.length; end++) {
    const { text, width } = cells[end]!;
    used += width;
    if (text === " ") space = end; // one that does not fit is where the row ends
    if (used > room) break;
  }
  if (end === cells.length) return { end, resume: end };
  if (space > start) return { end: space, resume: space + 1 };
  const cut = Math.max(end, start + 1); // a row that is too narrow for a character has it all the same
  return { end: cut, resume: cut };
}

function joined(cells: readonly Cell[]): Span[] {
  const spans: { text: string; format: Format | undefined }[] = [];
  for (const { text, format } of cells) {
    const last = spans.at(-1);
    if (last !== undefined && last.format === format) last.text += text;
    else spans.push({ text, format });
  }
  return spans;
}
