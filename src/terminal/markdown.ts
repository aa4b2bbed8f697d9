/**
 * Markdown for a terminal, a line at a time: what a line looks like depends on those before it and on nothing that
 * comes later, so what was shown once need never be shown again. Only a table waits for its last row.
 *
 * Line ends are kept where they were written: models end a line where they mean it.
 */
import { parseInline } from "./markdown-inline.ts";
import { isRuler, isTableRow, layoutTable } from "./markdown-table.ts";
import { type Line, type Row, type Span, wrapLine } from "./spans.ts";

export interface MarkdownState {
  /** The code that the lines belong to: what ends it, and how far it is indented. */
  readonly fence: { readonly mark: string; readonly indent: number } | undefined;
  /** The rows of a table that may go on. */
  readonly table: readonly string[];
}

export const MARKDOWN_START: MarkdownState = { fence: undefined, table: [] };

/** A longer line is shown as it was written. */
export const MAX_MARKUP_LENGTH = 4_000;
/** A longer table is shown in parts, the later ones as they were written. */
export const MAX_TABLE_ROWS = 200;
/** Of all its rows together: each cell is looked at several times. */
export const MAX_TABLE_LENGTH = 20_000;
const TAB = "    ";
const RULE_WIDTH = 24;
const MAX_INDENT = 24;
/** Quotes within quotes; further signs are text. */
const MAX_QUOTES = 12;

export interface Rendered {
  readonly state: MarkdownState;
  readonly rows: readonly Row[];
}

/** Takes a line, without its end, and gives the rows that are final. */
export function renderLine(state: MarkdownState, given: string, columns: number): Rendered {
  const line = given.replaceAll("\t", TAB);
  if (state.fence !== undefined) return inFence(state.fence, line, columns);
  const isLong = line.length > MAX_MARKUP_LENGTH;
  const table = [...state.table, line];
  if (!isLong && isTableRow(line) && (table.length !== 2 || isRuler(line)) && fits(table))
    return { state: { ...state, table }, rows: [] };
  if (state.table.length > 0) {
    const before = renderEnd(state, columns);
    const after = renderLine(MARKDOWN_START, given, columns);
    return { state: after.state, rows: [...before, ...after.rows] };
  }
  if (isLong) return { state, rows: wrapLine({ spans: [{ text: line }] }, columns) };
  const fence = /^( {0,12})(`{3,}|~{3,}) *([^`]*)$/.exec(line);
  if (fence !== null) {
    const [, indent = "", mark = "", language = ""] = fence;
    const opened = { mark, indent: indent.length };
    return { state: { ...state, fence: opened }, rows: [frame(opened, `╭─ ${language}`.trimEnd())] };
  }
  return { state, rows: wrapLine(layoutLine(line), columns) };
}

function fits(table: readonly string[]): boolean {
  const length = table.reduce((sum, row) => sum + row.length, 0);
  return table.length <= MAX_TABLE_ROWS && length <= MAX_TABLE_LENGTH;
}

/** The rows that are still owed when nothing more comes. */
export function renderEnd({ fence, table }: MarkdownState, columns: number): readonly Row[] {
  if (fence !== undefined) return [frame(fence, "╰─")];
  if (table.length >= 2) return layoutTable(table, columns);
  return table.flatMap((line) => wrapLine(layoutLine(line), columns));
}

type Fence = NonNullable<MarkdownState["fence"]>;

function inFence(fence: Fence, line: string, columns: number): Rendered {
  const end = /^ *(`{3,}|~{3,}) *$/.exec(line)?.[1];
  if (end !== undefined && end.startsWith(fence.mark))
    return { state: MARKDOWN_START, rows: [frame(fence, "╰─")] };
  const code = line.replace(new RegExp(`^ {0,${fence.indent}}`), "");
  const edge = frame(fence, "│ ");
  const spans: readonly Span[] = [{ text: code }];
  return { state: { fence, table: [] }, rows: wrapLine({ first: edge, next: edge, spans }, columns) };
}

function frame({ indent }: Fence, text: string): Row {
  return [{ text: " ".repeat(indent) }, { text, format: "dim" }];
}

function layoutLine(line: string, quotes = 0): Line {
  const [, hashes = "", heading] = /^ {0,3}(#{1,6}) +(.*)$/.exec(line) ?? [];
  if (heading !== undefined)
    return { spans: parseInline(titleOf(heading), hashes.length === 1 ? ["bold", "underline"] : ["bold"]) };
  if (/^ {0,3}([-*_])(?: *\1){2,} *$/.test(line))
    return { spans: [{ text: "─".repeat(RULE_WIDTH), format: "dim" }] };
  const [, quoted] = /^ {0,3}> ?(.*)$/.exec(line) ?? [];
  if (quoted !== undefined && quotes < MAX_QUOTES)
    return within([{ text: "▏ ", format: "dim" }], layoutLine(quoted, quotes + 1));
  const [, indent = "", mark, item = ""] = /^( *)([-*+]|\d{1,9}[.)]) +(.*)$/.exec(line) ?? [];
  if (mark !== undefined) return layoutItem(indent, mark, item);
  const spaces = [{ text: indentOf(line) }];
  return { first: spaces, next: spaces, spans: parseInline(line.trim()) };
}

/** Without the hashes that may close it. */
function titleOf(heading: string): string {
  const title = heading.trimEnd();
  let end = title.length;
  while (title[end - 1] === "#") end--;
  return end < title.length && title[end - 1] === " " ? title.slice(0, end).trimEnd() : title;
}

function layoutItem(indent: string, mark: string, item: string): Line {
  const [, box, task = item] = /^\[([ xX])\] +(.*)$/.exec(item) ?? [];
  const sign = box === undefined ? (/^\d/.test(mark) ? mark : "•") : box === " " ? "☐" : "☑";
  const before = `${indentOf(indent)}${sign} `;
  return {
    first: [{ text: before }],
    next: [{ text: " ".repeat(before.length) }],
    spans: parseInline(task),
  };
}

function within(edge: Row, { first = [], next = [], spans }: Line): Line {
  return { first: [...edge, ...first], next: [...edge, ...next], spans };
}

function indentOf(line: string): string {
  return " ".repeat(Math.min(/^ */.exec(line)![0].length, MAX_INDENT));
}
