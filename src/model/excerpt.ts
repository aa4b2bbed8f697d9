import type { Wanted } from "./relevance.ts";
import { type Term, type Word, words } from "./words.ts";

/** How much stands before the place that matters, of all that is shown. */
const LEAD_SHARE = 0.25;

/** The part of a text where the query's most telling term stands, or its beginning; cut ends are marked. */
export function excerpt(text: string, wanted: Wanted, length: number): string {
  if (text.length <= length) return text;
  const room = Math.max(length - 2, 1);
  const lead = Math.floor(room * LEAD_SHARE);
  const from = Math.max(0, Math.min(placeOf(text, wanted) - lead, text.length - room));
  const part = trimHalves(text.slice(from, from + room));
  return `${from > 0 ? "…" : ""}${part}${from + room < text.length ? "…" : ""}`;
}

function placeOf(text: string, { query, weights }: Wanted): number {
  const row = words(text);
  let place = 0;
  let best = -1;
  query.terms.forEach((term, i) => {
    const weight = weights[i] ?? 0;
    if (weight <= best) return;
    const found = row[firstOf(row, term)];
    if (found === undefined) return;
    place = found.at;
    best = weight;
  });
  return place;
}

function firstOf(row: readonly Word[], { text, begins }: Term): number {
  const [first = "", ...rest] = text.split(" ");
  for (const [at, { text: word }] of row.entries()) {
    if (word !== first && !(begins && word.startsWith(first))) continue;
    if (rest.every((part, offset) => row[at + 1 + offset]?.text === part)) return at;
  }
  return -1;
}

/** Where a cut went through a character of two units, its half goes. */
function trimHalves(part: string): string {
  return part.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");
}
