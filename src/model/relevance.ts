/**
 * How well a text answers a query, from 0 (not at all) to 1. It looks at nothing but the two and the weights of
 * the words, so a text that a database has found and one that it does not know yet are measured alike.
 */
import type { Query } from "./words.ts";

/** Texts that hold all of the query are above this, others below. */
export const ALL_FOUND = 0.6;

/** As usual for BM25: how soon more of the same word adds nothing, and how much longer texts are held back. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;
/** Words in a text that is neither short nor long. */
const USUAL_LENGTH = 50;
/** More of the same word adds nothing that could be seen. */
const MAX_COUNTED = 20;
/** What a longer word that only begins like the one asked for is worth. */
const BEGINNING_SHARE = 0.5;
/** What age takes away at most, and after how long half of that is gone. */
const AGE_SHARE = 0.1;
const HALF_AGE_MS = 30 * 24 * 3_600_000;

/** A text as words with a space before and after each. */
export interface Spaced {
  readonly text: string;
  readonly words: number;
}

export function spaced(words: readonly { readonly text: string }[]): Spaced {
  return { text: ` ${words.map((word) => word.text).join(" ")} `, words: words.length };
}

/** What each term is worth: the fewer texts of all hold it, the more. */
export function weigh(texts: number, withTerm: readonly number[]): number[] {
  return withTerm.map((count) => Math.log(1 + (Math.max(texts - count, 0) + 0.5) / (count + 0.5)));
}

export interface Wanted {
  readonly query: Query;
  /** One for each term of the query. */
  readonly weights: readonly number[];
}

/** Of two texts that answer as well, the younger is a little better. */
export function relevance({ text, words }: Spaced, { query, weights }: Wanted, ageMs: number): number {
  const drag = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * words) / USUAL_LENGTH);
  let found = 0;
  let wanted = 0;
  query.terms.forEach((term, i) => {
    const weight = weights[i]!;
    wanted += weight;
    const exact = count(text, ` ${term.text} `);
    if (exact > 0) found += weight * worth(exact, drag);
    else if (term.begins) found += weight * BEGINNING_SHARE * worth(count(text, ` ${term.text}`), drag);
  });
  if (found === 0) return 0;
  const share = (found / wanted) * (1 - (AGE_SHARE * ageMs) / (ageMs + HALF_AGE_MS));
  const all = query.phrases.every((phrase) => text.includes(` ${phrase} `));
  return all ? ALL_FOUND + (1 - ALL_FOUND) * share : ALL_FOUND * share;
}

/** That a word is there counts for half, how often for the other half. */
function worth(times: number, drag: number): number {
  return times === 0 ? 0 : 0.5 + (0.5 * times) / (times + drag);
}

function count(text: string, part: string): number {
  let times = 0;
  // The space after a word is the one before the next.
  for (let at = text.indexOf(part); at !== -1 && times < MAX_COUNTED; times++) {
    at = text.indexOf(part, at + part.length - 1);
  }
  return times;
}
