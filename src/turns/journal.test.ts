import { expect, test } from "vitest";

import { openTestStore } from "../../test/support/open-store.ts";
import {
  alice,
  answer,
  dispatch,
  event,
  message,
  session,
  START_MS,
  toSession,
  turnFor,
} from "../../test/support/sample.ts";
import type { ItemId } from "../model/ids.ts";
import type { CallBlock, Message } from "../model/message.ts";
import type { Claim, Store } from "../store/store.ts";
import { type Pinned, TurnJournal } from "./journal.ts";

const pinned: Pinned = { system: "You are.", tools: ["A"], profile: "fast" };
const query = message("q", "user", "go");
const OK = { status: "ok", result: { text: "fine" }, atMs: START_MS + 2 } as const;

function call(id: string): CallBlock {
  return { type: "toolCall", id, name: "A", arguments: { id } };
}

function wanting(id: string, ...blocks: readonly CallBlock[]): Message {
  return { ...message(id, "assistant", ""), body: { blocks } };
}

async function begin(store: Store): Promise<Claim> {
  const work = { dispatch: dispatch("a", toSession("work")), claim: alice };
  return (await store.events.accept(event("a"), work)).dispatched!.claim!;
}

function newJournal(store: Store, claim: Claim): TurnJournal {
  return new TurnJournal({ store, claim, pinned, messages: [query], toolCalls: [], written: 0 });
}

/** The journal as the next run finds it. */
async function takeUp(store: Store): Promise<{ claim: Claim; journal: TurnJournal }> {
  const [claim] = await store.queue.lease({ ...alice, holder: "next" }, 1);
  const { messages, toolCalls } = await store.runs.readJournal(claim!.run);
  const written = messages.length;
  const found = written > 0 ? messages : [query];
  return {
    claim: claim!,
    journal: new TurnJournal({ store, claim: claim!, pinned, messages: found, toolCalls, written }),
  };
}

test("nothing is written before the first thing that must not be repeated", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store);
  const journal = newJournal(store, claim);

  expect(await store.runs.readJournal(claim.run)).toMatchObject({
    messages: [],
    toolCalls: [],
    pinned: undefined,
  });
  expect(journal.unwritten).toEqual([query]);
  await store.turns.commit(turnFor(claim, { messages: [...journal.unwritten, answer(claim.turn)] }));
  expect((await store.turns.read(claim.turn))!.messages).toEqual([query, answer(claim.turn)]);
});

test("the query and what the run was started with go along with the first message", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store);
  const journal = newJournal(store, claim);
  const first = wanting("m1", call("c0"), call("c1"));

  await journal.addMessages([first]);
  await journal.startCall(call("c0"), 0, START_MS + 1);

  expect(await store.runs.readJournal(claim.run)).toEqual({
    messages: [query, first],
    toolCalls: [
      {
        ordinal: 0,
        callId: "c0",
        tool: "A",
        params: { id: "c0" },
        status: "started",
        startedAtMs: START_MS + 1,
      },
    ],
    pinned,
    wait: undefined,
  });
  expect(journal.unwritten).toEqual([]);
  expect(journal.messages).toEqual([query, first]);
});

test("a call that was never begun is given its intent with its result", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store);
  const journal = newJournal(store, claim);
  await journal.addMessages([wanting("m1", call("c0"))]);

  const finished = await journal.finishCall(call("c0"), 0, { ...OK, status: "skipped" });

  expect(finished).toMatchObject({
    callId: "c0",
    status: "skipped",
    startedAtMs: OK.atMs,
    completedAtMs: OK.atMs,
  });
  expect((await store.runs.readJournal(claim.run)).toolCalls).toEqual([finished]);
  expect(journal.toolCalls).toEqual([finished]);
});

test("a message from the queue makes its item part of the turn, in the same write", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store);
  await store.events.accept(event("b"), { dispatch: dispatch("b", toSession("work")) });
  const journal = newJournal(store, claim);
  const steering = message("item-b", "user", "stop");

  await journal.addMessages([steering], await store.queue.pending(session("work")));

  expect(journal.messages).toEqual([query, steering]);
  expect(await store.queue.pending(session("work"))).toEqual([]);
  expect((await store.queue.itemsOf(claim.turn)).map(({ id }) => id)).toEqual(["item-a", "item-b"]);
});

test("a message that cannot be written is not in the journal", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store);
  const journal = newJournal(store, claim);

  const refused = journal.addMessages(
    [message("x", "user", "x")],
    [{ id: "item-none" as ItemId, dispatches: [] }],
  );
  await expect(refused).rejects.toMatchObject({ code: "item_unknown" });
  expect(journal.unwritten).toEqual([query]);

  await journal.addMessages([wanting("m1", call("c0"))]);
  expect((await store.runs.readJournal(claim.run)).messages.map(({ id }) => id)).toEqual(["q", "m1"]);
});

test("a run that has lost its lease writes nothing more", async () => {
  await using opened = await openTestStore();
  const claim = await begin(opened.store);
  const journal = newJournal(opened.store, claim);
  await journal.addMessages([wanting("m1", call("c0"))]);
  await opened.store.queue.release([claim.lease]);
  await takeUp(opened.store);

  for (const write of [
    journal.addMessages([message("m2", "user", "x")]),
    journal.startCall(call("c0"), 0, START_MS),
    journal.finishCall(call("c0"), 0, OK),
  ]) {
    await expect(write).rejects.toMatchObject({ code: "lease_lost" });
  }
});

/** The writes of one turn, in order; each is one commit. */
const WRITES: readonly ((journal: TurnJournal) => Promise<unknown>)[] = [
  (journal) => journal.addMessages([wanting("m1", call("c0"), call("c1"))]),
  (journal) => journal.startCall(call("c0"), 0, START_MS),
  (journal) => journal.finishCall(call("c0"), 0, OK),
  (journal) => journal.startCall(call("c1"), 1, START_MS),
  (journal) => journal.finishCall(call("c1"), 1, OK),
  (journal) => journal.addMessages([wanting("m2", call("c2"))]),
];

test("after a crash between any two writes, the rest can be written as if there had been none", async () => {
  await using whole = await openTestStore();
  const claim = await begin(whole.store);
  const journal = newJournal(whole.store, claim);
  for (const write of WRITES) await write(journal);
  const expected = await whole.store.runs.readJournal(claim.run);

  for (let cut = 0; cut <= WRITES.length; cut++) {
    await using opened = await openTestStore();
    const first = newJournal(opened.store, await begin(opened.store));
    for (const write of WRITES.slice(0, cut)) await write(first);
    const next = await takeUp(await opened.crash());
    expect(next.journal.messages).toEqual(first.messages);
    expect(next.journal.toolCalls).toEqual(first.toolCalls);
    for (const write of WRITES.slice(cut)) await write(next.journal);

    expect(await opened.store.runs.readJournal(next.claim.run)).toEqual(expected);
  }
});
