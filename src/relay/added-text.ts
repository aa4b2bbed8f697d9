/** What a step added to a text. Agents append as a rule; where one has edited instead, it is the lines that are new. */
export function addedText(before: string, after: string): string {
  if (after.startsWith(before)) return after.slice(before.length);
  const known = new Map<string, number>();
  for (const line of before.split("\n")) known.set(line, (known.get(line) ?? 0) + 1);
  // A line that was only moved is not new, so lines are counted, not aligned.
  const added = after.split("\n").filter((line) => {
    const left = known.get(line) ?? 0;
    if (left > 0) known.set(line, left - 1);
    return left === 0;
  });
  return added.join("\n");
}
