/**
 * Edits of a team's files as values: they can be recorded, and redone if another program has overwritten them. `applyEdit`
 * makes the smallest change to the text; every other byte stays.
 */
import type { TaskRef } from "./task.ts";

export type TaskEdit =
  /** Adds a task at the end of the file, before a trailing tick comment. */
  | {
      readonly kind: "add";
      readonly title: string;
      /**
       * The ordinal the task will have among tasks with this title, which makes adding idempotent. `settleEdit` sets it from
       * the file when the edit is first made. Without it, the task is added every time.
       */
      readonly ordinal?: number;
      readonly body?: string;
      readonly template?: string;
      readonly external?: string;
    }
  /** ready → in-progress, with Started. */
  | { readonly kind: "claim"; readonly task: TaskRef; readonly stamp: string }
  /** in-progress → done, with Completed and `### Summary`. */
  | { readonly kind: "complete"; readonly task: TaskRef; readonly stamp: string; readonly summary: string }
  /** Adds a line `- <stamp> <text>` below `### Progress` of the task. */
  | { readonly kind: "note"; readonly task: TaskRef; readonly stamp: string; readonly text: string }
  /** Sets the one line `Progress: <text>` in the task's body. */
  | { readonly kind: "progress"; readonly task: TaskRef; readonly text: string }
  /** Leaves exactly one tick comment with our prefix, at the end of the file. */
  | { readonly kind: "tick"; readonly stamp: string }
  /** Removes tasks that are done. */
  | { readonly kind: "remove"; readonly tasks: readonly RemovedTask[] };

/** Found by its text, if that is given; a task that was edited since then stays. */
export interface RemovedTask extends TaskRef {
  readonly text?: string;
  /** How many other tasks with the same text must stay. */
  readonly twins?: number;
}

export type NoteEdit =
  /** Sets a field of the frontmatter. */
  | { readonly kind: "field"; readonly name: string; readonly value: string }
  /** Adds an entry of `Last session:` and `Status:` at the top of `## Session Log`. */
  | { readonly kind: "session"; readonly date: string; readonly status: string }
  /** Removes all but the latest entry of `## Session Log`. */
  | { readonly kind: "trim-log" };

/** An edit of one file. */
export type FileEdit =
  | { readonly file: "tasks"; readonly edit: TaskEdit }
  | { readonly file: "note"; readonly edit: NoteEdit };
