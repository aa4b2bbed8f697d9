/** Two texts in two columns. */
import { graphemes, widthOf } from "./text-width.ts";

const BETWEEN = " │ ";
/** A column is never narrower: on a smaller terminal, the terminal breaks the lines. */
export const MIN_COLUMN = 20;

export function sideBySide(left: readonly string[], right: readonly string[], columns: number): string[] {
  const width = Math.max(MIN_COLUMN, Math.floor((columns - BETWEEN.length) / 2));
  const [here, there] = [left, right].map((lines) => lines.flatMap((line) => breakLine(line, width)));
  return Array.from({ length: Math.max(here!.length, there!.length) }, (_, at) => {
    const cell = here![at] ?? "";
    return `${cell}${" ".repeat(Math.max(0, width - widthOf(cell)))}${BETWEEN}${there![at] ?? ""}`.trimEnd();
  });
}

/** Where a word ends if it can be, else anywhere. */
function breakLine(line: string, width: number): string[] {
  const rows: string[] = [];
  let row = "";
  for (const word of line.replaceAll("\t", "    ").split(/(?<= )/)) {
    if (widthOf(row + word.trimEnd()) <= width) {
      row += word;
      continue;
    }
    if (row.trim() !== "") {
      rows.push(row.trimEnd());
      row = "";
    }
    for (const character of graphemes(word)) {
      if (widthOf(row + character) > width) {
        rows.push(row);
        row = "";
      }
      row += character;
    }
  }
  rows.push(row.trimEnd());
  return rows;
}
