/**
 * The hash of a whole file, kept in a row of it: a byte that has changed anywhere is noticed. Where the hash itself
 * stands, zeros are hashed.
 */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import Database from "better-sqlite3";

/** What is in the row until the file is whole; the first bytes tell where in its page the hash goes. */
export function emptySeal(mark: Buffer): Buffer {
  return Buffer.concat([mark, EMPTY]);
}

export const MARK_BYTES = 16;
const HASH_BYTES = 32;
const EMPTY = Buffer.alloc(HASH_BYTES);
const CHUNK_BYTES = 1024 * 1024;

/** For a database that nobody has open. The row is the only one of its table, and small: it is on the table's first page. */
export function sealFile(path: string, table: string): void {
  const file = openSync(path, "r+");
  try {
    const at = withDatabase(path, (db) => findHash(db, { table, file }));
    writeSync(file, hashAround(file, at), 0, HASH_BYTES, at);
  } finally {
    closeSync(file);
  }
}

/** Whether the file is as it was sealed. */
export function isSealWhole(db: Database.Database, table: string): boolean {
  const file = openSync(db.name, "r");
  try {
    const at = findHash(db, { table, file });
    const found = Buffer.alloc(HASH_BYTES);
    readSync(file, found, 0, HASH_BYTES, at);
    return found.equals(hashAround(file, at));
  } finally {
    closeSync(file);
  }
}

function findHash(db: Database.Database, { table, file }: { table: string; file: number }): number {
  const seal = db.prepare<[], Buffer>(`select cast(seal as blob) from ${table}`).pluck().get()!;
  const pageSize = db.pragma("page_size", { simple: true }) as number;
  const page = db
    .prepare<[string], number>("select rootpage from sqlite_schema where name = ?")
    .pluck()
    .get(table)!;
  const bytes = Buffer.alloc(pageSize);
  const start = (page - 1) * pageSize;
  readSync(file, bytes, 0, pageSize, start);
  return start + bytes.indexOf(seal) + MARK_BYTES;
}

function hashAround(file: number, at: number): Buffer {
  const hash = createHash("sha256");
  const feed = (from: number, to: number): void => {
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, Math.max(to - from, 0)));
    for (let place = from; place < to;) {
      const bytes = readSync(file, chunk, 0, Math.min(chunk.length, to - place), place);
      if (bytes === 0) return; // it has become shorter
      hash.update(chunk.subarray(0, bytes));
      place += bytes;
    }
  };
  feed(0, at);
  hash.update(EMPTY);
  feed(at + HASH_BYTES, fstatSync(file).size);
  return hash.digest();
}

function withDatabase<T>(path: string, look: (db: Database.Database) => T): T {
  const db = new Database(path, { readonly: true, fileMustExist: true });
  try {
    return look(db);
  } finally {
    db.close();
  }
}
