/**
 * The width of text in terminal columns. Terminals disagree about emoji sequences and about characters with text and emoji
 * forms; the larger width counts, so that a row may end early but never exceeds the terminal.
 */
import { eastAsianWidth } from "get-east-asian-width";

/** Combining marks and invisible characters. The emoji selector is not one of them: it widens the previous character. */
const ZERO_WIDTH = /[\p{Mn}\p{Me}\u200B-\u200F\u2060-\u2064\uFEFF]/u;
const ASCII = /^[\x20-\x7e]*$/;
const EMOJI_SELECTOR = "\uFE0F";

export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

function widthOfCharacter(character: string): number {
  if (character === EMOJI_SELECTOR) return 1;
  if (ZERO_WIDTH.test(character)) return 0;
  return eastAsianWidth(character.codePointAt(0) ?? 0);
}

/** Made when it is first needed, because its tables take 2 MB. */
let segmenter: Intl.Segmenter | undefined;

/** User-perceived characters, which must not be split. */
export function graphemes(text: string): string[] {
  if (ASCII.test(text)) return Array.from(text);
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Truncates a text with an ellipsis. */
export function cutToWidth(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let cut = "";
  let used = 1;
  for (const grapheme of graphemes(text)) {
    used += widthOf(grapheme);
    if (used > columns) break;
    cut += grapheme;
  }
  return `${cut}…`;
}
