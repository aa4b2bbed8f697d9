/**
 * One writer per database, across all processes and containers that share its disk.
 *
 * An operating-system lock decides, on a file next to the database, held for the life of the process: when the
 * process dies, the lock is free. SQLite takes the lock, since Node has no call for it. A second file names the
 * holder (process id and start time) for the error message of others.
 */
import { renameSync, rmSync } from "node:fs";
import Database from "better-sqlite3";

import { CortexError } from "../../model/errors.ts";
import { readPrivate, writePrivate } from "../../model/private-file.ts";
import { requireOwnDatabase } from "./connection.ts";

interface Owner {
  readonly pid: number;
  readonly startedAt: string;
}

/** Takes the lock until it is disposed of. Throws `store_locked` if another process holds it. */
export function takeLock(path: string): Disposable {
  requireOwnDatabase(path);
  const note = `${path}.lock`;
  const mutex = new Database(`${path}.mutex`, { timeout: 0 });
  try {
    mutex.exec("begin exclusive");
  } catch (error) {
    mutex.close();
    if ((error as { code?: unknown }).code === "SQLITE_BUSY") throw locked(path, readOwner(note));
    throw error;
  }
  try {
    const startedAt = new Date(Date.now() - process.uptime() * 1_000).toISOString();
    const draft = `${note}.${process.pid}`;
    writePrivate(draft, `${JSON.stringify({ pid: process.pid, startedAt } satisfies Owner)}\n`);
    renameSync(draft, note);
  } catch (error) {
    mutex.close();
    throw error;
  }
  return {
    [Symbol.dispose](): void {
      rmSync(note, { force: true });
      mutex.close();
    },
  };
}

function readOwner(note: string): Owner | undefined {
  try {
    return JSON.parse(readPrivate(note)) as Owner;
  } catch {
    return undefined; // its owner is just starting or stopping
  }
}

function locked(path: string, owner: Owner | undefined): CortexError {
  const who = owner === undefined ? "Another process" : `Process ${owner.pid}, up since ${owner.startedAt},`;
  return new CortexError("store_locked", `${who} is using the database ${path}`, {
    hint: "Stop that process first, or set CORTEX_HOME to another home.",
  });
}
