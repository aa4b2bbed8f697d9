import type { Database } from "better-sqlite3";

import { CortexError } from "../../model/errors.ts";
import { MIGRATIONS, type Migration } from "./schema.ts";
import { VIEWS } from "./views.ts";

/** "Ctx1": in the header of every database of ours, so that one of another program is left alone. */
const APPLICATION_ID = 0x43_74_78_31;

/** Refuses a database that is not ours or is too new. Writes nothing. */
export function checkDatabase(db: Database, path: string, migrations = MIGRATIONS): void {
  const empty = db.prepare("select count(*) from sqlite_schema").pluck().get() === 0;
  const application = db.pragma("application_id", { simple: true });
  if (application !== APPLICATION_ID && !(empty && application === 0)) {
    throw new CortexError("store_foreign", `${path} is the database of another program`, {
      hint: "Give Cortex a home of its own with CORTEX_HOME. The file was left as it is.",
    });
  }
  const version = versionOf(db);
  const newest = migrations.at(-1)!.version;
  if (version > newest) {
    throw new CortexError(
      "store_newer",
      `${path} has schema ${version}, and this Cortex knows schemas up to ${newest}`,
      {
        hint: "Update Cortex to at least the version that last used this database.",
      },
    );
  }
}

/** Brings the schema up to date, each migration in one transaction; before a major one a copy is made. */
export function migrate(db: Database, path: string, migrations = MIGRATIONS): void {
  for (const migration of migrations.filter(({ version }) => version > versionOf(db))) {
    if (migration.major && versionOf(db) > 0) backUp(db, `${path}.before-${migration.version}`);
    apply(db, migration);
  }
}

function apply(db: Database, migration: Migration): void {
  db.exec("begin immediate");
  try {
    for (const name of Object.keys(VIEWS)) db.exec(`drop view if exists ${name}`);
    db.exec(migration.sql);
    for (const [name, sql] of Object.entries(VIEWS)) db.exec(`create view ${name} as ${sql}`);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${migration.version}`);
    db.exec("commit");
  } catch (error) {
    if (db.inTransaction) db.exec("rollback");
    throw error;
  }
}

function backUp(db: Database, copy: string): void {
  db.prepare("vacuum into ?").run(copy);
}

function versionOf(db: Database): number {
  return db.pragma("user_version", { simple: true }) as number;
}
