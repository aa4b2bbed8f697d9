import type { Wanted } from "./relevance.ts";
import { words } from "./words.ts";

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
    const weight = weights[i]!;
    if (weight <= best) return;
    const parts = term.text.split(" ");
    const at = row.findIndex((_, start) =>
      parts.every((part, offset) => {
        const word = row[start + offset]?.text;
        return word === part || (term.begins && word?.startsWith(part) === true);
      }),
    );
    if (at === -1) return;
    place = row[at]!.at;
    best = weight;
  });
  return place;
}

/** Where a cut went through a character of two units, its half goes. */
function trimHalves(part: string): string {
  return part.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");
}
