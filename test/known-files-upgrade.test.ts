/** A home of an older version: what it knew of watched files, and how far its jobs had come, is still known. */
import { mkdirSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { openForWriting } from "../src/store/sqlite/connection.ts";
import { migrate } from "../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../src/store/sqlite/schema.ts";
import { openTestCortex, writeHome } from "./support/home.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

/** The last version that had tables of their own for watched files and for jobs. */
const BEFORE = 30;

test("after an update, only files that changed meanwhile are events", async () => {
  using folder = temporaryFolder();
  const home = join(realpathSync(folder.path), "home");
  const inbox = join(home, "inbox");
  writeHome(home, { cortex: { channels: { files: { inbox: { folder: "inbox", settleMs: 0 } } } } });
  mkdirSync(inbox);
  mkdirSync(join(home, "data"), { mode: 0o700 });
  for (const name of ["known", "changed"]) writeFileSync(join(inbox, name), name);
  const { mtimeMs, size } = statSync(join(inbox, "known"));
  const db = openForWriting(join(home, "data", "cortex.db"));
  migrate(
    db,
    MIGRATIONS.filter(({ version }) => version <= BEFORE),
  );
  const note = db.prepare("insert into watched_file (path, modified_ms, size, sha256) values (?, ?, ?, ?)");
  note.run(`${inbox}/`, 0, 0, "");
  note.run(join(inbox, "known"), Math.floor(mtimeMs), size, "x");
  note.run(join(inbox, "changed"), 1, 3, "y");
  note.run(join(inbox, "deleted"), 1, 3, "z");
  db.exec("insert into progress (job, position) values ('relay-import', 7)");
  db.close();

  await using cortex = await openTestCortex({}, { home });
  const told = async () =>
    (await cortex.store.events.list({ channel: "files" })).items
      .map(({ metadata }) => {
        const { type, name } = metadata as { type: string; name: string };
        return `${type} ${name}`;
      })
      .toSorted();
  await expect.poll(told, PATIENT).toEqual(["changed changed", "deleted deleted"]);
  writeFileSync(join(inbox, "new"), "new");
  await expect.poll(told, PATIENT).toEqual(["changed changed", "created new", "deleted deleted"]);
  expect(await cortex.store.cursors.get("job:relay-import")).toBe(7);
});
