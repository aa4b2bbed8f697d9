/**
 * What Cortex does to the files of a team, as values: they can be written down, and done again where somebody else
 * has overwritten them. `applyEdit` makes the smallest change of the text that does it; every other byte stays.
 */
import type { TaskRef } from "./task.ts";

export type TaskEdit =
  /** At the end of the file, before the comment of the tick where that is last. */
  | {
      readonly kind: "add";
      readonly title: string;
      /**
       * Which one of this title it will be. With it, adding twice is adding once; `settleEdit` fills it in, from
       * what the file says when the edit is first made. Without, it is added every time.
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
  /** A line `- <stamp> <text>` more below `### Progress` of the task. */
  | { readonly kind: "note"; readonly task: TaskRef; readonly stamp: string; readonly text: string }
  /** The one line `Progress: <text>` of the task's body. */
  | { readonly kind: "progress"; readonly task: TaskRef; readonly text: string }
  /** The comment of our prefix at the end of the file, and no other. */
  | { readonly kind: "tick"; readonly stamp: string }
  /** Only what is done. */
  | { readonly kind: "remove"; readonly tasks: readonly RemovedTask[] };

/** Where it comes with its text, it is found by that, and stays if it was edited since. */
export interface RemovedTask extends TaskRef {
  readonly text?: string;
  /** How many tasks with the very same text stay. */
  readonly twins?: number;
}

export type NoteEdit =
  /** A field of the frontmatter. */
  | { readonly kind: "field"; readonly name: string; readonly value: string }
  /** `Last session:` and `Status:` anew at the top of `## Session Log`; what stood there moves down. */
  | { readonly kind: "session"; readonly date: string; readonly status: string }
  /** Only the latest entry of `## Session Log` stays. */
  | { readonly kind: "trim-log" };

/** An edit of one file. */
export type FileEdit =
  | { readonly file: "tasks"; readonly edit: TaskEdit }
  | { readonly file: "note"; readonly edit: NoteEdit };
