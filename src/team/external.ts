/**
 * A task may stand for somebody else's task file, such as Shuttle's `.shuttle.md`: its own runner does the work, and we
 * only tell how far it is. The file is never written.
 */
import { isUtf8 } from "node:buffer";
import { readFile, stat } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

import { expandPath } from "../config/team-config.ts";
import { MAX_TEAM_FILE_BYTES } from "./file-size.ts";
import { codeOf } from "./read-cache.ts";
import { readTasks } from "./read-tasks.ts";
import { isActive, type Task } from "./task.ts";

export type External =
  | {
      readonly kind: "read";
      readonly path: string;
      readonly done: number;
      readonly total: number;
      readonly active: number;
      /** There were tasks, and none of them is active any more. */
      readonly isComplete: boolean;
    }
  | { readonly kind: "missing"; readonly path: string }
  | { readonly kind: "unreadable"; readonly path: string; readonly why: string };

export interface ExternalPlace {
  /** As the task says it. */
  readonly path: string;
  /** Where the member works: it may begin with `~`, or be missing. */
  readonly project: string | undefined;
  readonly home: string;
}

/** The seed's own title for such a task, with any of the dashes that people type. */
const SEED_TITLE = /^Execute Shuttle tasks (?:—|–|-|--) report status$/i;
const SEED_FILE = ".shuttle.md";
/** Whoever writes in place has cut off the file for an instant, and then it looks complete. */
const SETTLE_MS = 50;

/** The file that a task stands for. Undefined: it is a task of its own. */
export function externalPathOf({ title, external }: Pick<Task, "title" | "external">): string | undefined {
  return external ?? (SEED_TITLE.test(title) ? SEED_FILE : undefined);
}

export function progressOf({ done, total }: Extract<External, { kind: "read" }>): string {
  return `${done} of ${total} done`;
}

export async function readExternal(place: ExternalPlace): Promise<External> {
  const path = resolvePath(place);
  const first = await readOnce(path);
  if (first.kind !== "read" || !first.isComplete) return first;
  await setTimeout(SETTLE_MS);
  const second = await readOnce(path);
  if (second.kind !== "read") return second;
  return { ...second, isComplete: second.isComplete && second.total === first.total };
}

/** Relative paths begin in the member's project. */
function resolvePath({ path, project, home }: ExternalPlace): string {
  return expandPath(path, { user: home, from: expandPath(project ?? home, { user: home, from: home }) });
}

async function readOnce(path: string): Promise<External> {
  try {
    const stats = await stat(path);
    if (!stats.isFile()) return { kind: "unreadable", path, why: "it is no file" };
    if (stats.size > MAX_TEAM_FILE_BYTES)
      return { kind: "unreadable", path, why: `it has more than ${MAX_TEAM_FILE_BYTES} bytes` };
    const bytes = await readFile(path);
    if (!isUtf8(bytes)) return { kind: "unreadable", path, why: "it is not in UTF-8" };
    return count(path, readTasks(bytes.toString("utf8")).tasks);
  } catch (cause) {
    const code = codeOf(cause);
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "missing", path };
    return { kind: "unreadable", path, why: code };
  }
}

function count(path: string, tasks: readonly Task[]): External {
  const active = tasks.filter(isActive).length;
  const done = tasks.filter(({ status }) => status === "done").length;
  return {
    kind: "read",
    path,
    done,
    total: tasks.length,
    active,
    isComplete: tasks.length > 0 && active === 0,
  };
}
