/** Backs a home up to a small disk. */
import { deepStrictEqual, ok } from "node:assert";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";

import { CortexError } from "../../src/model/errors.ts";
import { backUp } from "../../src/keep/backup.ts";
import { databasePath } from "../../src/config/home.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { event } from "./sample.ts";
import { temporaryFolder } from "./temporary.ts";

const disk = process.argv[2]!;
using folder = temporaryFolder();
for (const content of ["database", "files"]) {
  const home = join(folder.path, content);
  const store = await openSqliteStore({ path: databasePath(home), clock: Date.now });
  const text = randomBytes(100_000).toString("hex");
  for (let i = 0; i < (content === "database" ? 10 : 1); i++) {
    await store.events.accept(event(`e${i}`, { content: text }));
  }
  await store[Symbol.asyncDispose]();
  mkdirSync(join(home, "workspaces"));
  if (content === "files") writeFileSync(join(home, "workspaces", "large"), randomBytes(2_000_000));

  let failure: unknown;
  try {
    backUp({ home, file: join(disk, "a.backup"), withKeys: false, nowMs: 0, onStep: () => {} });
  } catch (error) {
    failure = error;
  }
  ok(failure instanceof CortexError, String(failure));
  console.log(content, failure.code, failure.message);
  deepStrictEqual(readdirSync(disk), []);
}
