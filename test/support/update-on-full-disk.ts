/** Opens an old database on a small disk with no room for a copy, then with room. */
import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";

import { CortexError } from "../../src/model/errors.ts";
import { openForWriting } from "../../src/store/sqlite/connection.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../../src/store/sqlite/schema.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

const disk = process.argv[2]!;
const path = join(disk, "cortex.db");
const old = openForWriting(path);
migrate(old, MIGRATIONS.slice(0, 5));
const insert =
  old.prepare(`insert into event (id, at_ms, received_ms, channel, direction, content, content_type)
  values (?, 1, 1, 'test', 'received', ?, 'text')`);
for (let i = 0; i < 20; i++) insert.run(`test:${i}`, "x".repeat(40_000));
old.close();
const ballast = join(disk, "ballast");
writeFileSync(ballast, Buffer.alloc(2_600_000));

let failure: unknown;
await openSqliteStore({ path, clock: Date.now }).catch((error: unknown) => (failure = error));
ok(failure instanceof CortexError, String(failure));
strictEqual(failure.code, "store_full");
const db = new Database(path, { readonly: true });
strictEqual(db.pragma("user_version", { simple: true }), 5);
db.close();
deepStrictEqual(
  readdirSync(disk).filter((name) => name.includes("before")),
  [],
);
console.log(failure.message);

rmSync(ballast);
await using store = await openSqliteStore({ path, clock: Date.now });
strictEqual((await store.counts()).events, 20);
console.log("then it was updated");
