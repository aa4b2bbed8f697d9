/** Finds what was said before by the words that it shares with a question. No meaning, no index: a few hundred messages. */

/** What of a text is looked at. */
export const MAX_READ_LENGTH = 20_000;

/** Words that say nothing about what a message is about. */
const EMPTY_WORDS = new Set(
  (
    "a about all am an and any are as asked at be been before but by can could did do does earlier ever for from had " +
    "has have he her him his how i if in into is it its just know last let me my no not of on or our please " +
    "previous previously recall remember said saw say she should so some tell than that the their them then there " +
    "these they this those to told up us was we were what when where which who whom whose why will with would yes " +
    "yet you your ask"
  ).split(" "),
);

/** The words that a text is about, each once, without the difference between one and many. */
export function keywords(text: string): ReadonlySet<string> {
  const words =
    text
      .slice(0, MAX_READ_LENGTH)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => !EMPTY_WORDS.has(word)).map(singular));
}

/**
 * The text that shares the most words with the question, at least half of them. Statements come before
 * questions, which do not answer anything, then newer texts before older ones.
 */
export function bestMatch<T extends { readonly text: string }>(
  question: ReadonlySet<string>,
  oldestFirst: readonly T[],
): T | undefined {
  let best: { readonly item: T; readonly score: number } | undefined;
  for (const item of oldestFirst) {
    const shared = countShared(question, keywords(item.text));
    if (shared === 0 || shared * 2 < question.size) continue;
    const score = item.text.trimEnd().endsWith("?") ? shared - question.size : shared;
    if (best === undefined || score >= best.score) best = { item, score };
  }
  return best?.item;
}

function countShared(question: ReadonlySet<string>, words: ReadonlySet<string>): number {
  return [...question].filter((word) => words.has(word)).length;
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}
