/**
 * Copies of a database: one that is asked for, and the one that is made before its schema changes. Both are made
 * through a connection that cannot write, beside whoever does.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import Database from "better-sqlite3";

import { DAY_MS } from "../../model/durations.ts";
import { CortexError } from "../../model/errors.ts";
import { requireOwnDatabase } from "./connection.ts";
import { isFull, storeFailure, storeMissing } from "./failure.ts";
import { takeLock } from "./lock.ts";
import { checkDatabase, versionOf } from "./migrate.ts";
import { MIGRATIONS } from "./schema.ts";

/** How long it waits for a connection that just starts or closes. */
const BUSY_TIMEOUT_MS = 5_000;

/** After an update: time enough to find out that one wants to go back. */
export const KEPT_COPY_MS = 7 * DAY_MS;

/**
 * Writes all that is committed to a new file, in one snapshot, however long it takes. Whoever writes goes on; only
 * the write-ahead log is not folded in meanwhile.
 */
export function copyDatabase(from: string, to: string): void {
  requireOwnDatabase(from);
  if (!existsSync(from)) throw storeMissing(from);
  let db: Database.Database | undefined;
  try {
    db = new Database(from, { readonly: true, timeout: BUSY_TIMEOUT_MS });
    checkDatabase(db, from);
    writeCopy(db, to);
  } catch (error) {
    throw storeFailure(error, isFull(error) ? to : from);
  } finally {
    db?.close();
  }
}

/**
 * Writes the file anew, with what is in use and nothing else, and as small as can be. For one that nobody has open.
 * Throws `store_locked` where somebody has, and `store_full` where there is no room for it; then it is as it was.
 */
export function rewriteDatabase(path: string): void {
  using _ = takeLock(path);
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
    db.exec("vacuum");
    db.pragma("wal_checkpoint(truncate)");
  } catch (error) {
    throw storeFailure(error, path);
  } finally {
    db?.close();
  }
}

/**
 * Keeps what is there before a newer schema takes its place. Where no copy can be made, it throws, and nothing is to be
 * migrated.
 */
export function copyBeforeMigration(path: string, nowMs: number): void {
  if (!existsSync(path)) return;
  const db = new Database(path, { readonly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    const version = versionOf(db);
    const newest = MIGRATIONS.at(-1)!.version;
    if (version === 0 || version >= newest) return;
    const copy = copyBefore(path, newest);
    // One of an earlier try holds the same, unless that try was undone and the old program has gone on since.
    writeCopy(db, `${copy}.unfinished`);
    utimesSync(`${copy}.unfinished`, nowMs / 1_000, nowMs / 1_000);
    renameSync(`${copy}.unfinished`, copy);
    syncPath(dirname(path));
  } catch (error) {
    throw isFull(error) ? noRoom(path, error) : error;
  } finally {
    db.close();
  }
}

/** Removes those that have served. Nobody sees in one start whether the new program is any good. */
export function dropOldCopies(path: string, nowMs: number): void {
  for (const copy of copiesOf(path)) if (statSync(copy).mtimeMs <= nowMs - KEPT_COPY_MS) rmSync(copy);
}

/** Removes them all. */
export function dropCopies(path: string): void {
  for (const copy of copiesOf(path)) rmSync(copy);
}

/** Copies that were made before a schema changed, whole or not. */
export function copiesOf(path: string): string[] {
  const beginning = `${basename(path)}.before-`;
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(beginning) && /^\d+(\.unfinished)?$/.test(name.slice(beginning.length)))
    .map((name) => join(dirname(path), name));
}

/** What was written to a file, renamed or made in a folder, stays so when the power fails. */
export function syncPath(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function copyBefore(path: string, version: number): string {
  return `${path}.before-${version}`;
}

/** What a try before this one has left is no copy: a whole one has another name. */
function writeCopy(db: Database.Database, to: string): void {
  rmSync(to, { force: true });
  try {
    writeFileSync(to, "", { mode: 0o600 }); // SQLite would let everybody read it
    db.prepare("vacuum into ?").run(to);
    syncPath(to); // SQLite leaves that out
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  }
}

function noRoom(path: string, cause: unknown): CortexError {
  return new CortexError(
    "store_full",
    `Not enough disk space next to ${path} for the copy made before an update`,
    {
      hint: "Free as much space as the database uses, then start again. Nothing was changed.",
      cause,
    },
  );
}
