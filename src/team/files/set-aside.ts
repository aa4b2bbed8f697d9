/**
 * Tasks that vanished from a task file, and of which nobody can tell whether a person took them out or a program saved an
 * older copy. Nobody works on them; they stand in a file of their own beside it, for people to move back or delete.
 */
import { randomUUID } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";

import { applyEdit } from "../markdown/apply-edit.ts";
import { unwritable } from "./file-failure.ts";
import { readState } from "./file-state.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import type { AddedTask } from "./restore-lost.ts";
import { gistOf } from "../markdown/task-gist.ts";

/** Beside `tasks.md`. */
export const REMOVED_FILE = "tasks.removed.md";
/** More than people look through. What comes after that is in the snapshots only. */
export const MAX_REMOVED_TASKS = 100;

const HEAD = `These tasks vanished from tasks.md: somebody took them out, or a program saved an older copy. Nobody works on them.
To have one done, move it back to tasks.md with the status ready. Otherwise delete it here, or delete this file.
`;

/** May be repeated: what is there already is not added. Throws `team_unreadable` and `team_unwritable`. */
export function setAside(path: string, shown: string, tasks: readonly AddedTask[]): void {
  const before = readState(path, shown)?.text ?? HEAD;
  const kept = readTasks(before).tasks;
  const known = new Set(kept.map(gistOf));
  const added = tasks.map(blockOf).filter((block) => !known.has(gistOf(readTasks(block).tasks[0]!)));
  if (added.length === 0) return;
  if (kept.length + added.length > MAX_REMOVED_TASKS)
    throw unwritable(shown, new Error(`it would hold more than ${MAX_REMOVED_TASKS} tasks`));
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    writeFileSync(draft, `${[before.trimEnd(), ...added].join("\n\n")}\n`, { flag: "wx" });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** As it was dispatched, with a status that no program takes for work. */
function blockOf(task: AddedTask): string {
  const text = applyEdit("", { file: "tasks", edit: { ...task, ordinal: 1 } });
  return text.replace("**Status:** ready", "**Status:** removed").trim();
}
