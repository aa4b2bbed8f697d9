/** A task of a member, as its file says it. */
export type TaskStatus = "ready" | "in-progress" | "done";

/** Titles may repeat: the first of a title has ordinal 1, in the order of the file. */
export interface TaskRef {
  readonly title: string;
  readonly ordinal: number;
  /**
   * Where it is known, the task of this title that was started then is meant, whatever its ordinal is by now:
   * housekeeping may have taken out one above it.
   */
  readonly started?: string | undefined;
}

export interface Task extends TaskRef {
  /** Undefined: the file says something that is no status. It is kept, and the task is not active. */
  readonly status: TaskStatus | undefined;
  readonly statusText: string;
  /** As written: `2026-03-28T10:15`, local time without a zone. */
  readonly started: string | undefined;
  readonly completed: string | undefined;
  /** Of `**Template:** <name>`: the task is run as a relay. */
  readonly template: string | undefined;
  /** Of `**External:** <path>`: somebody else's task file, which the task stands for. */
  readonly external: string | undefined;
  /** Below the metadata, without the summary, comments of ticks and empty lines at both ends. */
  readonly body: string;
  /** Of `### Summary`. */
  readonly summary: string | undefined;
  /** Of its heading, from 1. */
  readonly line: number;
  /** The whole block as it stands in the file, from its heading to the next one; comments of ticks excepted. */
  readonly text: string;
}

export interface TaskFile {
  readonly tasks: readonly Task[];
  /** The last one with our prefix. */
  readonly tick: { readonly stamp: string; readonly line: number } | undefined;
  readonly problems: readonly FileProblem[];
}

/** A deviation from the format, with what is done about it. */
export interface FileProblem {
  /** From 1. */
  readonly line: number;
  /** What is wrong, in a word: `status-unknown`, `tick-doubled`, `metadata-order` … The list is in `lint.ts`. */
  readonly rule: string;
  readonly message: string;
  readonly hint: string;
}

export function isActive({ status }: Pick<Task, "status">): boolean {
  return status === "ready" || status === "in-progress";
}

/** Only in full: `ready-later` is none. */
export function asStatus(text: string): TaskStatus | undefined {
  return text === "ready" || text === "in-progress" || text === "done" ? text : undefined;
}

/** The seed's own title for such a task, with any of the dashes that people type. */
const SEED_TITLE = /^Execute Shuttle tasks (?:—|–|-|--) report status$/i;
const SEED_FILE = ".shuttle.md";

/** The file that a task stands for. Undefined: it is a task of its own. */
export function externalPathOf({ title, external }: Pick<Task, "title" | "external">): string | undefined {
  return external ?? (SEED_TITLE.test(title) ? SEED_FILE : undefined);
}
