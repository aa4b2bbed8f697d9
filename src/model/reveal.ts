/**
 * Shows text from others so that a person sees all of it. What is invisible, moves the cursor or reverses the order of
 * characters becomes an escape such as `\u{202E}`. Nothing is removed, and no two texts are shown alike.
 */
import { domainToASCII } from "node:url";

/**
 * Controls, formats, private and unassigned characters, lone surrogates, all spaces but the usual one, and everything that
 * fonts leave blank; spaces that end a line; marks that have nothing to stand on, or stand on others; and a backslash that
 * would read as the beginning of such an escape.
 */
const UNSEEN =
  /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u{2800}]--[ ]]| (?=\n|$)|(?<![\p{L}\p{M}\p{N}\p{P}\p{S}])\p{M}|(?<=\p{M}{3})\p{M}|\\(?=u\{)/gv;

/** With `lines`, line breaks and tabs stay as they are: the caller keeps the lines apart from its own. */
export function reveal(text: string, { lines = false }: { readonly lines?: boolean } = {}): string {
  return text.replaceAll(UNSEEN, (character) =>
    lines && (character === "\n" || character === "\t") ? character : escapeOf(character),
  );
}

function escapeOf(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16).toUpperCase()}}`;
}

/** A warning is for the eye; the digest of a call tells all of them apart. */
export const MAX_LOOKALIKES = 5;

/** Letters of these scripts are drawn alike. */
const SCRIPTS = {
  Latin: /\p{Script=Latin}/v,
  Cyrillic: /\p{Script=Cyrillic}/v,
  Greek: /\p{Script=Greek}/v,
  Armenian: /\p{Script=Armenian}/v,
  Cherokee: /\p{Script=Cherokee}/v,
};

const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/v;

/**
 * What an eye gets wrong although everything is visible: words that mix alphabets, hosts that are not ASCII, and letters
 * from right to left, which also move what is around them.
 */
export function lookalikes(text: string): readonly string[] {
  const found = new Set<string>();
  if (RIGHT_TO_LEFT.test(text))
    found.add("letters from right to left: the order on the screen is not the real one");
  for (const [word] of text.matchAll(/[\p{L}\p{N}\p{M}_.\-]+/gv)) {
    if (found.size >= MAX_LOOKALIKES) break;
    if (/^\p{ASCII}*$/v.test(word)) continue;
    const shown = word.slice(0, MAX_WORD_LENGTH).toWellFormed();
    const scripts = Object.entries(SCRIPTS).flatMap(([name, letter]) => (letter.test(shown) ? [name] : []));
    const host = /^[^.]+(?:\.[^.]+)+$/v.test(shown) ? domainToASCII(shown) : "";
    if (scripts.length > 1)
      found.add(`${reveal(shown)} mixes ${scripts.join(" and ")} letters: ${inAscii(shown)}`);
    else if (host !== "" && host !== shown.toLowerCase()) found.add(`${reveal(shown)} as a host is ${host}`);
  }
  return [...found];
}

const MAX_WORD_LENGTH = 80;

function inAscii(word: string): string {
  return word.replaceAll(/\P{ASCII}/gv, escapeOf);
}
