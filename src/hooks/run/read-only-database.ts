/** `better-sqlite3` for hooks: every file is opened read-only, whatever the options. */
import { createRequire } from "node:module";

import type Database from "better-sqlite3";

// Not by `import`: in a hook's process, this name resolves to this module.
const Opened = createRequire(import.meta.url)("better-sqlite3") as typeof Database;

function ReadOnlyDatabase(path?: string | Buffer, options: Database.Options = {}): Database.Database {
  const isInMemory = path === undefined || path === "" || path === ":memory:" || Buffer.isBuffer(path);
  return new Opened(path, isInMemory ? options : { ...options, readonly: true, fileMustExist: true });
}

Object.assign(ReadOnlyDatabase, { prototype: Opened.prototype, SqliteError: Opened.SqliteError });

export { ReadOnlyDatabase as default, ReadOnlyDatabase as "module.exports" };
export const { SqliteError } = Opened;
