/** What a crash and an update leave of queues under pressure; the rules are in the contract. */
import { expect, test } from "vitest";

import { openTestStore } from "../../../test/support/open-store.ts";
import {
  alice,
  dispatch,
  event,
  message,
  session,
  toSession,
  turnFor,
} from "../../../test/support/sample.ts";
import { begin } from "../../../test/support/stores.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import type { ItemId } from "../../model/ids.ts";
import type { Dispatched, NewDispatch, Store } from "../store.ts";
import { openForWriting } from "./connection.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./schema.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const work = session("work");

async function send(store: Store, name: string, fields: Partial<NewDispatch> = {}): Promise<Dispatched> {
  const options = { dispatch: dispatch(name, toSession("work"), fields), claim: alice };
  return (await store.events.accept(event(name), options)).dispatched!;
}

test("what was dropped to make room stays so after a crash, told to the turn that goes on and to no other", async () => {
  await using opened = await openTestStore();
  const claim = await begin(opened.store, "r");
  const cap = { max: 1, drop: "summarize" as const };
  for (const name of ["a", "b", "c"]) await send(opened.store, name, { cap });
  await opened.store.runs.journal(claim.lease, claim.run, [
    {
      kind: "message",
      place: 0,
      message: message("m", "user", "a was dropped"),
      items: ["item-a" as ItemId],
    },
  ]);
  const store = await opened.crash();
  expect(await store.queue.unseenDrops(work)).toMatchObject([{ id: "item-b" }]);
  expect(await send(store, "c", { cap })).toMatchObject({ outcome: "repeated" });
  expect(await store.queue.pending(work)).toMatchObject([{ id: "item-c" }]);
  const [again] = await store.queue.lease(alice, 1);
  expect((await store.runs.readJournal(again!.run)).messages).toMatchObject([{ content: "a was dropped" }]);
});

test("a run that was interrupted before a crash, or after one, ends when it is taken up", async () => {
  await using opened = await openTestStore();
  const before = await begin(opened.store, "r");
  await send(opened.store, "a", { mode: "interrupt" });
  const after = await begin(opened.store, "o", "other");
  const store = await opened.crash();
  const late = dispatch("b", toSession("other"), { mode: "interrupt" });
  await store.events.accept(event("b"), { dispatch: late });
  const claims = await store.queue.lease(alice, 2);
  expect(new Set(claims.map(({ run }) => run))).toEqual(new Set([before.run, after.run]));
  for (const claim of claims) {
    expect(claim.abort).toBe("interrupted by a newer message");
    await store.turns.commit(turnFor(claim, { status: "aborted" }));
  }
  expect(await store.queue.lease(alice, 2)).toHaveLength(2);
});

test("a quiet window that was moved is the same after a crash", async () => {
  await using opened = await openTestStore();
  const { clock } = opened;
  await send(opened.store, "a", { mode: "collect", dueMs: clock() + 1_000 });
  clock.advance(500);
  await send(opened.store, "b", { mode: "collect", dueMs: clock() + 1_000 });
  const store = await opened.crash();
  expect(await store.queue.nextReadyMs()).toBe(clock() + 1_000);
  await send(store, "b", { mode: "collect", dueMs: clock() + 9_000 }); // redelivered
  expect(await store.queue.nextReadyMs()).toBe(clock() + 1_000);
});

test("what waits in a database from before has its place in the new order", async () => {
  using folder = temporaryFolder();
  const path = `${folder.path}/cortex.db`;
  const db = openForWriting(path);
  migrate(db, MIGRATIONS.slice(0, 2));
  db.exec(`
    insert into session (key, label, agent, persona, ready_ms, created_ms, used_ms)
      values (1, 'work', 'main', 'atlas', 5, 1, 1);
    insert into event (seq, id, at_ms, received_ms, channel, direction, content_type)
      values (1, 'test:a', 1, 1, 'test', 'received', 'text'), (2, 'test:b', 1, 1, 'test', 'received', 'text');
    insert into item (id, event, session, mode, state, due_ms, queued_ms)
      values ('item-a', 1, 1, 'followup', 'queued', 5, 1), ('item-b', 2, 1, 'interrupt', 'queued', 6, 1);
  `);
  db.close();
  await using store = await openSqliteStore({ path, clock: () => 10 });
  const [claim] = await store.queue.lease(alice, 1);
  expect(await store.queue.itemsOf(claim!.turn)).toMatchObject([{ id: "item-b" }]);
});
