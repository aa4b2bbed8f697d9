import { statfsSync, statSync } from "node:fs";

import Database from "better-sqlite3";

import { requireOwnFile } from "../../model/private-file.ts";

/** How long a statement waits for another connection. Only opening and checkpoints ever do. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * The writing connection. `synchronous` is set explicitly: in better-sqlite3's build, WAL alone means NORMAL, which
 * may lose the last commits when the power fails.
 */
export function openForWriting(path: string): Database.Database {
  const db = new Database(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.pragma("page_size = 8192"); // messages of 2 KB would waste half of a smaller page
    db.pragma("journal_mode = wal");
    db.pragma("synchronous = full");
    db.pragma("foreign_keys = on");
    db.pragma("wal_autocheckpoint = 0"); // checkpoints are made beside the writer: see checkpointer.ts
    db.pragma("journal_size_limit = 67108864");
    db.pragma("cache_size = -2048"); // more is hardly faster: what is not here, the system has in its own cache
    db.pragma("temp_store = memory");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

export function openForReading(path: string): Database.Database {
  requireOwnDatabase(path);
  const db = new Database(path, { readonly: true, timeout: BUSY_TIMEOUT_MS });
  db.pragma("query_only = on");
  db.pragma("cache_size = -16384");
  db.pragma("mmap_size = 268435456");
  return db;
}

/** SQLite follows symbolic links. Throws `file_unsafe` if the database or the lock is one. */
export function requireOwnDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm", ".mutex"]) requireOwnFile(`${path}${suffix}`);
}

/** Disk space that a copy leaves free for the log: new messages come first. */
const RESERVED_BYTES = 1024 * 1024;

const COPY_TRIES = 200;
const COPY_PAUSE_MS = 5;

/**
 * Copies the log into the database, once any other copy has finished. If the disk is too full, everything stays in
 * the log, which is as safe, and the next attempt follows when the log has grown.
 */
export function copyLog(db: Database.Database): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  try {
    for (let tries = 0; tries < COPY_TRIES && hasRoom(db); tries++) {
      const [{ busy }] = db.pragma("wal_checkpoint(passive)") as [{ busy: number }];
      if (busy === 0) return;
      Atomics.wait(pause, 0, 0, COPY_PAUSE_MS);
    }
  } catch {
    // The next write reports the failure.
  }
}

/** How long cutting the log may block the writer while readers still use the log. */
const TRUNCATE_TIMEOUT_MS = 500;

/** Copies the log and truncates it, so that its content cannot be read there. Does nothing while a reader uses it. */
export function cutLog(path: string): void {
  const db = new Database(path, { timeout: TRUNCATE_TIMEOUT_MS, fileMustExist: true });
  try {
    if (hasRoom(db)) db.pragma("wal_checkpoint(truncate)");
  } finally {
    db.close();
  }
}

/** Whether the disk has room for a copy. One that failed half-way would fill it, and block all writes. */
function hasRoom(db: Database.Database): boolean {
  const pages = db.pragma("page_count", { simple: true }) as number;
  const pageSize = db.pragma("page_size", { simple: true }) as number;
  const growth = pages * pageSize - statSync(db.name).size;
  if (growth <= 0) return true;
  const { bavail, bsize } = statfsSync(db.name);
  return growth + RESERVED_BYTES <= bavail * bsize;
}
