/**
 * Lays out the blocks of a Markdown text for a terminal. Line breaks are kept as written: models break lines on purpose.
 */
import { type MarkdownToken, parseBlocks, parseInline } from "../model/markdown.ts";
import { layoutTable } from "./markdown-table.ts";
import { type Format, type Line, type TextRow, type Span, widthOfRow, wrapLine } from "./spans.ts";

/** A leaf block: a paragraph, heading, code, table, rule or empty line. */
export interface MarkdownBlock extends SourceLines {
  /** Whether its layout is final, whatever follows. */
  readonly isSettled: boolean;
  /** The bottom edge of an unclosed code block. */
  readonly openEnd?: Line;
  /** The rows of each source line. */
  readonly layout: (columns: number) => readonly (readonly TextRow[])[];
}

interface SourceLines {
  readonly from: number;
  readonly count: number;
}

interface MarkdownLayout {
  /** In order, without gaps. */
  readonly blocks: readonly MarkdownBlock[];
  /** The first line of the last top-level block; the number of lines if there is no block. */
  readonly lastTop: number;
}

/** A block with a longer line is shown as written. */
export const MAX_MARKUP_LENGTH = 4_000;
const TAB = "    ";
const RULE: TextRow = [{ text: "─".repeat(24), format: "dim" }];
const MAX_INDENT = 24;

export function layoutMarkdown(text: string): MarkdownLayout {
  const written = text.replaceAll("\t", TAB);
  const tokens = parseBlocks(written);
  const source = written.split("\n");
  if (source.at(-1) === "") source.pop();
  const top = tokens.findLast(({ level, nesting, map }) => level === 0 && nesting >= 0 && map !== null);
  return { blocks: new BlockReader(source).read(tokens), lastTop: top?.map?.[0] ?? source.length };
}

const MARKED_UP = new Set(["paragraph_open", "heading_open", "table_open", "hr"]);

/** A container of blocks. The sign of an item precedes its first block. */
type Container =
  | { readonly kind: "quote" }
  | { readonly kind: "item"; readonly line: number; sign: string; isMarked: boolean };

class BlockReader {
  readonly #source: readonly string[];
  readonly #containers: Container[] = [];
  readonly #blocks: MarkdownBlock[] = [];

  constructor(source: readonly string[]) {
    this.#source = source;
  }

  read(tokens: readonly MarkdownToken[]): readonly MarkdownBlock[] {
    for (const [at, token] of tokens.entries()) {
      if (token.nesting < 0) this.#leave(token);
      if (token.nesting < 0 || token.map === null) continue;
      const [from, to] = token.map;
      const rest = token.type === "table_open" ? tokens.slice(at + 1) : tokens.slice(at + 1, at + 2);
      this.#enter(token, { from, count: to - from }, rest);
    }
    this.#fillUpTo(this.#source.length);
    return this.#blocks;
  }

  #enter(token: MarkdownToken, lines: SourceLines, rest: readonly MarkdownToken[]): void {
    const [inline] = rest;
    if (MARKED_UP.has(token.type) && this.#isLong(lines)) return this.#addAsWritten(lines);
    switch (token.type) {
      case "blockquote_open":
        this.#containers.push({ kind: "quote" });
        break;
      case "list_item_open": {
        const sign = token.info === "" ? "• " : `${token.info}${token.markup} `;
        this.#containers.push({ kind: "item", line: lines.from, sign, isMarked: false });
        break;
      }
      case "paragraph_open":
        if (inline !== undefined) this.#paragraph(lines, inline.content);
        break;
      case "heading_open":
        if (inline !== undefined) this.#heading(lines, inline.content, token.tag);
        break;
      case "hr":
        this.#add({ ...lines, isSettled: true }, [{ spans: RULE }]);
        break;
      case "code_block":
        this.#code(lines, token.content);
        break;
      case "fence":
        this.#fence(lines, token);
        break;
      case "table_open":
        this.#table(lines, rest);
        break;
    }
  }

