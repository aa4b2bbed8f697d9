/**
 * What a conversation shows, as rows. What is final is given away, to scroll out of sight some day; the line that is
 * being written is drawn again and again until it ends. Text in any pieces gives the same rows in the end.
 */
import { addMarkdown, MARKDOWN_START, type MarkdownState, renderRest } from "./markdown.ts";
import { type Line, type TextRow, wrapLine } from "./spans.ts";

export type Piece =
  /** Markdown, to be added to what was written before. */
  | { readonly kind: "words"; readonly text: string }
  /** The words before it are complete. */
  | { readonly kind: "end" }
  /** What others say. It stands above a line that is being written. */
  | { readonly kind: "lines"; readonly lines: readonly Line[] };

export type Transcript = MarkdownState;

export const EMPTY_TRANSCRIPT: Transcript = MARKDOWN_START;

interface Added {
  readonly transcript: Transcript;
  /** Those that are final. */
  readonly rows: readonly TextRow[];
}

export function addPiece(transcript: Transcript, piece: Piece, columns: number): Added {
  switch (piece.kind) {
    case "words": {
      const { state, rows } = addMarkdown(transcript, piece.text, columns);
      return { transcript: state, rows };
    }
    case "end":
      return { transcript: EMPTY_TRANSCRIPT, rows: unfinishedRows(transcript, columns) };
    case "lines":
      return { transcript, rows: piece.lines.flatMap((line) => wrapLine(line, columns)) };
  }
}

/** What is not final yet, as it would be if nothing more came. */
export function unfinishedRows(transcript: Transcript, columns: number): readonly TextRow[] {
  return renderRest(transcript, columns);
}
