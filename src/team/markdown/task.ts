/** A task of a member, as read from its file. */
export type TaskStatus = "ready" | "in-progress" | "done";

export const MAX_TITLE_LENGTH = 200;
export const MAX_BODY_LENGTH = 100_000;

/** Titles may repeat; ordinals count tasks with the same title from 1, in file order. */
export interface TaskRef {
  readonly title: string;
  readonly ordinal: number;
  /**
   * If known, this identifies the task among those with the same title, whatever its ordinal is by now: housekeeping may have
   * removed one above it.
   */
  readonly started?: string | undefined;
}

export interface Task extends TaskRef {
  /** Undefined: the status in the file is invalid. It is kept, and the task is not active. */
  readonly status: TaskStatus | undefined;
  readonly statusText: string;
  /** As written: `2026-03-28T10:15`, local time without a zone. */
  readonly started: string | undefined;
  readonly completed: string | undefined;
  /** From `**Template:** <name>`: the task runs as a relay. */
  readonly template: string | undefined;
  /** From `**External:** <path>`: the task file of another program that this task mirrors. */
  readonly external: string | undefined;
  /** The text below the metadata, without summary, tick comments, and blank lines at either end. */
  readonly body: string;
  /** From `### Summary`. */
  readonly summary: string | undefined;
  /** Of its heading, from 1. */
  readonly line: number;
  /** The whole block as written, from its heading to the next one, without tick comments. */
  readonly text: string;
}

export interface TaskFile {
  readonly tasks: readonly Task[];
  /** The last tick comment with our prefix. */
  readonly tick: { readonly stamp: string; readonly line: number } | undefined;
  readonly problems: readonly FileProblem[];
}

/** A deviation from the format. */
export interface FileProblem {
  /** From 1. */
  readonly line: number;
  /** `status-unknown`, `tick-doubled`, `metadata-order` … All rules are listed in `lint.ts`. */
  readonly rule: string;
  readonly message: string;
  readonly hint: string;
}

export function isActive({ status }: Pick<Task, "status">): boolean {
  return status === "ready" || status === "in-progress";
}

/** Exact match only: `ready-later` is not a status. */
export function asStatus(text: string): TaskStatus | undefined {
  return text === "ready" || text === "in-progress" || text === "done" ? text : undefined;
}

/** The seed's title for such a task, with any dash that people type. */
const SEED_TITLE = /^Execute Shuttle tasks (?:—|–|-|--) report status$/i;
const SEED_FILE = ".shuttle.md";

/** The external file that a task mirrors. Undefined: an ordinary task. */
export function externalPathOf({ title, external }: Pick<Task, "title" | "external">): string | undefined {
  return external ?? (SEED_TITLE.test(title) ? SEED_FILE : undefined);
}