  #leave({ type }: MarkdownToken): void {
    if (type !== "blockquote_close" && type !== "list_item_close") return;
    this.#markItems(Infinity);
    this.#containers.pop();
  }

  #paragraph(lines: SourceLines, content: string): void {
    const container = this.#containers.at(-1);
    const [box, check] = /^\[([ xX])\] +/.exec(content) ?? [];
    const isTask = box !== undefined && container?.kind === "item" && !container.isMarked;
    if (isTask) container.sign = check === " " ? "☐ " : "☑ ";
    const rows = layoutInline(isTask ? content.slice(box.length) : content);
    const keepsIndent = this.#containers.length === 0 && rows.length === lines.count;
    const indents = keepsIndent ? rows.map((_, at) => this.#indentOf(lines.from + at)) : [];
    this.#add(
      { ...lines, isSettled: false },
      rows.map((spans, at) => ({ first: indents[at] ?? [], next: indents[at] ?? [], spans })),
    );
  }

  #heading(lines: SourceLines, content: string, tag: string): void {
    const formats: Formats = tag === "h1" ? ["bold", "underline"] : ["bold"];
    const rows = layoutInline(content, formats);
    this.#add(
      { ...lines, isSettled: false },
      rows.map((spans) => ({ spans })),
    );
  }

  /** Skips empty lines, which belong to the block only if more code follows. */
  #code({ from, count }: SourceLines, content: string): void {
    const edge: TextRow = [{ text: TAB }];
    for (const [at, text] of content.split("\n").slice(0, count).entries())
      if (text !== "")
        this.#add({ from: from + at, count: 1, isSettled: !text.includes("|") }, [
          { first: edge, next: edge, spans: [{ text }] },
        ]);
  }

  /** In a frame whose edges replace the fence lines. */
  #fence({ from, count }: SourceLines, { content, info }: MarkdownToken): void {
    const edge: TextRow = [{ text: "│ ", format: "dim" }];
    const code = content === "" ? [] : content.replace(/\n$/, "").split("\n");
    const isClosed = code.length + 2 === count;
    const end: TextRow = [{ text: "╰─", format: "dim" }];
    const lines: Line[] = [
      { spans: [{ text: `╭─ ${info}`.trimEnd(), format: "dim" }] },
      ...code.map((text) => ({ first: edge, next: edge, spans: [{ text }] })),
      ...(isClosed ? [{ spans: end }] : []),
    ];
    const isSettled = count > 1 || !info.includes("|"); // otherwise, a following ruler would make it a table
    this.#add({ from, count, isSettled }, lines, isClosed ? undefined : end);
  }

  #table(lines: SourceLines, tokens: readonly MarkdownToken[]): void {
    const { first, next } = this.#begin(lines.from);
    const width = widthOfRow(next);
    const table = cellsOf(tokens);
    this.#blocks.push({
      ...lines,
      isSettled: false,
      layout: (columns) => [
        layoutTable(table, columns - width).map((row, at) => (at === 0 ? first : next).concat(row)),
      ],
    });
  }

  #add(block: Omit<MarkdownBlock, "layout">, lines: readonly Line[], openEnd?: TextRow): void {
    const edges = this.#begin(block.from);
    const layout: MarkdownBlock["layout"] = (columns) =>
      lines.map(({ first = [], next = [], spans }, at) => {
        const edge = at === 0 ? edges.first : edges.next;
        return wrapLine({ first: [...edge, ...first], next: [...edges.next, ...next], spans }, columns);
      });
    const end = openEnd === undefined ? {} : { openEnd: { first: edges.next, spans: openEnd } };
    this.#blocks.push({ ...block, ...end, layout });
  }

  #isLong({ from, count }: SourceLines): boolean {
    return this.#source.slice(from, from + count).some(({ length }) => length > MAX_MARKUP_LENGTH);
  }

  #addAsWritten({ from, count }: SourceLines): void {
    this.#begin(from);
    const lines = this.#source.slice(from, from + count);
    const layout: MarkdownBlock["layout"] = (columns) =>
      lines.map((text) => wrapLine({ spans: [{ text }] }, columns));
    this.#blocks.push({ from, count, isSettled: false, layout });
  }

  /** The prefixes of the first row and the other rows of a block that begins here. */
  #begin(line: number): { readonly first: TextRow; readonly next: TextRow } {
    this.#markItems(line);
    this.#fillUpTo(line);
    return { first: this.#edge(), next: this.#edge() };
  }

  /** An item with an empty first line gets its own row, unless the line is nested too deep to be parsed. */
  #markItems(before: number): void {
    const item = this.#containers.find((each) => each.kind === "item" && !each.isMarked);
    if (
      item?.kind !== "item" ||
      item.line >= before ||
      !/^[\s>*+\-\d.)]*$/.test(this.#source[item.line] ?? "")
    )
      return;
    this.#add({ from: item.line, count: 1, isSettled: false }, [{ spans: [] }]);
  }

  /** Adds lines outside of any block: empty ones, and those nested too deep to be parsed. */
  #fillUpTo(line: number): void {
    const last = this.#blocks.at(-1);
    for (let from = last === undefined ? 0 : last.from + last.count; from < line; from++) {
      const text = this.#source[from] ?? "";
      const isEmpty = /^[\s>]*$/.test(text);
      const shown = isEmpty ? text.replaceAll(/\s/g, "").replaceAll(">", QUOTE) : text;
      const layout: MarkdownBlock["layout"] = (columns) => [wrapLine({ spans: [{ text: shown }] }, columns)];
      this.#blocks.push({ from, count: 1, isSettled: isEmpty, layout });
    }
  }

  /** The first call in an item returns its sign, later calls as many spaces. */
  #edge(): TextRow {
    return this.#containers.map((container) => {
      if (container.kind === "quote") return { text: QUOTE, format: "dim" };
      const text = container.isMarked ? " ".repeat(container.sign.length) : container.sign;
      container.isMarked = true;
      return { text };
    });
  }

  #indentOf(line: number): TextRow {
    const [indent = ""] = /^ */.exec(this.#source[line] ?? "") ?? [];
    return [{ text: indent.slice(0, MAX_INDENT) }];
  }
}

