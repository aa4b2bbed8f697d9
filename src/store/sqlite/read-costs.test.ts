import { join } from "node:path";
import { expect, test } from "vitest";

import { START_MS, testClock } from "../../../test/support/sample.ts";
import { memoryParent, temporaryFolder } from "../../../test/support/temporary.ts";
import type { PersonaId } from "../../model/ids.ts";
import { openForWriting } from "./connection.ts";
import { migrate } from "./migrate.ts";
import { SUMMED_IN_PLACE } from "./read-costs.ts";
import { MIGRATIONS } from "./schema.ts";
import { openSqliteLedger } from "./sqlite-ledger.ts";
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

test("the costs of days with many turns are summed up by a process of its own, with the same sums", async () => {
  using folder = temporaryFolder(memoryParent());
  const path = join(folder.path, "cortex.db");
  const db = openForWriting(path);
  migrate(db, MIGRATIONS);
  db.exec(`
    insert into session (key, label, agent, persona, created_ms, used_ms) values (1, 'work', 'main', 'atlas', 0, 0);
    with recursive each (n) as (select 1 union all select n + 1 from each where n <= ${SUMMED_IN_PLACE})
    insert into turn (key, id, depth, type, status, session, agent, persona, role, profile, provider, model, input_tokens,
      output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd, tool_calls, run, started_ms, completed_ms, hash)
    select n, 't' || n, 1, 'turn', 'completed', 1, 'main', 'atlas', 'manager', 'p', 'p', 'm', 1,
      2, 0, 0, 0, 0.5, 0, n, n, n, x'00' from each;`);
  db.close();
  await using ledger = await openSqliteLedger({ path });
  const until = (untilMs: number) =>
    ledger.turns.costs({ by: "day", sinceMs: 0, untilMs, dayStartsMs: [0, 501] });
  const first = { key: "0", turns: 500, costUsd: 250, usage: { input: 500, output: 1_000 } };
  expect(await until(SUMMED_IN_PLACE + 1)).toMatchObject([{ key: "501", turns: 500, costUsd: 250 }, first]);
  expect(await until(SUMMED_IN_PLACE + 2)).toMatchObject([{ key: "501", turns: 501, costUsd: 250.5 }, first]);
});
