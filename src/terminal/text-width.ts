/**
 * How many columns a text takes on a terminal. Terminals disagree about emoji that are put together and about
 * signs that may be text or picture; where they do, the larger number counts: at worst a row ends early, and none is
 * ever longer than the terminal is wide.
 */
import { eastAsianWidth } from "get-east-asian-width";

/** Printed over what stands before it, or not at all. A selector of pictures is not here: it widens what it follows. */
const NARROWEST = /[\p{Mn}\p{Me}\u200B-\u200F\u2060-\u2064\uFEFF]/u;
const ASCII = /^[\x20-\x7e]*$/;
const PICTURE_SELECTOR = "\uFE0F";

export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

function widthOfCharacter(character: string): number {
  if (character === PICTURE_SELECTOR) return 1;
  if (NARROWEST.test(character)) return 0;
  return eastAsianWidth(character.codePointAt(0) ?? 0);
}

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** What a reader takes for one character each: none of them may be torn apart. */
export function graphemes(text: string): string[] {
  return ASCII.test(text) ? Array.from(text) : Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** The beginning of a text that fits, with a sign that there is more. */
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
