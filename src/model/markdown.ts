/** Markdown as tokens: CommonMark with tables and strikethrough. HTML in it is text. */
import MarkdownIt, { type Token } from "markdown-it";

export type MarkdownToken = Token;

/**
 * Without what would change the look of earlier lines when a later one arrives: definitions of links, and headings by
 * underlining, where people mean a rule.
 */
const parser = new MarkdownIt({ html: false }).disable(["reference", "lheading"]);

/** The blocks of a text, each with its lines of the source. The contents of `inline` tokens are not parsed. */
export function parseBlocks(text: string): MarkdownToken[] {
  const tokens: MarkdownToken[] = [];
  parser.block.parse(text, parser, {}, tokens);
  return tokens;
}

/** Emphasis, code and links in the text of one block. */
export function parseInline(text: string): MarkdownToken[] {
  const tokens: MarkdownToken[] = [];
  parser.inline.parse(text, parser, {}, tokens);
  return tokens;
}
