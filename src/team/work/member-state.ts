/** What Cortex knows of a member beside what its files say. It is kept in the store, and read back after a restart. */
import { createHash } from "node:crypto";

import type { EventId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import { findTask } from "../markdown/read-tasks.ts";
import type { Task, TaskFile, TaskRef } from "../markdown/task.ts";

export interface MemberState {
  /** The last heartbeat in which something was to be done. */
  readonly tickMs?: number;
  /** The stamp that we wrote last: another one in the file is somebody else's. */
  readonly tick?: string;
  /** Of the newest tick of somebody else that we have seen. */
  readonly foreignTickMs?: number;
  readonly work?: Work;
  readonly troubles?: readonly Trouble[];
  /** What it has done, oldest first. */
  readonly done?: readonly DoneTask[];
  /** Of tasks that are not done yet, oldest first. */
  readonly causes?: readonly TaskCause[];
  readonly duty?: Duty;
}

/** A task that was done, so that it is not done again whatever its file says later. */
export interface DoneTask {
  readonly gist: string;
  readonly started?: string;
  readonly completed: string;
  readonly atMs: number;
}

/** The event that led to a task. */
export interface TaskCause {
  readonly gist: string;
  readonly event: EventId;
  readonly atMs: number;
}

/** Older ones are forgotten. */
export const MAX_DONE_TASKS = 500;

/** What the coordinator has done. */
export interface Duty {
  /** Since when somebody looks at the clock: what was to be done before that was not missed. */
  readonly sinceMs: number;
  /** What people were told of, and is still so. */
  readonly told: readonly string[];
  /** The digest of what its session was given last. */
  readonly given?: string;
  /** The days of the last ones. */
  readonly briefing?: string;
  readonly review?: string;
}

/** The task that it works on, or is about to. */
export interface Work extends TaskRef {
  /** All that is asked for on its behalf has an id that is made from this one: asked for again, it is the same. */
  readonly id: string;
  /** Of the task as it was claimed. */
  readonly gist?: string;
  /** The relay that it is run as, once that has begun: whatever is edited meanwhile, it is this one that is waited for. */
  readonly relay?: string;
}

/** A task that did not go well. */
export interface Trouble extends TaskRef {
  readonly failures: number;
  /** The digest of the task when it was flagged. Once it reads otherwise, somebody has edited it. */
  readonly flagged?: string;
  /** The event that asked for the turn in which it went wrong. */
  readonly event?: EventId;
}

/** So many failures flag a task. */
export const MAX_FAILURES = 3;

export function readState(stored: Json | undefined): MemberState {
  return (stored ?? {}) as unknown as MemberState;
}

export function writeState(state: MemberState): Json {
  return state as unknown as Json;
}

export function refOf({ title, ordinal, started }: TaskRef): TaskRef {
  return { title, ordinal, ...(started === undefined ? {} : { started }) };
}

export function digestOf({ text }: Pick<Task, "text">): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** What went wrong with a task, unless somebody has edited it since it was flagged. */
export function troubleWith(task: Task, { troubles = [] }: MemberState): Trouble | undefined {
  const trouble = troubles.find((each) => isSame(each, task));
  const isEdited = trouble?.flagged !== undefined && trouble.flagged !== digestOf(task);
  return isEdited ? undefined : trouble;
}

/** Whether we have worked on it before. */
export function isKnown(task: Task, { troubles = [] }: MemberState): boolean {
  return troubles.some((each) => isSame(each, task));
}

/** Without what was known of this task, and of tasks that are not in progress any more. */
export function troublesBut(
  task: TaskRef,
  { troubles = [] }: MemberState,
  file: Pick<TaskFile, "tasks">,
): Trouble[] {
  return troubles.filter((each) => !isSame(each, task) && findTask(file, each)?.status === "in-progress");
}

export function isSame(a: TaskRef, b: TaskRef): boolean {
  if (a.title !== b.title) return false;
  return a.started === undefined ? a.ordinal === b.ordinal : a.started === b.started;
}
