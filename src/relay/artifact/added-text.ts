import { inSlices, linesOf, type Sliced } from "../../model/in-slices.ts";

/** How many lines are looked at before others may get their turn. */
const LINES_AT_ONCE = 1_000;

/** What a step added to a text. Agents append as a rule; where one has edited instead, it is the lines that are new. */
export async function addedText(before: string, after: string): Promise<string> {
  return after.startsWith(before) ? after.slice(before.length) : inSlices(newLines(before, after));
}

/** A line that was only moved is not new, so lines are counted, not aligned. */
function* newLines(before: string, after: string): Sliced<string> {
  const known = new Map<string, number>();
  let seen = 0;
  for (const line of linesOf(before)) {
    known.set(line, (known.get(line) ?? 0) + 1);
    if (++seen % LINES_AT_ONCE === 0) yield;
  }
  const added: string[] = [];
  for (const line of linesOf(after)) {
    const left = known.get(line) ?? 0;
    if (left > 0) known.set(line, left - 1);
    else added.push(line);
    if (++seen % LINES_AT_ONCE === 0) yield;
  }
  return added.join("\n");
}
