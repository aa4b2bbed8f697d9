/**
 * Markdown as tokens: CommonMark with tables and strikethrough. HTML in it is text.
 *
 * The package is loaded when it is first needed, synchronously as the texts are parsed: most servers start without it.
 */
import { createRequire } from "node:module";
import type Package from "markdown-it";
import type { MarkdownIt as Parser, MarkdownItOptions, Token } from "markdown-it";

import { keepMath } from "./math.ts";

export type MarkdownToken = Token;

/**
 * Without what would change the look of earlier lines when a later one arrives: definitions of links, and headings by
 * underlining, where people mean a rule.
 */
const DISABLED = ["reference", "lheading"];

let parser: Parser | undefined;

function useParser(): Parser {
  return (parser ??= createParser({}));
}

/** The blocks of a text, each with its lines of the source. The contents of `inline` tokens are not parsed. */
export function parseBlocks(text: string): MarkdownToken[] {
  return blocksOf(text, useParser());
}

/** Emphasis, code and links in the text of one block. */
export function parseInline(text: string): MarkdownToken[] {
  return inlineOf(text, useParser());
}

/** Half of it are lists in lists. The time for hostile text grows with it. */
const MAX_NESTING = 20;

let messageParser: Parser | undefined;

function useMessageParser(): Parser {
  if (messageParser === undefined) {
    messageParser = createParser({ linkify: true, maxNesting: MAX_NESTING }).use(keepMath);
    messageParser.normalizeLinkText = (url) => url;
  }
  return messageParser;
}

/** As `parseBlocks`, for a text that is complete: math stays as written. */
export function parseMessageBlocks(text: string): MarkdownToken[] {
  return blocksOf(text, useMessageParser());
}

/** As `parseInline`, with addresses as links and math as text. */
export function parseMessageInline(text: string): MarkdownToken[] {
  return inlineOf(text, useMessageParser());
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

function createParser(options: MarkdownItOptions): Parser {
  const MarkdownIt = createRequire(import.meta.url)("markdown-it") as typeof Package;
  return new MarkdownIt({ ...options, html: false }).disable(DISABLED);
}
