/**
 * One writer for each database, over all processes.
 *
 * The lock is a small file beside the database that names its owner: process id and the moment that
 * process started, since ids are used again. An owner that no longer runs is replaced. Looking and
 * replacing happen while SQLite's own write lock on the database is held, so that of two processes that
 * find the same dead owner only one takes its place.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { Database } from "better-sqlite3";

import { CortexError } from "../../model/errors.ts";

interface Owner {
  readonly pid: number;
  readonly started: string;
}

export function takeLock(db: Database, path: string): void {
  db.exec("begin immediate");
  try {
    const owner = readOwner(path);
    if (owner !== undefined && startOf(owner.pid) === owner.started) throw locked(path, owner);
    const self: Owner = { pid: process.pid, started: startOf(process.pid) ?? "" };
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, JSON.stringify(self) + "\n", { mode: 0o600 });
    renameSync(draft, path);
  } finally {
    db.exec("rollback");
  }
}

/** Gives the lock up, unless somebody has taken it over. */
export function dropLock(path: string): void {
  if (readOwner(path)?.pid === process.pid) rmSync(path, { force: true });
}

function readOwner(path: string): Owner | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const owner = JSON.parse(text) as Partial<Owner> | null;
    if (typeof owner?.pid === "number" && typeof owner.started === "string") return owner as Owner;
  } catch {
    // A file that is no JSON was not written by takeLock, which renames a complete one into place.
  }
  return undefined;
}

/** When a process started, as a text that no other process of the same id will have; undefined: it does not run. */
function startOf(pid: number): string | undefined {
  if (process.platform === "linux") {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const started = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]!; // field 22 of proc(5)
      return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}:${started}`;
    } catch {
      return undefined; // no such process
    }
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return undefined;
  }
  try {
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim();
  } catch {
    return ""; // it runs, and there is no `ps` to say since when
  }
}

function locked(path: string, owner: Owner): CortexError {
  return new CortexError("store_locked", `Process ${owner.pid} is using this database (${path})`, {
    hint: "Stop that process first, or give this one a home of its own with CORTEX_HOME.",
  });
}
