/**
 * A backup is one file: a copy of the database, with the files of the home in a table of it. That table has the form of
 * an SQLite archive, so that `sqlite3 backup -A` lists and extracts them without Cortex.
 */
import { hash, randomBytes } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";
import Database from "better-sqlite3";

import { CortexError } from "../../model/errors.ts";
import type { Verdict } from "../store.ts";
import { storeFailure } from "./failure.ts";
import { checkDatabase, versionOf } from "./migrate.ts";
import { emptySeal, isSealWhole, MARK_BYTES, sealFile } from "./seal.ts";
import { verifyTurns } from "./verify.ts";

/** A file of a home: its path below the home, with slashes. */
export type ArchivedFile = { readonly name: string; readonly mode: number; readonly mtimeMs: number } & (
  | { readonly kind: "file"; readonly content: Buffer }
  | { readonly kind: "link"; readonly target: string }
);

export interface CheckedBackup {
  readonly schema: number;
  /** When it was made. Undefined: it is a plain copy of a database. */
  readonly madeAtMs: number | undefined;
  readonly files: number;
  readonly verdict: Extract<Verdict, { ok: true }>;
}

/** A larger file is left out of a backup: it is work of an agent, and no part of Cortex. */
export const MAX_ARCHIVED_BYTES = 256 * 1024 * 1024;

/** What a symbolic link has for its size, in SQLite archives. */
const LINK_SIZE = -1;

/** Adds files to a copy of a database, and the hash of it all. Whoever asks for it syncs the file as a whole. */
export function addFiles(path: string, files: Iterable<ArchivedFile>, madeAtMs: number): void {
  change(path, (db) => {
    db.pragma("synchronous = off");
    db.transaction(() => writeFiles(db, files, madeAtMs))();
  });
  sealFile(path, "backup");
}

function writeFiles(db: Database.Database, files: Iterable<ArchivedFile>, madeAtMs: number): void {
  db.exec(`
    create table sqlar (name text primary key, mode int, mtime int, sz int, data blob);
    create table backup (made_ms integer not null, seal blob not null);
    create table backup_file (name text primary key, sha256 text not null);`);
  const seal = emptySeal(randomBytes(MARK_BYTES));
  db.prepare("insert into backup (made_ms, seal) values (?, ?)").run(madeAtMs, seal);
  const insert = db.prepare("insert into sqlar (name, mode, mtime, sz, data) values (?, ?, ?, ?, ?)");
  const note = db.prepare("insert into backup_file (name, sha256) values (?, ?)");
  for (const file of files) {
    const { name, mode, mtimeMs } = file;
    const content = file.kind === "file" ? file.content : Buffer.from(file.target);
    const packed = file.kind === "file" ? deflateSync(content) : content;
    const size = file.kind === "file" ? content.length : LINK_SIZE;
    const data = packed.length < content.length ? packed : content;
    insert.run(name, mode, Math.floor(mtimeMs / 1_000), size, data);
    note.run(name, hash("sha256", content, "hex"));
  }
}

/**
 * Looks at all of a backup: pages, hashes of turns, hashes of files, the hash of it all. Throws `store_corrupt` where one is wrong, and what
 * `check` throws, which is shown each file.
 */
export function checkBackup(path: string, check: (file: ArchivedFile) => void): CheckedBackup {
  return read(path, (db) => {
    if (versionOf(db) === 0) throw damaged(path, "there is nothing in it");
    checkPages(db, path);
    const verdict = verifyTurns(db);
    if (!verdict.ok) throw damaged(path, `turn ${verdict.turn}: ${verdict.problem}`);
    let files = 0;
    for (const file of filesIn(db, path)) {
      check(file);
      files++;
    }
    const madeAtMs = isBackup(db, path) ? readMadeAt(db, path) : undefined;
    return { schema: versionOf(db), madeAtMs, files, verdict };
  });
}

