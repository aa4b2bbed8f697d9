/** The known word that was probably meant, if any is close enough to be worth suggesting. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const wanted = word.toLowerCase();
  const close = known
    .map((candidate) => ({ candidate, distance: distanceOf(wanted, candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= Math.max(1, Math.floor(wanted.length / 3)))
    .toSorted((a, b) => a.distance - b.distance);
  return close[0]?.candidate ?? known.find((candidate) => extendsEachOther(wanted, candidate.toLowerCase()));
}

/** What to say about a word that is not one of these. */
export function suggest(word: string, known: readonly string[]): string {
  const meant = nearest(word, known);
  if (meant !== undefined) return `Did you mean ${JSON.stringify(meant)}?`;
  if (known.length > MAX_SUGGESTED) return `${known.length} names are known.`;
  return `Use one of ${known.join(", ")}.`;
}

const MAX_SUGGESTED = 30;
const MAX_COMPARED = 64;

/** How many letters to add, drop, change or swap to come from one word to the other. */
function distanceOf(from: string, to: string): number {
  if (from.length > MAX_COMPARED || to.length > MAX_COMPARED) return Infinity;
  const table = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const cell = (line: number, column: number): number => table[line]?.[column] ?? Infinity;
  for (let line = 1; line <= from.length; line++) {
    const row = [line];
    table.push(row);
    for (let column = 1; column <= to.length; column++) {
      const change = cell(line - 1, column - 1) + (from[line - 1] === to[column - 1] ? 0 : 1);
      const isSwap = from[line - 1] === to[column - 2] && from[line - 2] === to[column - 1];
      const swap = isSwap ? cell(line - 2, column - 2) + 1 : Infinity;
      row.push(Math.min(change, swap, cell(line - 1, column) + 1, cell(line, column - 1) + 1));
    }
  }
  return cell(from.length, to.length);
}

function extendsEachOther(a: string, b: string): boolean {
  return Math.min(a.length, b.length) >= 3 && (a.startsWith(b) || b.startsWith(a));
}
