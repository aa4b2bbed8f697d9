import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { openForWriting } from "../../src/store/sqlite/connection.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { temporaryFolder } from "./temporary.ts";

let empty: Buffer | undefined;

/**
 * Writes the database that a store makes where there is none, unless there is one: to run all migrations takes longer than
 * most tests, and what they make is always the same.
 */
export function writeNewDatabase(path: string): void {
  empty ??= makeDatabase();
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, empty, { flag: "wx" });
  } catch {
    // It is there, or cannot be: the store says which.
  }
}

function makeDatabase(): Buffer {
  using folder = temporaryFolder();
  const path = join(folder.path, "cortex.db");
  const db = openForWriting(path);
  migrate(db);
  db.close();
  return readFileSync(path);
}