const QUOTE = "▏ ";

function cellsOf(tokens: readonly MarkdownToken[]): TextRow[][] {
  const rows: TextRow[][] = [];
  for (const { type, content } of tokens) {
    if (type === "table_close") break;
    if (type === "tr_open") rows.push([]);
    else if (type === "inline")
      rows.at(-1)?.push(layoutInline(content, rows.length === 1 ? ["bold"] : []).flat());
  }
  return rows;
}

type Formats = readonly Extract<Format, string>[];

const FORMATS: Readonly<Record<string, Formats[number]>> = {
  strong: "bold",
  em: "italic",
  s: "strikethrough",
  a: "underline",
};

/** Returns one unwrapped row per line. */
function layoutInline(text: string, base: Formats = []): TextRow[] {
  const rows: Span[][] = [[]];
  const formats = [...base];
  let label = "";
  let address = "";
  const add = (text: string, format: Formats = formats): void => {
    label += text;
    if (text !== "") rows.at(-1)?.push(format.length === 0 ? { text } : { text, format: [...format] });
  };
  /** Shows the address of a link: users should see it, and not every terminal supports links. */
  const addAddress = (): void => {
    if (label === "") add(address, [...formats, "underline"]);
    else if (label !== address) add(` (${address})`, ["dim"]);
  };
  for (const token of parseInline(text)) {
    const format = FORMATS[token.tag];
    if (token.type === "softbreak" || token.type === "hardbreak") rows.push([]);
    else if (token.type === "code_inline") add(token.content, [...formats, "cyan"]);
    else if (token.type === "image") {
      [label, address] = ["", String(token.attrGet("src") ?? "")];
      add(token.content, [...formats, "underline"]);
      addAddress();
    } else if (format === undefined) add(token.content);
    else if (token.nesting > 0) {
      formats.push(format);
      if (token.tag === "a") [label, address] = ["", String(token.attrGet("href") ?? "")];
    } else {
      formats.pop();
      if (token.tag === "a" && token.info !== "auto") addAddress();
    }
  }
  return rows;
}
