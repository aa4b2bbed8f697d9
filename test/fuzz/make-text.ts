/** Texts that a stranger could send: broken samples, the pieces that a reader looks for, and any characters at all. */
import type { Random } from "../simulation/random.ts";

/** Long enough for every branch of a reader; `test/parsers.test.ts` has the long texts. */
const MAX_LENGTH = 2_048;
const MAX_EDITS = 6;

export interface Material {
  /** Texts that the reader accepts. */
  readonly samples: readonly string[];
  /** What has a meaning to the reader. */
  readonly pieces: readonly string[];
}

export function makeText(material: Material, random: Random): string {
  const text = makeWhole(material, random);
  return text.length > MAX_LENGTH ? text.slice(0, MAX_LENGTH) : text;
}

function makeWhole(material: Material, random: Random): string {
  const { samples } = material;
  const kind = random.below(samples.length > 0 ? 6 : 3);
  if (kind === 0) return join(random, 1 + random.below(12), () => piece(material, random));
  if (kind === 1) return join(random, 1 + random.below(40), () => anyCharacter(random));
  if (kind === 2) return piece(material, random).repeat(1 + random.below(64));
  return broken(random.pick(samples), material, random);
}

/** A sample with some of it lost, doubled, moved or replaced. */
function broken(sample: string, material: Material, random: Random): string {
  let text = sample;
  for (let edit = random.below(MAX_EDITS); edit >= 0; edit--) {
    const from = random.below(text.length + 1);
    const to = from + random.below(Math.min(24, text.length - from + 1));
    const taken = text.slice(from, to);
    const put = random.pick([
      () => "",
      () => taken + taken,
      () => piece(material, random),
      () => anyCharacter(random),
      () => text.slice(random.below(text.length + 1)).slice(0, 24),
    ])();
    text = text.slice(0, from) + put + text.slice(random.chance(0.5) ? to : from);
  }
  return text;
}

function piece({ pieces }: Material, random: Random): string {
  return random.pick(random.chance(0.7) ? pieces : COMMON);
}

/** What many formats give a meaning. */
const COMMON = [
  "\n",
  "\r\n",
  "\t",
  " ",
  "---\n",
  "```",
  "{",
  "}",
  "[",
  "]",
  '"',
  "'",
  "\\",
  ":",
  ": ",
  "- ",
  "#",
  "<!--",
  "-->",
  "%00",
  "../",
  "0",
  "-1",
  "1e999",
  "9007199254740993",
  "null",
  "__proto__",
  "constructor",
  "toString",
  "\0",
  "\u001B[31m",
  "\u009B",
  "\u202E",
  "\u2066",
  "\u200B",
  "\uFEFF",
  "\u2028",
  "\uD800",
  "\uDC00",
  "e\u0301",
  "İ",
  "ß",
  "中",
  "👩‍👩‍👧",
] as const;

/** Any of the planes; a lone surrogate now and then. */
function anyCharacter(random: Random): string {
  const plane = random.below(8);
  if (plane < 4) return String.fromCharCode(random.below(128));
  if (plane < 6) return String.fromCharCode(random.below(0x1_0000));
  return String.fromCodePoint(random.below(0x11_0000));
}

function join(random: Random, count: number, make: () => string): string {
  const separator = random.chance(0.3) ? random.pick(COMMON) : "";
  return Array.from({ length: count }, make).join(separator);
}
