import { existsSync, statSync } from "node:fs";
import Database from "better-sqlite3";

import { CortexError } from "../../model/errors.ts";
import { requireOwnDatabase } from "./connection.ts";
import { MIGRATIONS, type Migration } from "./schema.ts";
import { VIEWS } from "./views.ts";

/** "Ctx1" in the header of every Cortex database, so that databases of other programs are left alone. */
const APPLICATION_ID = 0x43_74_78_31;

/** Inspects a file, if it exists, through a read-only connection. */
export function inspectDatabase(path: string): void {
  requireOwnDatabase(path);
  if (!existsSync(path) || statSync(path).size === 0) return;
  const db = new Database(path, { readonly: true });
  try {
    checkDatabase(db, path);
  } finally {
    db.close();
  }
}

/** Throws if a database is not a Cortex database or is too new. Writes nothing. */
export function checkDatabase(db: Database.Database, path: string, migrations = MIGRATIONS): void {
  const application = db.pragma("application_id", { simple: true });
  if (application !== APPLICATION_ID && !(application === 0 && isEmpty(db))) {
    throw new CortexError("store_foreign", `${path} belongs to another program`, {
      hint: "Set CORTEX_HOME to another home. The file was not changed.",
    });
  }
  const version = versionOf(db);
  const newest = migrations.at(-1)!.version;
  if (version > newest) {
    throw new CortexError(
      "store_newer",
      `${path} has schema ${version}; this version of Cortex supports schemas up to ${newest}`,
      {
        hint: "Update Cortex to at least the version that last used this database. To downgrade, see docs/keeping.md.",
      },
    );
  }
}

/** Also throws if the database has an older schema, which only the writer migrates. */
export function checkCurrent(db: Database.Database, path: string): void {
  checkDatabase(db, path);
  const version = versionOf(db);
  const newest = MIGRATIONS.at(-1)!.version;
  if (version === newest) return;
  throw new CortexError(
    "store_older",
    `${path} has schema ${version}; this version of Cortex reads schema ${newest}`,
    {
      hint: "Run `cortex up` once to update the database.",
    },
  );
}

/** Migrates the schema in one transaction, since no program could read a half-migrated database. */
export function migrate(db: Database.Database, migrations = MIGRATIONS): void {
  const missing = migrations.filter(({ version }) => version > versionOf(db));
  if (missing.length > 0) inTransaction(db, () => missing.forEach((migration) => apply(db, migration)));
  if (viewsOf(db) !== Object.entries(VIEWS).map(viewText).join("\n")) inTransaction(db, () => renewViews(db));
}

function apply(db: Database.Database, migration: Migration): void {
  dropViews(db);
  db.exec(migration.sql);
  db.pragma(`application_id = ${APPLICATION_ID}`);
  db.pragma(`user_version = ${migration.version}`);
}

function renewViews(db: Database.Database): void {
  dropViews(db);
  for (const view of Object.entries(VIEWS)) db.exec(viewText(view));
}

function dropViews(db: Database.Database): void {
  const names = db.prepare<[], string>("select name from sqlite_schema where type = 'view'").pluck().all();
  for (const name of names) db.exec(`drop view "${name}"`);
}

/** The definition as SQLite stores it, so that an edited view is noticed. */
function viewText([name, sql]: readonly [string, string]): string {
  return `CREATE VIEW ${name} as ${sql}`;
}

function viewsOf(db: Database.Database): string {
  return db
    .prepare<[], string>("select sql from sqlite_schema where type = 'view' order by rowid")
    .pluck()
    .all()
    .join("\n");
}

function inTransaction(db: Database.Database, change: () => void): void {
  db.exec("begin immediate");
  try {
    change();
    db.exec("commit");
  } catch (error) {
    if (db.inTransaction) db.exec("rollback");
    throw error;
  }
}

/** SQLite reads the whole schema for this, so it comes last. */
function isEmpty(db: Database.Database): boolean {
  return db.prepare("select count(*) from sqlite_schema").pluck().get() === 0;
}

/** The version of the schema. 0: none yet. */
export function versionOf(db: Database.Database): number {
  return db.pragma("user_version", { simple: true }) as number;
}
