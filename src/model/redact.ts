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
  readonly to: number;
  readonly names: readonly string[];
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

/** As it is, as it stands in JSON, once and twice, in a URL, in hexadecimal and in base 64. */
function spellings(value: string): string[] {
  const inJson = JSON.stringify(value).slice(1, -1);
  const bytes = Buffer.from(value);
  return [
    ...new Set([
      value,
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

const FACTOR = 31;
/** What the character weighs that leaves the window. */
const LEAVING = Array.from({ length: MIN_SECRET_LENGTH }).reduce(
  (power: number) => Math.imul(power, FACTOR),
  1,
);
const MARKS = 0xffff;

/**
 * Finds all forms in one pass (Rabin and Karp's way): a number that stands for the last characters is carried along,
 * and where it is that of the beginning of a form, the text is compared. A form is as long as that window or longer.
 */
function createFinder(forms: readonly Form[]): (text: string) => Hole[] {
  const byHash = Map.groupBy(
    forms.toSorted((a, b) => b.text.length - a.text.length),
    ({ text }) => hashOf(text.slice(0, MIN_SECRET_LENGTH)),
  );
  const isMarked = new Uint8Array(MARKS + 1);
  for (const hash of byHash.keys()) isMarked[hash & MARKS] = 1;
  return (text) => {
    const holes: Hole[] = [];
    let hash = 0;
    for (let at = 0; at < text.length; at++) {
      hash = (Math.imul(hash, FACTOR) + text.charCodeAt(at)) | 0;
      const from = at - MIN_SECRET_LENGTH + 1;
      if (from > 0) hash = (hash - Math.imul(text.charCodeAt(from - 1), LEAVING)) | 0;
      if (from < 0 || isMarked[hash & MARKS] === 0) continue;
      const form = byHash.get(hash)?.find((each) => text.startsWith(each.text, from));
      if (form !== undefined) addHole(holes, { from, to: from + form.text.length, names: [form.name] });
    }
    return holes;
  };
}

function hashOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, FACTOR) + text.charCodeAt(at)) | 0;
  return hash;
}

/** Holes come in the order of the text. One inside another is not named; of those that overlap, both are. */
function addHole(holes: Hole[], hole: Hole): void {
  const last = holes.at(-1);
  if (last === undefined || hole.from >= last.to) holes.push(hole);
  else if (hole.to > last.to) {
    const names = [...new Set([...last.names, ...hole.names])];
    holes[holes.length - 1] = { from: last.from, to: hole.to, names };
  }
}
