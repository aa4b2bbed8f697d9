/** Two texts in two columns. */
import { graphemes, widthOf } from "../model/text-width.ts";

const BETWEEN = " │ ";
/** Minimum column width: a narrower terminal wraps the lines itself. */
export const MIN_COLUMN = 20;

export function sideBySide(left: readonly string[], right: readonly string[], columns: number): string[] {
  const width = Math.max(MIN_COLUMN, Math.floor((columns - BETWEEN.length) / 2));
  const here = left.flatMap((line) => breakLine(line, width));
  const there = right.flatMap((line) => breakLine(line, width));
  return Array.from({ length: Math.max(here.length, there.length) }, (_, at) => {
    const cell = here[at] ?? "";
    return `${cell}${" ".repeat(Math.max(0, width - widthOf(cell)))}${BETWEEN}${there[at] ?? ""}`.trimEnd();
  });
}

/** Breaks a line between words; a word only if it is too long. */
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
