/** What Cortex knows about a member beyond its files. Kept in the store. */
import { createHash } from "node:crypto";

import type { EventId, RelayId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import { findTask } from "../markdown/read-tasks.ts";
import type { Task, TaskFile, TaskRef } from "../markdown/task.ts";

/** Written to the store as it is, so it consists of type aliases: those are JSON to the compiler. */
export type MemberState = {
  /** The last heartbeat in which there was something to do. */
  readonly tickMs?: number;
  /** The stamp that we wrote last: another one in the file is somebody else's. */
  readonly tick?: string;
  /** The newest tick of somebody else that we have seen. */
  readonly foreignTickMs?: number;
  readonly work?: CurrentTask;
  readonly troubles?: readonly Trouble[];
  /** What it has done, oldest first. */
  readonly done?: readonly DoneTask[];
  /** Of unfinished tasks, oldest first. */
  readonly causes?: readonly TaskCause[];
  readonly duty?: Duty;
};

type KeptRef = { readonly title: string; readonly ordinal: number; readonly started?: string };

/** A task that was done, so that it is not done again whatever its file says later. */
export type DoneTask = {
  readonly gist: string;
  readonly started?: string;
  readonly completed: string;
  readonly atMs: number;
};

/** The event that led to a task. */
export type TaskCause = { readonly gist: string; readonly event: EventId; readonly atMs: number };

/** Older ones are forgotten. */
export const MAX_DONE_TASKS = 500;

/** What the coordinator has done. */
export type Duty = {
  /** When the coordinator began to watch the clock: it did not miss what was due before. */
  readonly sinceMs: number;
  /** Concerns that people were told of and that still hold. */
  readonly told: readonly string[];
  /** The digest of what its session was given last. */
  readonly given?: string;
  /** The days of the last ones. */
  readonly briefing?: string;
  readonly review?: string;
};

/** The task that a member works on, or is about to. */
export type CurrentTask = KeptRef & {
  /** Everything that is asked for on its behalf derives its id from this one, so asking again changes nothing. */
  readonly id: string;
  /** Of the task as it was claimed. */
  readonly gist?: string;
  /** The relay that runs it. It is waited for, whatever is edited meanwhile. */
  readonly relay?: RelayId;
};

/** A task that did not go well. */
export type Trouble = KeptRef & {
  readonly failures: number;
  /** The digest of the task when it was flagged. Once it differs, somebody has edited the task. */
  readonly flagged?: string;
  /** The event that asked for the turn in which it went wrong. */
  readonly event?: EventId;
};

/** After this many failures a task is flagged. */
export const MAX_FAILURES = 3;

export function readMemberState(stored: Json | undefined): MemberState {
  return (stored ?? {}) as MemberState;
}

export function refOf({ title, ordinal, started }: TaskRef): KeptRef {
  return { title, ordinal, ...(started === undefined ? {} : { started }) };
}

export function digestOf({ text }: Pick<Task, "text">): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** What went wrong with a task, unless somebody has edited it since it was flagged. */
export function troubleWith(task: Task, { troubles = [] }: MemberState): Trouble | undefined {
  const trouble = troubles.find((each) => isSameTask(each, task));
  const isEdited = trouble?.flagged !== undefined && trouble.flagged !== digestOf(task);
  return isEdited ? undefined : trouble;
}

/** Whether we have worked on it before. */
export function isKnown(task: Task, { troubles = [] }: MemberState): boolean {
  return troubles.some((each) => isSameTask(each, task));
}

/** Without this task, and without tasks that are no longer in progress. */
export function troublesBut(
  task: TaskRef,
  { troubles = [] }: MemberState,
  file: Pick<TaskFile, "tasks">,
): Trouble[] {
  return troubles.filter((each) => !isSameTask(each, task) && findTask(file, each)?.status === "in-progress");
}

export function isSameTask(a: TaskRef, b: TaskRef): boolean {
  if (a.title !== b.title) return false;
  return a.started === undefined ? a.ordinal === b.ordinal : a.started === b.started;
}
