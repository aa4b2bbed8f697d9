/**
 * Copies of a database: on request, and before its schema changes. Both use a read-only connection, while the writer
 * works.
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

/** How long it waits for a connection that is opening or closing. */
const BUSY_TIMEOUT_MS = 5_000;

/** Time enough after an update to decide to go back. */
export const KEPT_COPY_MS = 7 * DAY_MS;

/**
 * Writes everything committed to a new file, in one snapshot, however long it takes. The writer continues; only the
 * write-ahead log is not checkpointed meanwhile.
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
 * Rewrites the file without its unused pages. For a database that no process has open. Throws `store_locked` if one
 * has, and `store_full` if the disk is too full; the file is then unchanged.
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
 * Copies the database before a newer schema replaces its own. Throws if no copy can be made; nothing must be migrated
 * then.
 */
export function copyBeforeMigration(path: string, nowMs: number): void {
  if (!existsSync(path)) return;
  const db = new Database(path, { readonly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    const version = versionOf(db);
    const newest = MIGRATIONS.at(-1)!.version;
    if (version === 0 || version >= newest) return;
    const copy = copyBefore(path, newest);
    // A copy of an earlier attempt is the same, unless the old program has written since.
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

/** Removes copies that are older than KEPT_COPY_MS. */
export function dropOldCopies(path: string, nowMs: number): void {
  for (const copy of copiesOf(path)) if (statSync(copy).mtimeMs <= nowMs - KEPT_COPY_MS) rmSync(copy);
}

/** Removes all copies. */
export function dropCopies(path: string): void {
  for (const copy of copiesOf(path)) rmSync(copy);
}

/** Copies made before a schema change, complete or not. */
export function copiesOf(path: string): string[] {
  const beginning = `${basename(path)}.before-`;
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(beginning) && /^\d+(\.unfinished)?$/.test(name.slice(beginning.length)))
    .map((name) => join(dirname(path), name));
}

/** Syncs a file or folder to disk, so that its content survives a power failure. */
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

/** Removes a partial copy left by an earlier attempt; complete copies have another name. */
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
  return new CortexError("store_full", `Not enough disk space next to ${path} for the pre-update copy`, {
    hint: "Free as much space as the database uses, then start again. Nothing was changed.",
    cause,
  });
}
