import { join } from "node:path";
import { expect, test } from "vitest";

import { testClock } from "../../../test/support/sample.ts";
import { memoryParent, temporaryFolder } from "../../../test/support/temporary.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { openForWriting } from "./connection.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./schema.ts";
import { openSqliteLedger } from "./sqlite-ledger.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const WORK = "work" as SessionKey;

/** A session of so many turns, each a question and its answer. */
function sessionOf(turns: number): string {
  return `
    pragma foreign_keys = off;
    insert into session (key, label, agent, persona, head, created_ms, used_ms)
    values (1, 'work', 'main', 'atlas', ${turns}, 0, 0);
    create temp table each as
      with recursive n (n) as (select 1 union all select n + 1 from n where n < ${turns}) select n from n;
    insert into turn (key, id, depth, type, status, session, agent, persona, role, profile, provider, model, input_tokens,
      output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd, tool_calls, run, started_ms, completed_ms, hash)
    select n, 't' || n, 1, 'normal', 'completed', 1, 'main', 'atlas', 'manager', 'p', 'p', 'm', 1,
      2, 0, 0, 0, 0.5, 0, n, n, n, x'00' from each;
    insert into message (key, id, role, content, at_ms)
    select n * 65536 + place, 'm' || n || place, 'user', '?', n from each, (select 0 as place union all select 1);`;
}

test("reading a session takes no longer the more was said in it", async () => {
  using folder = temporaryFolder(memoryParent());
  const path = join(folder.path, "cortex.db");
  const db = openForWriting(path);
  migrate(db, MIGRATIONS);
  db.exec(sessionOf(30_000));
  db.close();
  await using ledger = await openSqliteLedger({ path });
  const times: number[] = [];
  for (let read = 0; read < 20; read++) {
    const startedMs = performance.now();
    await ledger.sessions.get(WORK);
    times.push(performance.now() - startedMs);
  }
  expect(Math.min(...times)).toBeLessThan(2);
});

test("an update counts what was said in a session before", async () => {
  using folder = temporaryFolder(memoryParent());
  const path = join(folder.path, "cortex.db");
  const db = openForWriting(path);
  migrate(
    db,
    MIGRATIONS.filter(({ version }) => version <= 17),
  );
  db.exec(sessionOf(3));
  db.close();
  await using store = await openSqliteStore({ path, clock: testClock() });
  expect(await store.sessions.get(WORK)).toMatchObject({ turnCount: 3, messageCount: 6 });
});
