/** Writes into the files of a member how its work has ended. All of it may be done again: it is done once. */
import { dateOf } from "../../model/day.ts";
import type { NoteEdit, TaskEdit } from "../markdown/edit.ts";
import { flagStatus, flagText } from "../markdown/flag.ts";
import {
  digestOf,
  type DoneTask,
  MAX_FAILURES,
  refOf,
  type Trouble,
  type CurrentTask,
} from "./member-state.ts";
import { findTask, readTasks } from "../markdown/read-tasks.ts";
import { toStamp } from "../markdown/stamp.ts";
import { gistOf } from "../markdown/task-gist.ts";
import type { Task, TaskFile } from "../markdown/task.ts";
import type { TeamFolder } from "../files/team-folder.ts";
import type { WorkEnd } from "./work-end.ts";

export interface EndedMember {
  readonly tasksPath: string;
  readonly notePath: string;
}

export interface EndedWork {
  readonly work: CurrentTask;
  readonly end: WorkEnd;
  /** How often it had failed before. */
  readonly failures: number;
  readonly timezone: string;
}

/** The task file as it is now, and what is known of the task if it did not go well. */
export async function recordEnd(
  { tasksPath, notePath }: EndedMember,
  ended: EndedWork,
  folder: TeamFolder,
): Promise<{
  readonly file: TaskFile;
  readonly trouble: Trouble | undefined;
  readonly isFlagged: boolean;
  readonly done: DoneTask | undefined;
}> {
  const { work, end, timezone } = ended;
  const stamp = toStamp(end.atMs, timezone);
  const failures = ended.failures + (end.kind === "failed" ? 1 : 0);
  const reason = flagReason(end, failures);
  let text = "";
  if (end.kind === "done") await claimAgain(tasksPath, work, folder);
  for (const edit of editsFor({ ...ended, stamp, failures, reason })) {
    ({ text } = await folder.editFrom(tasksPath, (now) => {
      const task = findTask(readTasks(now), work);
      return task?.status === "in-progress" ? { file: "tasks", edit } : undefined; // else somebody was faster
    }));
  }
  const log: NoteEdit = {
    kind: "session",
    date: dateOf(end.atMs, timezone),
    status: logStatus(work, end, reason),
  };
  await folder.edit(notePath, { file: "note", edit: log });
  const file = readTasks(text);
  const task = findTask(file, work);
  return {
    file,
    trouble: troubleOf(task, { work, failures, reason }),
    isFlagged: reason !== undefined,
    done: doneOf(work, end, stamp),
  };
}

/** An older copy that somebody saved while the turn ran says that the task is ready. It is done all the same. */
async function claimAgain(
  tasksPath: string,
  { title, ordinal, started, gist }: CurrentTask,
  folder: TeamFolder,
): Promise<void> {
  if (started === undefined) return;
  await folder.editFrom(tasksPath, (now) => {
    const task = findTask(readTasks(now), { title, ordinal, started });
    if (task?.status !== "ready" || gistOf(task) !== gist) return undefined;
    return {
      file: "tasks",
      edit: { kind: "claim", task: refOf({ title, ordinal: task.ordinal }), stamp: started },
    };
  });
}

function doneOf({ gist, started }: CurrentTask, end: WorkEnd, completed: string): DoneTask | undefined {
  if (end.kind !== "done" || gist === undefined) return undefined;
  return { gist, ...(started === undefined ? {} : { started }), completed, atMs: end.atMs };
}

/** Why the task is flagged. Undefined: it is not. */
function flagReason(end: WorkEnd, failures: number): string | undefined {
  if (end.kind === "flagged") return end.reason;
  return end.kind === "failed" && failures >= MAX_FAILURES
    ? `failed ${failures} times, last with: ${end.error}`
    : undefined;
}

function editsFor({
  work,
  end,
  stamp,
  failures,
  reason,
}: EndedWork & { readonly stamp: string; readonly reason: string | undefined }): TaskEdit[] {
  const task = refOf(work);
  const note = (text: string): TaskEdit => ({ kind: "note", task, stamp, text });
  const flag = reason === undefined ? [] : [note(flagText(reason))];
  switch (end.kind) {
    case "done":
      return [{ kind: "complete", task, stamp, summary: end.summary }];
    case "flagged":
      return flag;
    case "failed":
      return [note(`attempt ${failures} failed: ${end.error}`), ...flag];
  }
}

function logStatus({ title }: CurrentTask, end: WorkEnd, reason: string | undefined): string {
  if (reason !== undefined) return flagStatus(title, reason);
  if (end.kind === "done") return `active — done: ${title}`;
  return `active — ${title} failed and is tried again: ${end.kind === "failed" ? end.error : end.reason}`;
}

function troubleOf(
  task: Task | undefined,
  known: { readonly work: CurrentTask; readonly failures: number; readonly reason: string | undefined },
): Trouble | undefined {
  if (task?.status !== "in-progress") return undefined;
  const { work, failures, reason } = known;
  return { ...refOf(work), failures, ...(reason === undefined ? {} : { flagged: digestOf(task) }) };
}
