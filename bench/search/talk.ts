// Texts whose words are as unevenly spread as those of people: the n-th most common word comes a n-th as often.

export const START_MS = Date.UTC(2026, 0, 1);
export const STEP_MS = 20_000;

const VOCABULARY = 60_000;
const MIN_WORDS = 5;
const MAX_WORDS = 60;

/** By their places in the order of commonness. */
const RANKS = {
  common: [0, 20],
  usual: [200, 2_000],
  rare: [10_000, VOCABULARY],
  any: [0, VOCABULARY],
} as const;

export interface Talk {
  readonly text: () => string;
  /** A word of a kind; of any kind, as it comes in texts. */
  readonly word: (kind: keyof typeof RANKS) => string;
}

/** The same seed, the same talk. */
export function createTalk(seed: number): Talk {
  const shares: number[] = [];
  let total = 0;
  for (let n = 1; n <= VOCABULARY; n++) shares.push((total += 1 / n));
  let state = seed;
  /** mulberry32, public domain. */
  const random = (): number => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const spoken = (): number => {
    const share = random() * total;
    let low = 0;
    let high = VOCABULARY - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (shares[middle]! < share) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    text: () => {
      const count = MIN_WORDS + Math.floor(random() * (MAX_WORDS - MIN_WORDS));
      return Array.from({ length: count }, () => spell(spoken())).join(" ");
    },
    word: (kind) => {
      const [from, to] = RANKS[kind];
      return spell(kind === "any" ? spoken() : from + Math.floor(random() * (to - from)));
    },
  };
}

/** A word for each number, made of syllables, so that words share beginnings. */
function spell(number: number): string {
  const syllables = ["ka", "lo", "mi", "tu", "re", "so", "ni", "va", "pe", "do", "shi", "ra"];
  let word = "";
  for (let rest = number + 12; rest > 0; rest = Math.floor(rest / 12)) word += syllables[rest % 12]!;
  return word;
}
