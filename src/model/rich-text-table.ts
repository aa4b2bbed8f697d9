import type { RichText } from "./rich-text.ts";
import { RichTextBuilder } from "./rich-text-builder.ts";
import { isAddress } from "./rich-text.ts";
import { widthOf } from "./text-width.ts";

export type Alignment = "left" | "center" | "right";

/** A phone shows about as many columns of code. */
const MAX_TABLE_WIDTH = 48;
const SEPARATOR = " │ ";
/** A layout that is so many times longer than the cells is not used: short rows could otherwise become megabytes. */
const MAX_EXPANSION = 16;

/** Aligned where that is narrow enough and hides no address, else a line for each cell. All rows have the same length. */
export function layoutRichTable(
  [head = [], ...body]: readonly (readonly RichText[])[],
  alignments: readonly Alignment[],
): RichText {
  const out = new RichTextBuilder();
  const rows = [head, ...body];
  const room = MAX_EXPANSION * lengthOf(rows.flat());
  const widths = head.map((_, at) => rows.reduce((width, row) => Math.max(width, widthOf(row[at]!.text)), 1));
  const width = widths.reduce((sum, each) => sum + each + SEPARATOR.length, -SEPARATOR.length);
  if (width <= MAX_TABLE_WIDTH && width * rows.length <= room && !rows.flat().some(hidesAddress)) {
    const pre = out.open({ kind: "pre", language: "" });
    const lines = rows.map((row) => row.map(({ text }, at) => pad(text, widths[at]!, alignments[at]!)));
    const ruler = widths.map((width) => "─".repeat(width)).join("─┼─");
    const [first = "", ...others] = lines.map((cells) => cells.join(SEPARATOR).trimEnd());
    out.add([first, ruler, ...others].join("\n"));
    out.close(pre);
  } else if (body.length > 0 && lengthOf(head) * body.length <= room) writeList(head, body, out);
  else writeRows(rows, out);
  return out.finish();
}

function hidesAddress({ text, ranges }: RichText): boolean {
  return ranges.some(
    (range) => range.kind === "link" && !isAddress(text.slice(range.from, range.to), range.url),
  );
}

function pad(text: string, width: number, alignment: Alignment): string {
  const missing = width - widthOf(text);
  const before = alignment === "left" ? 0 : alignment === "right" ? missing : Math.floor(missing / 2);
  return " ".repeat(before) + text + " ".repeat(missing - before);
}

/** `column: value`, with an empty line between rows. */
function writeList(
  head: readonly RichText[],
  body: readonly (readonly RichText[])[],
  out: RichTextBuilder,
): void {
  for (const row of body) {
    let separator = out.isEmpty ? "" : "\n\n";
    for (const [at, cell] of row.entries()) {
      if (cell.text === "") continue;
      out.add(separator);
      separator = "\n";
      const bold = out.open({ kind: "bold" });
      out.append(head[at]!);
      out.close(bold);
      out.add(head[at]!.text === "" ? "" : ": ");
      out.append(cell);
    }
  }
}

function writeRows(rows: readonly (readonly RichText[])[], out: RichTextBuilder): void {
  for (const row of rows) {
    if (!out.isEmpty) out.add("\n");
    for (const [at, cell] of row.entries()) {
      if (at > 0) out.add(SEPARATOR);
      out.append(cell);
    }
  }
}

/** Each cell counts one more: its source had a separator. */
function lengthOf(cells: readonly RichText[]): number {
  return cells.reduce((sum, { text }) => sum + text.length + 1, 0);
}
