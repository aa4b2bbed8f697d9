/**
 * A completed task is not run again, whatever the file says later: an older copy that was saved or synced may show it as
 * ready. It is then marked done again.
 *
 * But someone may want the same task once more. That is clear if the file still has the completed one, or if the journal has
 * a newer dispatch. After housekeeping has removed the completed task, the same text is a new task; a weekly task could
 * otherwise not be written by hand.
 */
import { DAY_MS } from "../../model/durations.ts";
import type { TaskEdit } from "../markdown/edit.ts";
import { KEEP_DONE_DAYS } from "../reports/housekeeping.ts";
import { type DoneTask, MAX_DONE_TASKS, type MemberState, refOf } from "./member-state.ts";
import { findTask, readTasks } from "../markdown/read-tasks.ts";
import { gistOf } from "../markdown/task-gist.ts";
import type { Task, TaskFile, TaskRef } from "../markdown/task.ts";
import type { TeamFolder } from "../files/team-folder.ts";

interface DoneKnowledge extends Pick<MemberState, "done"> {
  readonly nowMs: number;
  /** When a task with this gist was last dispatched; 0 if unknown. */
  readonly addedMs: (gist: string) => number;
}

/** The earlier completion, if the task must not be run again. */
export function doneBefore(
  task: Task,
  { tasks }: Pick<TaskFile, "tasks">,
  { done = [], nowMs, addedMs }: DoneKnowledge,
): DoneTask | undefined {
  const gist = gistOf(task);
  const before = done.filter((each) => each.gist === gist && nowMs - each.atMs <= KEEP_DONE_DAYS * DAY_MS);
  if (before.length === 0) return undefined;
  if (task.status === "in-progress") return before.findLast(({ started }) => started === task.started);
  if (addedMs(gist) > Math.max(...before.map(({ atMs }) => atMs))) return undefined;
  const shown = tasks.filter((each) => each.status === "done" && gistOf(each) === gist);
  if (shown.length >= before.length) return undefined;
  const stamps = new Set(shown.map(({ completed }) => completed));
  return before.findLast(({ completed }) => !stamps.has(completed)) ?? before.at(-1);
}

export function withDone(state: MemberState, done: DoneTask): MemberState {
  const others = (state.done ?? []).filter(
    ({ gist, started, completed }) =>
      gist !== done.gist || started !== done.started || completed !== done.completed,
  );
  return { ...state, done: [...others, done].slice(-MAX_DONE_TASKS) };
}

/** Marks a task done in the file. Idempotent. */
export async function markDone(
  folder: TeamFolder,
  tasksPath: string,
  { task, done }: { readonly task: TaskRef; readonly done: DoneTask },
): Promise<void> {
  const { started = done.completed, completed } = done;
  const move = (from: Task["status"], edit: TaskEdit) =>
    folder.editFrom(tasksPath, (now) => {
      const found = findTask(readTasks(now), task);
      return found !== undefined && found.status === from && gistOf(found) === done.gist
        ? { file: "tasks", edit }
        : undefined;
    });
  await move("ready", { kind: "claim", task: { title: task.title, ordinal: task.ordinal }, stamp: started });
  const claimed = refOf({ ...task, started });
  const summary = `Already done on ${completed}, so it was not run again. To run it once more, dispatch it again or change its text.`;
  await move("in-progress", { kind: "complete", task: claimed, stamp: completed, summary });
}
