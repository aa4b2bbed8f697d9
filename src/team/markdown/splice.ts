/** Changes to parts of a text; every other byte stays. */
import { startOf } from "./outline.ts";

export type Splice =
  /** Replaces the text between two offsets. */
  | { readonly from: number; readonly to: number; readonly text: string }
  /** Inserts lines before the line at the offset, with the line ends of their neighbor. */
  | { readonly from: number; readonly lines: readonly string[] };

/** The splices must be in text order and must not overlap. */
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
    // If the text ends within a line end, complete it.
    if (made.length > startOf(made) && !made.endsWith("\n")) made += made.endsWith("\r") ? "\n" : lineEnd;
    for (const line of splice.lines) made += line + lineEnd;
    at = splice.from;
  }
  return made + text.slice(at);
}

/** The line end of the previous line, else of the next. */
function lineEndNear(text: string, at: number): "\n" | "\r\n" {
  const before = at === 0 ? -1 : text.lastIndexOf("\n", at - 1);
  const newline = before === -1 ? text.indexOf("\n", at) : before;
  return newline > 0 && text[newline - 1] === "\r" ? "\r\n" : "\n";
}
