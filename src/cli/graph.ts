/**
 * Draws a tree of turns as git draws one of commits: newest first, a column for each branch.
 *
 * Reading down is going back in time, so branches never split, they only join: each column waits for the
 * parent of the turn that was drawn in it last, and where several wait for the same turn they become one.
 */

export interface Node {
  readonly id: string;
  readonly parent: string | undefined;
  readonly label: string;
}

/** The nodes come in an order in which none stands above one that follows it. */
export function drawGraph(nodes: readonly Node[]): string[] {
  const lines: string[] = [];
  let columns: string[] = [];
  const known = new Set(nodes.map(({ id }) => id));
  for (const { id, parent, label } of nodes) {
    if (!columns.includes(id)) columns.push(id);
    const own = columns.indexOf(id);
    for (let last = columns.lastIndexOf(id); last > own; last = columns.lastIndexOf(id)) {
      lines.push(closeColumn(last, { into: own, width: columns.length }));
      columns = columns.toSpliced(last, 1);
    }
    lines.push(`${row(columns.length, own, "*")} ${label}`);
    if (parent !== undefined && known.has(parent)) {
      columns[own] = parent;
      continue;
    }
    if (parent !== undefined) lines.push(row(columns.length, own, ":")); // it goes on, and is not shown
    if (own < columns.length - 1) lines.push(closeColumn(own, { width: columns.length }));
    columns = columns.toSpliced(own, 1);
  }
  return lines;
}

function row(width: number, own: number, mark: string): string {
  return Array.from({ length: width }, (_, at) => (at === own ? mark : "|")).join(" ");
}

/** `|/ /`: a column ends, in another or in nothing, and those to its right move up. */
function closeColumn(column: number, { into, width }: { into?: number; width: number }): string {
  const line = Array.from({ length: 2 * width }, () => " ");
  for (let at = 0; at < width; at++) {
    if (at < column) line[2 * at] = "|";
    if (at > column || (at === column && into !== undefined)) line[2 * at - 1] = "/";
    if (into !== undefined && at >= into && at < column - 1) line[2 * at + 1] = "_";
  }
  return line.join("").trimEnd();
}
