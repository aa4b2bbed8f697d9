import { join } from "node:path";
import { expect, test } from "vitest";

import { START_MS, testClock } from "../../../test/support/sample.ts";
import { memoryParent, temporaryFolder } from "../../../test/support/temporary.ts";
import type { PersonaId } from "../../model/ids.ts";
import { openForWriting } from "./connection.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./schema.ts";
import { openSqliteStore } from "./sqlite-store.ts";

test("what a run had spent before its cost was kept is counted", async () => {
  using folder = temporaryFolder(memoryParent());
  const path = join(folder.path, "cortex.db");
  const db = openForWriting(path);
  migrate(
    db,
    MIGRATIONS.filter(({ version }) => version <= 4),
  );
  db.exec(`
    pragma foreign_keys = off;
    insert into session (key, label, agent, persona, run, created_ms, used_ms) values (1, 'work', 'main', 'atlas', 1, 0, 0);
    insert into run (key, id, turn, turn_id, session, attempt, state, started_ms) values (1, 'r', 1, 't', 1, 1, 'suspended', 0);
    insert into message (key, id, role, content, body, at_ms) values
      (65536, 'm0', 'user', '?', null, 0),
      (65537, 'm1', 'assistant', '!', '{"costUsd":0.5}', 0),
      (65538, 'm2', 'assistant', '!', '{"costUsd":null}', 0),
      (65539, 'm3', 'assistant', '!', '{"costUsd":0.25}', 0);`);
  db.close();
  await using store = await openSqliteStore({ path, clock: testClock() });
  expect(await store.turns.spentUsd("atlas" as PersonaId, START_MS)).toBe(0.75);
});
