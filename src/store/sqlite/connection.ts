import { statfsSync, statSync } from "node:fs";

import Database from "better-sqlite3";

import { requireOwnFile } from "../../model/private-file.ts";

/** How long a statement waits for another connection. Only the start and a checkpoint ever do. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * The connection that writes. `synchronous` is set by hand: better-sqlite3 is built so that WAL alone
 * means NORMAL, and NORMAL may lose the last commits with the power.
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

/** SQLite follows a link in place of the database or the lock. Throws `file_unsafe` before it can. */
export function requireOwnDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm", ".mutex"]) requireOwnFile(`${path}${suffix}`);
}

/** What a copy leaves free for the log to grow: new messages come before tidiness. */
const RESERVED_BYTES = 1024 * 1024;

const COPY_TRIES = 200;
const COPY_PAUSE_MS = 5;

/**
 * Copies the log into the database, when whoever copies it already has finished. Where there is no room for that,
 * everything stays in the log, which is as safe, and it is tried again when the log has grown.
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
    // Whoever writes next is told by their own failure.
  }
}

/** How long it holds up the writer where somebody reads: what they read is in the log. */
const TRUNCATE_TIMEOUT_MS = 500;

/** Copies the log and cuts it off, so that what was in it cannot be read there. Where somebody reads, it stays. */
export function cutLog(path: string): void {
  const db = new Database(path, { timeout: TRUNCATE_TIMEOUT_MS, fileMustExist: true });
  try {
    if (hasRoom(db)) db.pragma("wal_checkpoint(truncate)");
  } finally {
    db.close();
  }
}

/** A copy that fails half-way has taken the last of the room, and then nothing can be written at all. */
function hasRoom(db: Database.Database): boolean {
  const pages = db.pragma("page_count", { simple: true }) as number;
  const pageSize = db.pragma("page_size", { simple: true }) as number;
  const growth = pages * pageSize - statSync(db.name).size;
  if (growth <= 0) return true;
  const { bavail, bsize } = statfsSync(db.name);
  return growth + RESERVED_BYTES <= bavail * bsize;
}
