/** Styled text, wrapped into rows before it is painted, so that styles do not count as columns. */
import type { Style } from "./print.ts";
import { graphemes, widthOf } from "../model/text-width.ts";

export type Format = Parameters<Style>[0];

export interface Span {
  readonly text: string;
  readonly format?: Format | undefined;
}

/** One row of a terminal. */
export type TextRow = readonly Span[];

/** A line of any length, with the prefixes of its first row and of the others. */
export interface Line {
  readonly first?: TextRow;
  readonly next?: TextRow;
  readonly spans: TextRow;
}

/** A prefix that would leave less room than this is omitted. */
const MIN_ROOM = 8;

/** Wraps a line between words; a word only if it is longer than a row. */
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
  for (let cell = cells[end]; cell !== undefined; cell = cells[++end]) {
    used += cell.width;
    if (cell.text === " ") space = end; // even one that does not fit can end the row
    if (used > room) break;
  }
  if (end === cells.length) return { end, resume: end };
  if (space > start) return { end: space, resume: space + 1 };
  const cut = Math.max(end, start + 1); // at least one character per row, even if it does not fit
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
