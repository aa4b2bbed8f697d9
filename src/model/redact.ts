/**
 * Takes secrets out of texts, wherever they may have come from: a command that prints its environment, a person
 * who pastes a key. Exact values only: what is not configured as a secret is not recognised as one, and one that
 * somebody spells backwards, or breaks into lines, is not found. It keeps accidents from being recorded; what keeps
 * a secret from whoever wants it is not to give it to them.
 */

/** A shorter one would be found in ordinary text. */
export const MIN_SECRET_LENGTH = 8;

export interface Secret {
  /** What it is called where it is configured. Shown in its place. */
  readonly name: string;
  readonly value: string;
}

export type Redact = (text: string) => string;

interface Form {
  readonly text: string;
  readonly name: string;
}

/** A part of a text, and the secrets that are in it. */
interface Hole {
  readonly from: number;
  to: number;
  readonly names: string[];
}

/**
 * Secrets that overlap go together, so that nothing is left of either. The time it takes grows with the text and not
 * with the number of secrets, because everything that is written goes through it.
 */
export function createRedact(secrets: readonly Secret[]): Redact {
  const forms = secrets
    .filter(({ value }) => value.length >= MIN_SECRET_LENGTH)
    .flatMap(({ name, value }) => spellings(value).map((text): Form => ({ text, name })));
  if (forms.length === 0) return (text) => text;
  const findHoles = createFinder(forms);
  return (text) => {
    let result = "";
    let end = 0;
    for (const { from, to, names } of findHoles(text)) {
      result += text.slice(end, from) + names.map((name) => `[${name}]`).join("");
      end = to;
    }
    return end === 0 ? text : result + text.slice(end);
  };
}

/** As it is, in lower case, as it stands in JSON, once and twice, in a URL, in hexadecimal and in base 64. */
function spellings(value: string): string[] {
  const inJson = JSON.stringify(value).slice(1, -1);
  const bytes = Buffer.from(value);
  return [
    ...new Set([
      value,
      value.toLowerCase(), // session keys are in lower case
      inJson,
      JSON.stringify(inJson).slice(1, -1),
      encodeURIComponent(value.toWellFormed()),
      bytes.toString("hex"),
      ...inBase64(bytes, "base64"),
      ...inBase64(bytes, "base64url"),
    ]),
  ];
}

/**
 * In full, and what the bytes always look like when more was encoded along with them, as in `Authorization: Basic`,
 * where a name comes first. Three bytes become four characters, so that depends on how many come before; characters
 * that are made of a neighbour's bits too are left out.
 */
function inBase64(bytes: Buffer, encoding: "base64" | "base64url"): string[] {
  const within = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString(encoding)
      .slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)),
  );
  return [bytes.toString(encoding), ...within];
}

const LAST_PAIR = MIN_SECRET_LENGTH - 2;
const PAIRS = 0x1_0000;

/**
 * Finds all forms in one pass (Wu and Manber's way): the last two characters of a window tell how far it can be moved
 * before they could stand in the beginning of a form, which is nearly always almost the whole window. A form is as long
 * as the window or longer.
 */
function createFinder(forms: readonly Form[]): (text: string) => Hole[] {
  const byStart = Map.groupBy(
    forms.toSorted((a, b) => b.text.length - a.text.length),
    ({ text }) => text.slice(0, MIN_SECRET_LENGTH),
  );
  const moves = new Uint8Array(PAIRS).fill(LAST_PAIR + 1);
  for (const start of byStart.keys())
    for (let at = 0; at <= LAST_PAIR; at++) {
      const pair = pairAt(start, at);
      moves[pair] = Math.min(moves[pair]!, LAST_PAIR - at);
    }
  return (text) => {
    const holes: Hole[] = [];
    for (let at = LAST_PAIR; at < text.length - 1;) {
      const move = moves[pairAt(text, at)]!;
      if (move > 0) {
        at += move;
        continue;
      }
      const from = at++ - LAST_PAIR;
      const likely = byStart.get(text.slice(from, from + MIN_SECRET_LENGTH));
      const form = likely?.find((each) => text.startsWith(each.text, from));
      if (form !== undefined) addHole(holes, form.name, from, from + form.text.length);
    }
    return holes;
  };
}

/** Two characters as a number, which others may share. */
function pairAt(text: string, at: number): number {
  return (text.charCodeAt(at) * 31 + text.charCodeAt(at + 1) * 257) & (PAIRS - 1);
}

/** Holes come in the order of the text. One inside another is not named; of those that overlap, both are. */
function addHole(holes: Hole[], name: string, from: number, to: number): void {
  const last = holes.at(-1);
  if (last === undefined || from >= last.to) holes.push({ from, to, names: [name] });
  else if (to > last.to) {
    last.to = to;
    if (!last.names.includes(name)) last.names.push(name);
  }
}
