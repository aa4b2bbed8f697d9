/**
 * What a conversation shows, as rows. What is final is given away, to scroll out of sight some day; the line that is
 * being written is drawn again and again until it ends. Text in any pieces gives the same rows in the end.
 */
import { MARKDOWN_START, type MarkdownState, renderEnd, renderLine } from "./markdown.ts";
import { type Line, type Row, wrapLine } from "./spans.ts";

export type Piece =
  /** Markdown, to be added to what was written before. */
  | { readonly kind: "words"; readonly text: string }
  /** The words before it are complete. */
  | { readonly kind: "end" }
  /** What others say. It stands above a line that is being written. */
  | { readonly kind: "lines"; readonly lines: readonly Line[] };

export interface Transcript {
  readonly markdown: MarkdownState;
  /** The line that is being written. */
  readonly rest: string;
}

export const EMPTY_TRANSCRIPT: Transcript = { markdown: MARKDOWN_START, rest: "" };

export interface Added {
  readonly transcript: Transcript;
  /** Those that are final. */
  readonly rows: readonly Row[];
}

export function addPiece(transcript: Transcript, piece: Piece, columns: number): Added {
  switch (piece.kind) {
    case "words":
      return addWords(transcript, piece.text, columns);
    case "end":
      return { transcript: EMPTY_TRANSCRIPT, rows: unfinishedRows(transcript, columns) };
    case "lines":
      return { transcript, rows: piece.lines.flatMap((line) => wrapLine(line, columns)) };
  }
}

/** What is not final yet, as it would be if nothing more came. */
export function unfinishedRows({ markdown, rest }: Transcript, columns: number): readonly Row[] {
  const { state, rows } = rest === "" ? { state: markdown, rows: [] } : renderLine(markdown, rest, columns);
  return [...rows, ...renderEnd(state, columns)];
}

function addWords(transcript: Transcript, text: string, columns: number): Added {
  if (text === "") return { transcript, rows: [] };
  const lines = (transcript.rest + text).split("\n");
  const rest = lines.pop()!;
  let { markdown } = transcript;
  const rows: Row[] = [];
  for (const line of lines) {
    const rendered = renderLine(markdown, line, columns);
    markdown = rendered.state;
    rows.push(...rendered.rows);
  }
  return { transcript: { markdown, rest }, rows };
}