/** What no other hash is over, which is most of the database, is checked with the file as a whole. */
function readMadeAt(db: Database.Database, path: string): number | undefined {
  const row = db.prepare<[], { made_ms: number; seal?: Buffer }>("select * from backup").get();
  // One that an older Cortex has made has no such hash.
  if (row?.seal !== undefined && !isSealWhole(db, "backup")) throw damaged(path, "its hash is another one");
  return row?.made_ms;
}

/** Hands out the files of a backup, one after the other. */
export function readFiles(path: string, take: (file: ArchivedFile) => void): void {
  read(path, (db) => {
    for (const file of filesIn(db, path)) take(file);
  });
}

/** Makes a plain database of a backup, as small as can be. */
export function dropFiles(path: string): void {
  change(path, (db) => {
    if (isBackup(db, path)) {
      db.transaction(() => OWN_TABLES.forEach((table) => db.exec(`drop table ${table}`)))();
    }
    db.exec("vacuum");
  });
}

function* filesIn(db: Database.Database, path: string): Generator<ArchivedFile> {
  if (!isBackup(db, path)) return;
  const rows = db.prepare<[], FileRow>(
    `select a.name, a.mode, a.mtime, a.sz, a.data, f.sha256 from sqlar a left join backup_file f on f.name = a.name
     order by a.name`,
  );
  for (const row of rows.iterate()) {
    if (!isFileRow(row)) throw damaged(path, `the file ${row.name}`);
    const content = unpack(row, path);
    if (hash("sha256", content, "hex") !== row.sha256) throw damaged(path, `the file ${row.name}`);
    const { name, mode } = row;
    const known = { name, mode, mtimeMs: row.mtime * 1_000 };
    yield row.sz === LINK_SIZE
      ? { ...known, kind: "link", target: content.toString() }
      : { ...known, kind: "file", content };
  }
}

interface FileRow {
  readonly name: string;
  readonly mode: number;
  readonly mtime: number;
  readonly sz: number;
  readonly data: Buffer;
  readonly sha256: string | null;
}

/** The table is made so that others can read it, and they could have written it too. */
function isFileRow({ name, mode, mtime, sz, data }: Readonly<Record<keyof FileRow, unknown>>): boolean {
  return (
    typeof name === "string" &&
    [mode, mtime, sz].every(Number.isSafeInteger) &&
    (sz as number) >= LINK_SIZE &&
    (sz as number) <= MAX_ARCHIVED_BYTES &&
    Buffer.isBuffer(data)
  );
}

function unpack({ name, sz, data }: FileRow, path: string): Buffer {
  if (sz === LINK_SIZE || data.length === sz) return data;
  try {
    return inflateSync(data, { maxOutputLength: Math.max(sz, 1) });
  } catch {
    throw damaged(path, `the file ${name}`);
  }
}

const OWN_TABLES = ["sqlar", "backup", "backup_file"];

/** Whether there are files with it. */
function isBackup(db: Database.Database, path: string): boolean {
  const names = `'${OWN_TABLES.join("', '")}'`;
  const found = db
    .prepare<[], number>(`select count(*) from sqlite_schema where type = 'table' and name in (${names})`)
    .pluck()
    .get()!;
  if (found !== 0 && found !== OWN_TABLES.length) throw damaged(path, "some of its files are missing");
  return found > 0;
}

function checkPages(db: Database.Database, path: string): void {
  const problem = db.pragma("integrity_check(1)", { simple: true });
  if (problem !== "ok") throw damaged(path, String(problem));
}

function read<T>(path: string, look: (db: Database.Database) => T): T {
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { readonly: true, fileMustExist: true });
    checkDatabase(db, path);
    return look(db);
  } catch (error) {
    throw storeFailure(error, path);
  } finally {
    db?.close();
  }
}

function change(path: string, make: (db: Database.Database) => void): void {
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { fileMustExist: true });
    make(db);
  } catch (error) {
    throw storeFailure(error, path);
  } finally {
    db?.close();
  }
}

function damaged(path: string, what: string): CortexError {
  return new CortexError("store_corrupt", `${path} is not as it was written: ${what}`, {
    hint: "Take another backup. Nothing was changed.",
  });
}
