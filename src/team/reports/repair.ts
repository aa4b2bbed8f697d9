/**
 * Puts right what can be put right without a decision: nothing is repaired that could change what a task is, whether
 * it is active, or what anybody wrote in it.
 */
import { applyEdit } from "../markdown/apply-edit.ts";
import { type Splice, spliced } from "../markdown/splice.ts";
import { blocksOf, type TaskBlock } from "../markdown/task-blocks.ts";
import type { TeamProblem } from "../files/team.ts";
import type { TeamFolder } from "../files/team-folder.ts";
import { readTasks } from "../markdown/read-tasks.ts";

const REPAIRABLE: ReadonlySet<string> = new Set([
  "metadata-indented",
  "metadata-order",
  "tasks-missing",
  "tick-doubled",
  "tick-misplaced",
]);

export function isRepairable({ rule }: Pick<TeamProblem, "rule">): boolean {
  return REPAIRABLE.has(rule);
}

/** The files that were changed. Throws what `TeamFolder` does; what was repaired until then stays so. */
export async function repair(folder: TeamFolder, problems: readonly TeamProblem[]): Promise<string[]> {
  const changed: string[] = [];
  const byFile = Map.groupBy(problems.filter(isRepairable), ({ file }) => file);
  for (const [file, found] of byFile) {
    const isMissing = found.some(({ rule }) => rule === "tasks-missing");
    const isChanged = isMissing
      ? await folder.create(file, "")
      : (await folder.rewrite(file, repairTasks)).changed;
    if (isChanged) changed.push(file);
  }
  return changed;
}

/** All of the repairs that a task file may need; twice is the same as once. */
export function repairTasks(text: string): string {
  return repairTicks(repairMetadata(text));
}

/** The last tick, once, at the end. */
function repairTicks(text: string): string {
  const { tick } = readTasks(text);
  return tick === undefined
    ? text
    : applyEdit(text, { file: "tasks", edit: { kind: "tick", stamp: tick.stamp } });
}

function repairMetadata(text: string): string {
  return spliced(
    text,
    blocksOf(text).tasks.flatMap((task) => splicesOf(text, task)),
  );
}

/**
 * Lines of metadata begin at the margin, and the status is the first of them. The others move down in their order, each to
 * where the next one was: so the metadata of others that stands between stays between.
 */
function splicesOf(text: string, { metadata, doubled, status }: TaskBlock): Splice[] {
  const places = [...metadata, ...doubled].toSorted((a, b) => a.start - b.start);
  const wanted = [status, ...places.filter((line) => line !== status)];
  return places.flatMap(({ start, end }, i): Splice[] => {
    const line = text.slice(wanted[i]!.start, wanted[i]!.end).trimStart();
    return line === text.slice(start, end) ? [] : [{ from: start, to: end, text: line }];
  });
}
