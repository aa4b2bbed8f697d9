/** What Cortex knows about a member beyond its files. Kept in the store. */
import { hash } from "node:crypto";

import type { EventId, RelayId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import { findTask } from "../markdown/read-tasks.ts";
import type { Task, TaskFile, TaskRef } from "../markdown/task.ts";

/** Stored as JSON. Made of type aliases, which the compiler accepts as JSON, unlike interfaces. */
export type MemberState = {
  /** The last heartbeat with something to do. */
  readonly tickMs?: number;
  /** The last stamp that we wrote: any other stamp in the file is foreign. */
  readonly tick?: string;
  /** The newest foreign tick seen. */
  readonly foreignTickMs?: number;
  readonly work?: CurrentTask;
  readonly troubles?: readonly Trouble[];
  /** Completed tasks, oldest first. */
  readonly done?: readonly DoneTask[];
  /** Causes of unfinished tasks, oldest first. */
  readonly causes?: readonly TaskCause[];
  /** Of unfinished tasks that hold words of others than the owner, oldest first. */
  readonly labels?: readonly TaskLabel[];
  readonly duty?: Duty;
};

type KeptRef = { readonly title: string; readonly ordinal: number; readonly started?: string };

/** A completed task, which is not run again whatever its file says later. */
export type DoneTask = {
  readonly gist: string;
  readonly started?: string;
  readonly completed: string;
  readonly atMs: number;
};

/** The event that led to a task. */
export type TaskCause = { readonly gist: string; readonly event: EventId; readonly atMs: number };

/** Whose words a task holds. */
export type TaskLabel = {
  readonly gist: string;
  /** Digests of its title and its longer lines. */
  readonly lines: readonly string[];
  readonly label: { readonly [set: string]: Json };
  readonly principal: string;
  readonly permissions?: Json;
};

/** Older ones are forgotten. */
export const MAX_DONE_TASKS = 500;

/** What the coordinator has done. */
export type Duty = {
  /** When the coordinator started watching the clock; reports due before that were not missed. */
  readonly sinceMs: number;
  /** Concerns that were reported and still hold. */
  readonly told: readonly string[];
  /** The digest of the last gift to its session. */
  readonly given?: string;
  /** The dates of the last briefing and review. */
  readonly briefing?: string;
  readonly review?: string;
};

/** The task that a member works on or is about to. */
export type CurrentTask = KeptRef & {
  /** Ids of everything requested for this work derive from this one, which makes requests idempotent. */
  readonly id: string;
  /** Of the task when it was claimed. */
  readonly gist?: string;
  /** The relay that runs it. We wait for it even if the task is edited meanwhile. */
  readonly relay?: RelayId;
};

/** A task that has failed or was flagged. */
export type Trouble = KeptRef & {
  readonly failures: number;
  /** The digest of the task when it was flagged. A different digest means that the task was edited. */
  readonly flagged?: string;
  /** The event that requested the turn that failed. */
  readonly event?: EventId;
};

/** After this many failures a task is flagged. */
export const MAX_TASK_FAILURES = 3;

export function readMemberState(stored: Json | undefined): MemberState {
  return (stored ?? {}) as MemberState;
}

export function refOf({ title, ordinal, started }: TaskRef): KeptRef {
  return { title, ordinal, ...(started === undefined ? {} : { started }) };
}

export function digestOf({ text }: Pick<Task, "text">): string {
  return hash("sha256", text).slice(0, 16);
}

/** The trouble with a task, unless the task was edited after it was flagged. */
export function troubleWith(task: Task, { troubles = [] }: MemberState): Trouble | undefined {
  const trouble = troubles.find((each) => isSameTask(each, task));
  const isEdited = trouble?.flagged !== undefined && trouble.flagged !== digestOf(task);
  return isEdited ? undefined : trouble;
}

/** Whether we have worked on it before. */
export function isKnown(task: Task, { troubles = [] }: MemberState): boolean {
  return troubles.some((each) => isSameTask(each, task));
}

/** Troubles of other tasks that are still in progress. */
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
