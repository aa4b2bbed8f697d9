/** Markdown as tokens: CommonMark with tables and strikethrough. HTML in it is text. */
import MarkdownIt, { type MarkdownIt as Parser, type Token } from "markdown-it";

import { keepMath } from "./math.ts";

export type MarkdownToken = Token;

/**
 * Without what would change the look of earlier lines when a later one arrives: definitions of links, and headings by
 * underlining, where people mean a rule.
 */
const DISABLED = ["reference", "lheading"];

const parser = new MarkdownIt({ html: false }).disable(DISABLED);

/** The blocks of a text, each with its lines of the source. The contents of `inline` tokens are not parsed. */
export function parseBlocks(text: string): MarkdownToken[] {
  return blocksOf(text, parser);
}

/** Emphasis, code and links in the text of one block. */
export function parseInline(text: string): MarkdownToken[] {
  return inlineOf(text, parser);
}

/** Half of it are lists in lists. The time for hostile text grows with it. */
const MAX_NESTING = 20;

const messageParser = new MarkdownIt({ html: false, linkify: true, maxNesting: MAX_NESTING })
  .disable(DISABLED)
  .use(keepMath);
messageParser.normalizeLinkText = (url) => url;

/** As `parseBlocks`, for a text that is complete: math stays as written. */
export function parseMessageBlocks(text: string): MarkdownToken[] {
  return blocksOf(text, messageParser);
}

/** As `parseInline`, with addresses as links and math as text. */
export function parseMessageInline(text: string): MarkdownToken[] {
  return inlineOf(text, messageParser);
}

function blocksOf(text: string, parser: Parser): MarkdownToken[] {
  const tokens: MarkdownToken[] = [];
  parser.block.parse(text, parser, {}, tokens);
  return tokens;
}

function inlineOf(text: string, parser: Parser): MarkdownToken[] {
  const tokens: MarkdownToken[] = [];
  parser.inline.parse(text, parser, {}, tokens);
  return tokens;
}
