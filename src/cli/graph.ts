/**
 * Draws a tree of turns like `git log --graph`: newest first, one column per branch.
 *
 * Downwards is back in time, so branches only join: each column waits for the parent of the last turn drawn in it, and
 * columns that wait for the same turn merge.
 */

export interface GraphNode {
  readonly id: string;
  readonly parent: string | undefined;
  readonly label: string;
}

/** Children come before their parents. */
export function drawGraph(nodes: readonly GraphNode[]): string[] {
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
    if (parent !== undefined) lines.push(row(columns.length, own, ":")); // the parent is not shown
    if (own < columns.length - 1) lines.push(closeColumn(own, { width: columns.length }));
    columns = columns.toSpliced(own, 1);
  }
  return lines;
}

function row(width: number, own: number, mark: string): string {
  return Array.from({ length: width }, (_, at) => (at === own ? mark : "|")).join(" ");
}

/** `|/ /`: a column ends or joins another, and the columns to its right move left. */
function closeColumn(column: number, { into, width }: { into?: number; width: number }): string {
  const line = Array.from({ length: 2 * width }, () => " ");
  for (let at = 0; at < width; at++) {
    if (at < column) line[2 * at] = "|";
    if (at > column || (at === column && into !== undefined)) line[2 * at - 1] = "/";
    if (into !== undefined && at >= into && at < column - 1) line[2 * at + 1] = "_";
  }
  return line.join("").trimEnd();
}
