/**
 * Renders streaming Markdown: a block is final when the next one begins, a line of code at once. Final rows are never
 * drawn again.
 */
import { layoutMarkdown, type MarkdownBlock } from "./markdown-layout.ts";
import { type TextRow, wrapLine } from "./spans.ts";

export interface MarkdownState {
  /** The source from the last top-level block on, including the incomplete last line. */
  readonly source: string;
  /** The number of its lines that are final. */
  readonly shown: number;
}

export const MARKDOWN_START: MarkdownState = { source: "", shown: 0 };

/** A longer top-level block is split, because it is parsed again with every new line. */
export const MAX_BLOCK_LENGTH = 20_000;
export const MAX_BLOCK_LINES = 200;

interface MarkdownUpdate {
  readonly state: MarkdownState;
  readonly rows: readonly TextRow[];
}

/** Adds text and returns the rows that became final. How the text is split into pieces does not matter. */
export function addMarkdown({ source, shown }: MarkdownState, text: string, columns: number): MarkdownUpdate {
  const rows: TextRow[] = [];
  let rest = source + text;
  let from = shown;
  for (;;) {
    const { part, isFull } = completeLines(rest);
    if (part === "") return { state: { source: rest, shown: from }, rows };
    const { blocks, lastTop } = layoutMarkdown(part);
    if (isFull && lastTop === 0) {
      rows.push(...rowsOf(blocks, { from, to: Infinity }, columns));
      const opening = openingOf(blocks, part);
      rest = opening + rest.slice(part.length);
      from = opening === "" ? 0 : 1;
      continue;
    }
    const to = finalLines(blocks);
    rows.push(...rowsOf(blocks, { from, to }, columns));
    rest = rest.slice(lengthOfLines(part, lastTop));
    from = Math.max(from, to) - lastTop;
    if (from === 0)
      rows.push(
        ...endOf(
          blocks.findLast((block) => block.from < lastTop),
          columns,
        ),
      );
    if (!isFull) return { state: { source: rest, shown: from }, rows };
  }
}

/** The rows that are not final, as they would look at the end of the text. */
export function renderRest({ source, shown }: MarkdownState, columns: number): readonly TextRow[] {
  if (source === "") return [];
  const { blocks } = layoutMarkdown(source);
  const rows = rowsOf(blocks, { from: shown, to: Infinity }, columns);
  return [...rows, ...endOf(blocks.at(-1), columns)];
}

/** The complete lines of a text, up to the parsing limit. */
function completeLines(text: string): { readonly part: string; readonly isFull: boolean } {
  let end = 0;
  for (let lines = 1; ; lines++) {
    const next = text.indexOf("\n", end) + 1;
    if (next === 0) return { part: text.slice(0, end), isFull: false };
    end = next;
    if (lines === MAX_BLOCK_LINES || end >= MAX_BLOCK_LENGTH)
      return { part: text.slice(0, end), isFull: true };
  }
}

function finalLines(blocks: readonly MarkdownBlock[]): number {
  const last = blocks.at(-1);
  if (last === undefined) return 0;
  return last.isSettled ? last.from + last.count : last.from;
}

/** The fence that opened the code at the end of a part, to reopen it in the next part. */
function openingOf(blocks: readonly MarkdownBlock[], part: string): string {
  const last = blocks.at(-1);
  if (last?.openEnd === undefined || last.count === 1) return "";
  const start = lengthOfLines(part, last.from);
  return part.slice(start, part.indexOf("\n", start) + 1);
}

function lengthOfLines(text: string, count: number): number {
  let end = 0;
  for (let line = 0; line < count; line++) end = text.indexOf("\n", end) + 1;
  return end;
}

function rowsOf(
  blocks: readonly MarkdownBlock[],
  { from, to }: { readonly from: number; readonly to: number },
  columns: number,
): TextRow[] {
  return blocks.flatMap((block, at) => {
    if (block.from + block.count <= from || block.from >= to) return [];
    const start = Math.max(from - block.from, 0);
    const rows = block
      .layout(columns)
      .slice(start, to - block.from)
      .flat();
    return start === 0 ? [...endOf(blocks[at - 1], columns), ...rows] : rows;
  });
}

function endOf(block: MarkdownBlock | undefined, columns: number): TextRow[] {
  return block?.openEnd === undefined ? [] : wrapLine(block.openEnd, columns);
}
