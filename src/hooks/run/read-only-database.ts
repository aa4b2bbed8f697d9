/** `better-sqlite3` as hooks get it: every file is opened for reading only, whatever they ask for. */
import { createRequire } from "node:module";

import type Database from "better-sqlite3";

// Not by `import`: what a hook imports under this name is this module.
const Opened = createRequire(import.meta.url)("better-sqlite3") as typeof Database;

function ReadOnlyDatabase(path?: string | Buffer, options: Database.Options = {}): Database.Database {
  const isInMemory = path === undefined || path === "" || path === ":memory:" || Buffer.isBuffer(path);
  return new Opened(path, isInMemory ? options : { ...options, readonly: true, fileMustExist: true });
}

Object.assign(ReadOnlyDatabase, { prototype: Opened.prototype, SqliteError: Opened.SqliteError });

export { ReadOnlyDatabase as default, ReadOnlyDatabase as "module.exports" };
export const { SqliteError } = Opened;
