/**
 * The words of a text, as search knows them: without case and accents, whatever the language.
 *
 * Scripts that put no spaces between words (Chinese, Japanese, Thai and others; Korean joins particles to them) are cut
 * into characters, and what is looked for there is a row of characters. So a part of a sentence is found,
 * which an index of words between spaces would not do, and a word of two characters too, which an index of
 * three characters at a time would not do. Emoji are words.
 *
 * Texts and queries go through the same function, so it alone decides what matches what; a database is
 * given words that have spaces between them and nothing else.
 */
export interface Word {
  readonly text: string;
  /** Where it stands in the text that it is from. */
  readonly at: number;
  /** One character of a script without spaces. */
  readonly dense: boolean;
}

/** Longer words (keys, encoded files) are told apart by this much of them. */
export const MAX_WORD_LENGTH = 64;
/** Of a text to look for: what comes later is left out. */
export const MAX_QUERY_WORDS = 32;
export const MAX_QUERY_LENGTH = 2_000;
/** Shorter words would stand at the beginning of too many others. */
const MIN_BEGINNING = 3;

// The mark of a long vowel and a few others are shared by scripts, and belong here too.
const DENSE = String.raw`[[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}ー〆〱-〵]&&[\p{L}\p{N}]]`;
const WORD = new RegExp(
  String.raw`(${DENSE}\p{M}*)|(\p{Extended_Pictographic})|[[\p{L}\p{N}]--${DENSE}][[\p{L}\p{N}\p{M}]--${DENSE}]*`,
  "gv",
);
const PLAIN_WORD = /[a-z0-9]+/gi;
const PLAIN = /^\p{ASCII}*$/u;

export function words(text: string): Word[] {
  const found: Word[] = [];
  for (const match of text.matchAll(PLAIN.test(text) ? PLAIN_WORD : WORD)) {
    const [written, dense, emoji] = match;
    const folded = emoji === undefined ? fold(written) : written;
    if (folded === written || PLAIN.test(written)) {
      found.push({ text: folded, at: match.index, dense: dense !== undefined });
    } else {
      // A letter that stands for several may have become something that is cut elsewhere.
      for (const part of folded.matchAll(WORD)) {
        found.push({ text: part[0], at: match.index, dense: part[1] !== undefined });
      }
    }
  }
  return found;
}

/** What is to be found, read from what a person wrote. No sign in it has a meaning of its own. */
export interface Query {
  /** What stood between two spaces, as a row of words: all of them are wanted. */
  readonly phrases: readonly string[];
  /** The smallest parts that are worth looking for: where not all is found, any of these is better than nothing. */
  readonly terms: readonly Term[];
}

export interface Term {
  /** A word, or a row of two characters of a script without spaces. */
  readonly text: string;
  /** Longer words that begin with it are almost as good. */
  readonly begins: boolean;
}

export function readQuery(text: string): Query {
  const phrases = new Set<string>();
  const terms = new Map<string, Term>();
  for (const chunk of text.slice(0, MAX_QUERY_LENGTH).toWellFormed().split(/\s+/)) {
    const row = words(chunk);
    const added = termsOf(row).filter((term) => !terms.has(term.text));
    if (terms.size + added.length > MAX_QUERY_WORDS) {
      // Half of a long row of characters would be another phrase; as terms, its first ones are of use.
      for (const term of added.slice(0, MAX_QUERY_WORDS - terms.size)) terms.set(term.text, term);
      break;
    }
    for (const term of added) terms.set(term.text, term);
    if (row.length > 0) phrases.add(row.map((word) => word.text).join(" "));
  }
  return { phrases: [...phrases], terms: [...terms.values()] };
}

function termsOf(row: readonly Word[]): Term[] {
  const terms: Term[] = [];
  row.forEach((word, i) => {
    const next = row[i + 1];
    if (!word.dense) terms.push({ text: word.text, begins: word.text.length >= MIN_BEGINNING });
    else if (next?.dense === true) terms.push({ text: `${word.text} ${next.text}`, begins: false });
    else if (row[i - 1]?.dense !== true) terms.push({ text: word.text, begins: false });
  });
  return terms;
}

/** Accents of Latin, Greek and Cyrillic letters go; those that make another letter elsewhere stay. */
function fold(written: string): string {
  if (PLAIN.test(written)) return written.slice(0, MAX_WORD_LENGTH).toLowerCase();
  return written
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[\u0300-\u036f]|[^\p{L}\p{N}\p{M}]/gu, "")
    .replaceAll("ς", "σ")
    .normalize("NFC")
    .slice(0, MAX_WORD_LENGTH)
    .toWellFormed();
}
