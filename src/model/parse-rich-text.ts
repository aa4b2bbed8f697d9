/**
 * Markdown as rich text. What has no formatting on chat platforms becomes text that reads well everywhere: lists get signs
 * and indents, tables become aligned code or lines, rules become lines.
 *
 * The text is parsed in windows, so that a long one blocks nobody: of each window, all top-level blocks but the last are
 * written, and the next window begins with that. A block that fills a window is written in parts.
 */
import type { Sliced } from "./in-slices.ts";
import { type MarkdownToken, parseMessageBlocks } from "./markdown.ts";
import type { RichText } from "./rich-text.ts";
import { type OpenRange, RichTextBuilder } from "./rich-text-builder.ts";
import { writeInline } from "./rich-text-inline.ts";
import { type Alignment, layoutRichTable } from "./rich-text-table.ts";

/** In UTF-16 units. A longer line is text as written. */
export const WINDOW_LENGTH = 16 * 1024;

export function* parseRichText(markdown: string): Sliced<RichText> {
  const writer = new BlockWriter();
  let isInLongLine = false;
  let opening = "";
  let rest = "";
  for (let at = 0; at < markdown.length || rest !== "";) {
    const end = windowEnd(markdown, at + WINDOW_LENGTH - rest.length);
    rest += normalize(markdown.slice(at, end));
    at = end;
    const isLast = at === markdown.length;
    if (isInLongLine || (rest.length >= WINDOW_LENGTH && !rest.includes("\n"))) {
      const [line = "", ...others] = rest.split("\n");
      writer.writeText(line, isInLongLine);
      isInLongLine = others.length === 0;
      rest = others.join("\n");
    } else {
      const window = openWindow(opening, isLast ? rest : rest.slice(0, rest.lastIndexOf("\n") + 1), isLast);
      writer.write(window);
      rest = withoutLines(rest, window.to - window.from);
      opening = window.reopening;
    }
    yield;
  }
  return writer.finish();
}

/** Never inside a line end or a character. */
function windowEnd(text: string, wanted: number): number {
  const isInside = /[\r\uD800-\uDBFF]/.test(text[wanted - 1] ?? "");
  return Math.min(isInside ? wanted + 1 : wanted, text.length);
}

/** A line end is `\n`. What platforms refuse is replaced: control characters, and halves of characters. */
function normalize(text: string): string {
  return text
    .replaceAll(/\r\n?|[\u2028\u2029]/g, "\n")
    .replaceAll(/[^\P{Cc}\t\n]/gu, "\uFFFD")
    .toWellFormed();
}

interface Window {
  readonly tokens: readonly MarkdownToken[];
  readonly lines: readonly string[];
  /** The lines to write. The line before them opens code again that began in an earlier window. */
  readonly from: number;
  readonly to: number;
  /** The line that opens the code that does not end in this window. */
  readonly reopening: string;
}

function openWindow(opening: string, text: string, isLast: boolean): Window {
  const tokens = parseMessageBlocks(opening + text);
  const lines = (opening + text).split("\n");
  if (lines.at(-1) === "") lines.pop();
  const whole = { tokens, lines, from: opening === "" ? 0 : 1, to: lines.length, reopening: "" };
  if (isLast) return whole;
  const top = tokens.findLast(({ level, nesting, map }) => level === 0 && nesting >= 0 && map !== null);
  const start = top?.map?.[0] ?? 0;
  if (start > 0) return { ...whole, to: start };
  if (top?.type === "fence" && top.content.split("\n").length === lines.length)
    return { ...whole, reopening: `${lines[0]}\n` };
  if (top?.type !== "blockquote_open" && !top?.type.endsWith("_list_open")) return whole;
  const child = tokens.findLast(({ level, nesting, map }) => level === 1 && nesting >= 0 && map !== null);
  return { ...whole, to: child?.map?.[0] || lines.length };
}

function withoutLines(text: string, count: number): string {
  let at = 0;
  for (let line = 0; line < count; line++) at = text.indexOf("\n", at) + 1 || text.length;
  return text.slice(at);
}

type Container =
  | { readonly kind: "quote" }
  | { readonly kind: "item"; readonly line: number; sign: string; isMarked: boolean };

const EMPTY = /^[\s>]*$/;
/** A line with the signs of items and nothing else. */
const SIGNS = /^[\s>]*(?:[-*+]|\d+[.)])[\s>*+\-\d.)]*$/;
const RULE = "─".repeat(12);

class BlockWriter {
  readonly #out = new RichTextBuilder();
  readonly #containers: Container[] = [];
  #quote: OpenRange | undefined;
  /** Of code that goes on in the next window. */
  #pre: OpenRange | undefined;
  #lines: readonly string[] = [];
  /** The first line that is not written. */
  #line = 0;
  #isAfterEmptyLine = false;

