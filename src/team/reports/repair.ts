/**
 * Fixes what can be fixed without a decision. No repair changes what a task is, whether it is active, or what anyone wrote in
 * it.
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

/** Returns the changed files. Throws what `TeamFolder` throws; earlier repairs stay. */
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

/** All repairs of a task file. Idempotent. */
export function repairTasks(text: string): string {
  return repairTicks(repairMetadata(text));
}

/** Leaves only the last tick, at the end. */
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
 * Metadata lines start at the margin, with the status first. The others keep their order, each moving to the place of the
 * next: so foreign metadata between them stays in place.
 */
function splicesOf(text: string, { metadata, doubled, status }: TaskBlock): Splice[] {
  const places = [...metadata, ...doubled].toSorted((a, b) => a.start - b.start);
  const wanted = [status, ...places.filter((line) => line !== status)];
  return places.flatMap(({ start, end }, i): Splice[] => {
    const { start: from, end: to } = wanted[i] ?? status;
    const line = text.slice(from, to).trimStart();
    return line === text.slice(start, end) ? [] : [{ from: start, to: end, text: line }];
  });
}
