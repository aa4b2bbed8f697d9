/**
 * Tasks that vanished from a task file, either removed by a person or lost because a program saved an older copy. Nobody works
 * on them; they are kept in a separate file next to it, for people to move back or delete.
 */
import { randomUUID } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";

import { unwritable } from "./team-errors.ts";
import { readState } from "./file-state.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import { type AddedTask, taskOfEdit } from "./restore-lost.ts";
import { gistOf } from "../markdown/task-gist.ts";

/** Next to `tasks.md`. */
export const REMOVED_FILE = "tasks.removed.md";
/** More than people look through. Further tasks are in the snapshots only. */
export const MAX_REMOVED_TASKS = 100;

const HEAD = `These tasks vanished from tasks.md: a person removed them, or a program saved an older copy. Nobody works on them.
To have one done, move it back to tasks.md and set its status to ready. Otherwise delete it here, or delete this file.
`;

/** Idempotent: tasks that are already there are not added again. Throws `team_unreadable` and `team_unwritable`. */
export function setAside(path: string, shown: string, tasks: readonly AddedTask[]): void {
  const before = readState(path, shown)?.text ?? HEAD;
  const kept = readTasks(before).tasks;
  const known = new Set(kept.map(gistOf));
  const missing = tasks.map(taskOfEdit).filter((task) => !known.has(gistOf(task)));
  // A status that no program takes for work.
  const added = missing.map(({ text }) => text.replace("**Status:** ready", "**Status:** removed").trim());
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