  write({ tokens, lines, from, to, reopening }: Window): void {
    this.#lines = lines;
    this.#line = from;
    for (const [at, token] of tokens.entries()) {
      if (token.nesting < 0) this.#leave(token);
      if (token.nesting < 0 || token.map === null) continue;
      const [line, end] = token.map;
      if (line >= to) break;
      switch (token.type) {
        case "blockquote_open":
          this.#containers.push({ kind: "quote" });
          continue;
        case "list_item_open": {
          const sign = token.info === "" ? "• " : `${token.info}${token.markup} `;
          this.#containers.push({ kind: "item", line, sign, isMarked: false });
          continue;
        }
        case "paragraph_open":
          this.#paragraph(line, tokens[at + 1]!.content);
          break;
        case "heading_open":
          this.#heading(line, tokens[at + 1]!.content, Number(token.tag.slice(1)));
          break;
        case "hr":
          this.#begin(line);
          this.#out.add(RULE);
          break;
        case "math":
          this.#begin(line);
          this.#out.add(token.content.replaceAll("\n", `\n${this.#indent()}`));
          break;
        case "table_open":
          this.#beginLine(line);
          this.#out.append(readTable(tokens, at));
          break;
        case "code_block":
        case "fence":
          this.#code(line, token, reopening !== "");
          break;
        default:
          continue;
      }
      this.#line = end;
    }
    this.#containers.length = 0;
    this.#endQuote();
    this.#skipTo(to);
    this.#out.settle();
  }

  /** A part of a line that is too long to be parsed. */
  writeText(text: string, isContinued: boolean): void {
    if (!isContinued) this.#separate();
    this.#out.add(text);
  }

  finish(): RichText {
    return this.#out.finish();
  }

  #paragraph(line: number, content: string): void {
    const item = this.#containers.at(-1);
    const [box, check] = /^\[([ xX])\] +/.exec(content) ?? [];
    const isTask = box !== undefined && item?.kind === "item" && !item.isMarked;
    if (isTask) item.sign = check === " " ? "☐ " : "☑ ";
    this.#begin(line);
    writeInline(isTask ? content.slice(box.length) : content, this.#out, `\n${this.#indent()}`);
  }

  #heading(line: number, content: string, level: number): void {
    this.#begin(line);
    const heading = this.#out.open({ kind: "heading", level });
    writeInline(content, this.#out, " ");
    this.#out.close(heading);
  }

  /** Without the indent of lists, which would be copied along. */
  #code(line: number, { content, info }: MarkdownToken, goesOn: boolean): void {
    const code = content.replace(/\n$/, "");
    if (this.#pre !== undefined) this.#out.add(content === "" ? "" : `\n${code}`);
    else if (code.trim() !== "") {
      this.#beginLine(line);
      const [, language = ""] = /^\s*([\w+#.-]{1,32})(?:\s|$)/.exec(info) ?? [];
      this.#pre = this.#out.open({ kind: "pre", language });
      this.#out.add(code);
    }
    if (goesOn) return;
    this.#out.close(this.#pre);
    this.#pre = undefined;
  }

  #leave({ type }: MarkdownToken): void {
    if (type !== "blockquote_close" && type !== "list_item_close") return;
    const item = this.#containers.at(-1);
    if (item?.kind === "item" && !item.isMarked && SIGNS.test(this.#lines[item.line]!)) {
      this.#begin(item.line);
      this.#line = item.line + 1;
    }
    this.#containers.pop();
    if (this.#containers.length === 0) this.#endQuote();
  }

  /** Begins a block with the indent of its items. */
  #begin(line: number): void {
    this.#separateFrom(line);
    this.#out.add(this.#indent());
  }

  /** Begins a block without an indent. Signs before it get a line of their own. */
  #beginLine(line: number): void {
    this.#separateFrom(line);
    if (this.#containers.some((each) => each.kind === "item" && !each.isMarked))
      this.#out.add(`${this.#indent().trimEnd()}\n`);
  }

  #separateFrom(line: number): void {
    this.#skipTo(line);
    this.#separate();
    if (this.#containers[0]?.kind === "quote") this.#quote ??= this.#out.open({ kind: "quote" });
  }

  #endQuote(): void {
    this.#out.close(this.#quote);
    this.#quote = undefined;
  }

  /** Lines outside of any block are empty, or nested too deep to be parsed. */
  #skipTo(line: number): void {
    for (; this.#line < line; this.#line++) {
      const text = this.#lines[this.#line]!;
      if (EMPTY.test(text)) this.#isAfterEmptyLine = true;
      else if (!SIGNS.test(text)) {
        this.#separate();
        this.#out.add(text);
      }
    }
  }

  /** Empty lines between blocks are kept, as one. */
  #separate(): void {
    if (!this.#out.isEmpty) this.#out.add(this.#isAfterEmptyLine ? "\n\n" : "\n");
    this.#isAfterEmptyLine = false;
  }

  /** The first call in an item returns its sign, later calls as many spaces. A quote is a range only outside of lists. */
  #indent(): string {
    return this.#containers
      .map((container, at) => {
        if (container.kind === "quote") return at === 0 ? "" : "> ";
        const text = container.isMarked ? " ".repeat(container.sign.length) : container.sign;
        container.isMarked = true;
        return text;
      })
      .join("");
  }
}

function readTable(tokens: readonly MarkdownToken[], start: number): RichText {
  const rows: RichText[][] = [];
  const alignments: Alignment[] = [];
  for (let at = start; tokens[at]!.type !== "table_close"; at++) {
    const token = tokens[at]!;
    if (token.type === "tr_open") rows.push([]);
    else if (token.type === "th_open") alignments.push(alignmentOf(token));
    else if (token.type === "inline") {
      const cell = new RichTextBuilder();
      writeInline(token.content, cell, " ");
      rows.at(-1)?.push(cell.finish());
    }
  }
  return layoutRichTable(rows, alignments);
}

function alignmentOf(token: MarkdownToken): Alignment {
  const style = String(token.attrGet("style"));
  return style.endsWith("right") ? "right" : style.endsWith("center") ? "center" : "left";
}
