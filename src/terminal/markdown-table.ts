/** Markdown tables. Columns fit their content; if the table is too wide, the widest columns shrink. */
import { type TextRow, widthOfRow, wrapLine } from "./spans.ts";

const SEPARATOR = " │ ";
/** A table with narrower columns is shown as a list. */
const MIN_COLUMN_WIDTH = 6;

/** The first row is the head; all rows have the same length. */
export function layoutTable(
  [head = [], ...body]: readonly (readonly TextRow[])[],
  columns: number,
): TextRow[] {
  const widths = fitWidths(
    head.map((_, at) => Math.max(...[head, ...body].map((row) => widthOfRow(row[at] ?? [])), 1)),
    columns - SEPARATOR.length * (head.length - 1),
  );
  if (widths === undefined) return body.flatMap((row) => layoutList(head, row, columns));
  const ruler = widths.map((width) => "─".repeat(width)).join("─┼─");
  return [
    ...layoutCells(head, widths),
    [{ text: ruler, format: "dim" }],
    ...body.flatMap((row) => layoutCells(row, widths)),
  ];
}

/** Undefined: does not fit at any width. */
function fitWidths(wanted: readonly number[], room: number): number[] | undefined {
  const widths = [...wanted];
  if (sum(widths.map((width) => Math.min(width, MIN_COLUMN_WIDTH))) > room) return undefined;
  for (let excess = sum(widths) - room; excess > 0; excess--) {
    const widest = Math.max(...widths);
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function layoutCells(cells: readonly TextRow[], widths: readonly number[]): TextRow[] {
  const wrapped = cells.map((spans, at) => wrapLine({ spans }, widths[at] ?? 0));
  const height = Math.max(...wrapped.map(({ length }) => length));
  return Array.from({ length: height }, (_, place) =>
    wrapped.flatMap((rows, at) => {
      const row = rows[place] ?? [];
      if (at === wrapped.length - 1) return row;
      const padding = " ".repeat(Math.max((widths[at] ?? 0) - widthOfRow(row), 0));
      return row.concat({ text: padding }, { text: SEPARATOR, format: "dim" });
    }),
  );
}

function layoutList(head: readonly TextRow[], row: readonly TextRow[], columns: number): TextRow[] {
  const lines = row.map((cell, at) => ({
    spans: [...(head[at] ?? []), { text: ": ", format: "bold" as const }, ...cell],
    next: [{ text: "  " }],
  }));
  return [...lines.flatMap((line) => wrapLine(line, columns)), []];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
