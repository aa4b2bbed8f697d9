/**
 * A backup is one file: a copy of the database with the files of the home in one of its tables. That table is an SQLite
 * archive, so `sqlite3 backup -A` lists and extracts them without Cortex.
 */
import { hash } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";
import Database from "better-sqlite3";

import { CortexError } from "../../model/errors.ts";
import type { Verdict } from "../store.ts";
import { storeFailure } from "./failure.ts";
import { checkDatabase, versionOf } from "./migrate.ts";
import { checkSeal, sealFile } from "./seal.ts";
import { damagedPart, verify } from "./verify.ts";

/** A file of a home: its path below the home, with slashes. */
export type ArchivedFile = { readonly name: string; readonly mode: number; readonly mtimeMs: number } & (
  | { readonly kind: "file"; readonly content: Buffer }
  | { readonly kind: "link"; readonly target: string }
);

export interface CheckedBackup {
  readonly schema: number;
  /** Undefined for a plain copy of a database. */
  readonly madeAtMs: number | undefined;
  readonly files: number;
  readonly verdict: Extract<Verdict, { ok: true }>;
}

/** Larger files are left out of a backup: they belong to the work of an agent, not to Cortex. */
export const MAX_ARCHIVED_BYTES = 256 * 1024 * 1024;

/** The size of a symbolic link in SQLite archives. */
const LINK_SIZE = -1;

/** Adds files to a copy of a database, and seals it. The caller syncs the file. */
export function addFiles(path: string, files: Iterable<ArchivedFile>, madeAtMs: number): void {
  change(path, (db) => {
    db.pragma("synchronous = off");
    db.transaction(() => writeFiles(db, files, madeAtMs))();
  });
  sealFile(path);
}

function writeFiles(db: Database.Database, files: Iterable<ArchivedFile>, madeAtMs: number): void {
  db.exec(`
    create table sqlar (name text primary key, mode int, mtime int, sz int, data blob);
    create table backup (made_ms integer not null, is_sealed integer not null);
    create table backup_file (name text primary key, sha256 text not null);`);
  db.prepare("insert into backup (made_ms, is_sealed) values (?, 1)").run(madeAtMs);
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
 * Checks a whole backup: its pages, the hashes of turns and files, the seal. Throws `store_corrupt` if one is wrong.
 * Calls `check` with each file, and throws what it throws.
 */
export function checkBackup(path: string, check: (file: ArchivedFile) => void): CheckedBackup {
  return read(path, (db) => {
    if (versionOf(db) === 0) throw damaged(path, "it is empty");
    checkPages(db, path);
    const verdict = verify(db);
    if (!verdict.ok) throw damaged(path, `${damagedPart(verdict)}: ${verdict.problem}`);
    let files = 0;
    for (const file of filesIn(db, path)) {
      check(file);
      files++;
    }
    const madeAtMs = isBackup(db, path) ? readMadeAt(db, path) : undefined;
    return { schema: versionOf(db), madeAtMs, files, verdict };
  });
}

/** The seal covers everything that no other hash does, which is most of the database. */
function readMadeAt(db: Database.Database, path: string): number | undefined {
  const row = db.prepare<[], { made_ms: number; is_sealed?: number }>("select * from backup").get();
  const isWhole = checkSeal(path, db.pragma("page_size", { simple: true }) as number);
  // Seals of backups made by earlier versions are not checked.
  const isMissing = isWhole === undefined && row?.is_sealed !== undefined;
  if (isMissing || isWhole === false) throw damaged(path, isMissing ? "missing seal" : "wrong checksum");
  return row?.made_ms;
}

/** Calls back with each file of a backup. */
export function readFiles(path: string, take: (file: ArchivedFile) => void): void {
  read(path, (db) => {
    for (const file of filesIn(db, path)) take(file);
  });
}

/** Turns a backup into a plain database without unused pages. */
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

/** Other programs can read the table, so they may also have written it. */
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

/** Whether a backup holds files. */
function isBackup(db: Database.Database, path: string): boolean {
  const names = `'${OWN_TABLES.join("', '")}'`;
  const found = db
    .prepare<[], number>(`select count(*) from sqlite_schema where type = 'table' and name in (${names})`)
    .pluck()
    .get()!;
  if (found !== 0 && found !== OWN_TABLES.length) throw damaged(path, "some of its tables are missing");
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
  return new CortexError("store_corrupt", `${path} is damaged: ${what}`, {
    hint: "Use another backup. Nothing was changed.",
  });
}
