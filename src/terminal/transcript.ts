/**
 * The transcript of a conversation as rows. Final rows are handed out once; the unfinished text is redrawn until it ends.
 * How the text is split into pieces does not matter.
 */
import { addMarkdown, MARKDOWN_START, type MarkdownState, renderRest } from "./markdown.ts";
import { type Line, type TextRow, wrapLine } from "./spans.ts";

export type Piece =
  /** Markdown to append. */
  | { readonly kind: "words"; readonly text: string }
  /** The text so far is complete. */
  | { readonly kind: "end" }
  /** Other lines; they appear above unfinished text. */
  | { readonly kind: "lines"; readonly lines: readonly Line[] };

export type Transcript = MarkdownState;

export const EMPTY_TRANSCRIPT: Transcript = MARKDOWN_START;

interface TranscriptUpdate {
  readonly transcript: Transcript;
  /** The rows that became final. */
  readonly rows: readonly TextRow[];
}

export function addPiece(transcript: Transcript, piece: Piece, columns: number): TranscriptUpdate {
  switch (piece.kind) {
    case "words": {
      const { state, rows } = addMarkdown(transcript, piece.text, columns);
      return { transcript: state, rows };
    }
    case "end":
      return { transcript: EMPTY_TRANSCRIPT, rows: renderRest(transcript, columns) };
    case "lines":
      return { transcript, rows: piece.lines.flatMap((line) => wrapLine(line, columns)) };
  }
}

/** The rows that are not final, as they would look at the end of the text. */
export { renderRest as unfinishedRows };
