/** Changes of a text at places of it, so that every other byte stays. */
import { startOf } from "./outline.ts";

export type Splice =
  /** What stands between two offsets is replaced. */
  | { readonly from: number; readonly to: number; readonly text: string }
  /** Whole lines more, before the line that begins at the offset, with the line ends of their neighbour. */
  | { readonly from: number; readonly lines: readonly string[] };

/** The splices are in the order of the text, and do not overlap. */
export function spliced(text: string, splices: readonly Splice[]): string {
  let made = "";
  let at = 0;
  for (const splice of splices) {
    made += text.slice(at, splice.from);
    if ("text" in splice) {
      made += splice.text;
      at = splice.to;
      continue;
    }
    const lineEnd = lineEndNear(text, splice.from);
    // Of a file that is cut off within a line end, the rest is added.
    if (made.length > startOf(made) && !made.endsWith("\n")) made += made.endsWith("\r") ? "\n" : lineEnd;
    for (const line of splice.lines) made += line + lineEnd;
    at = splice.from;
  }
  return made + text.slice(at);
}

/** That of the line before, else of the one after. */
function lineEndNear(text: string, at: number): "\n" | "\r\n" {
  const before = at === 0 ? -1 : text.lastIndexOf("\n", at - 1);
  const newline = before === -1 ? text.indexOf("\n", at) : before;
  return newline > 0 && text[newline - 1] === "\r" ? "\r\n" : "\n";
}
