import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import { openTestStore } from "../../test/support/open-store.ts";
import { answer, dispatch, event, session, START_MS, toSession, turnFor } from "../../test/support/sample.ts";
import { begin } from "../../test/support/stores.ts";
import type { ItemId } from "../model/ids.ts";
import { promptText } from "../model/message.ts";
import { OFFLINE_PROFILE } from "../model/profile.ts";
import type { Claim, NewDispatch, QueueItem, Store } from "../store/store.ts";
import { joinWaiting } from "./join-waiting.ts";
import type { TurnPorts } from "./turn-ports.ts";
import { TurnJournal } from "./journal.ts";
import { memoryOf, withMemory } from "./memory.ts";
import { toQuery } from "./query.ts";

const { config } = await loadFiles({ "cortex.json": { timezone: "UTC" } });
const WORK = session("work");
const CAP = { max: 1, drop: "summarize" } as const;

/** Everything that waits joins, after the first. */
const TAKES_ALL: TurnPorts["gatherTurn"] = async (first, { readPending }) => [
  first,
  ...(await readPending()),
];

function partsOf(store: Store, gatherTurn = TAKES_ALL) {
  const settings = { config: () => config, profile: () => OFFLINE_PROFILE };
  return { store, settings, clock: () => START_MS, gatherTurn };
}

async function queue(store: Store, names: string, fields: Partial<NewDispatch> = {}): Promise<void> {
  for (const name of names) {
    await store.events.accept(event(name), { dispatch: dispatch(name, toSession("work"), fields) });
  }
}

/** What a run of the claim would work with. */
async function workOf(store: Store, claim: Claim) {
  const items: QueueItem[] = [...(await store.queue.itemsOf(claim.turn))];
  const { messages } = await store.runs.readJournal(claim.run);
  const journal = new TurnJournal({
    store,
    claim,
    pinned: { system: "", tools: [], profile: "offline" },
    messages: messages.length > 0 ? messages : items.map((item) => toQuery(item, "UTC")),
    toolCalls: [],
    written: messages.length,
  });
  return { claim, journal, items };
}

async function journalled(store: Store, { run }: Claim): Promise<string[]> {
  return (await store.runs.readJournal(run)).messages.map(({ content }) => content);
}

async function unseen(store: Store): Promise<string[]> {
  return (await store.queue.unseenDrops(WORK)).map(({ id }) => id);
}

test("messages that join are in the journal before anything else, and are settled with the turn", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store, "a");
  await queue(store, "bc");
  const work = await workOf(store, claim);
  await joinWaiting(work, partsOf(store));

  expect(await journalled(store, claim)).toEqual(["message a", "message b", "message c"]);
  expect(work.journal.messages.map(({ content }) => content)).toEqual([
    "message a",
    "message b",
    "message c",
  ]);
  expect(work.items.map(({ id }) => id)).toEqual(["item-a", "item-b", "item-c"]);
  await store.turns.commit(turnFor(claim, { messages: [answer(claim.turn)] }));
  for (const name of "abc") {
    expect(await store.queue.outcome(`item-${name}` as ItemId)).toMatchObject({ turn: claim.turn });
  }
});

test("what was recalled for the turn stays with it when others join", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store, "a");
  await queue(store, "b");
  const work = await workOf(store, claim);
  const [first] = work.journal.messages;
  const pinned = { system: "", tools: [], profile: "offline" };
  const messages = [withMemory(first!, "From the ledger")];
  const journal = new TurnJournal({ store, claim, pinned, messages, toolCalls: [], written: 0 });
  await joinWaiting({ ...work, journal }, partsOf(store));
  const written = (await store.runs.readJournal(claim.run)).messages;
  expect(written.map(memoryOf)).toEqual(["From the ledger", undefined]);
});

test("a turn that nothing joins and that is told of nothing writes nothing", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store, "a");
  const work = await workOf(store, claim);
  await joinWaiting(work, partsOf(store));
  expect(await journalled(store, claim)).toEqual([]);
  expect(work.journal.unwritten).toHaveLength(1);
});

test("what was dropped is told in the first message, beside its words, once", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store, "a");
  await queue(store, "bcd", { cap: CAP });
  const work = await workOf(store, claim);
  await joinWaiting(work, partsOf(store));

  const [first] = (await store.runs.readJournal(claim.run)).messages;
  expect(first!.content).toBe("message a");
  expect(promptText(first!)).toContain(
    "2 messages were dropped, because too many waited:\n- tyler: message b\n",
  );
  expect(await unseen(store)).toEqual([]);
});

test("a message that somebody drops meanwhile does not join, and the others do", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store, "a");
  await queue(store, "bc");
  let reads = 0;
  const gatherTurn: TurnPorts["gatherTurn"] = async (first, { readPending }) => {
    const pending = await readPending();
    if (reads++ === 0) await store.queue.drop(["item-b" as ItemId], "test");
    return [first, ...pending];
  };
  await joinWaiting(await workOf(store, claim), partsOf(store, gatherTurn));
  expect(await journalled(store, claim)).toEqual(["message a", "message c"]);
  expect(reads).toBe(2);
});

test("where something vanishes each time, the turn begins without", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store, "a");
  await queue(store, "b");
  const [gone] = await store.queue.pending(WORK);
  await store.queue.drop([gone!.id], "test");
  await joinWaiting(
    await workOf(store, claim),
    partsOf(store, async (first) => [first, gone!]),
  );
  expect(await journalled(store, claim)).toEqual([]);
});

test("a turn that has begun, or is to be aborted, takes nothing more in", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store, "a");
  await queue(store, "b");
  await joinWaiting(await workOf(store, { ...claim, abort: "test" }), partsOf(store));
  expect(await journalled(store, claim)).toEqual([]);
  const work = await workOf(store, claim);
  await work.journal.addMessages([]);
  await joinWaiting(work, partsOf(store));
  expect(await journalled(store, claim)).toEqual(["message a"]);
});

test("after a crash, what had joined is there, and what came later waits", async () => {
  await using opened = await openTestStore();
  const claim = await begin(opened.store, "a");
  await queue(opened.store, "b");
  await joinWaiting(await workOf(opened.store, claim), partsOf(opened.store));
  const store = await opened.crash();
  await queue(store, "c");
  const [again] = await store.queue.lease({ holder: "next", ttlMs: 30_000 }, 1);
  const work = await workOf(store, again!);
  await joinWaiting(work, partsOf(store));
  expect(work.journal.messages.map(({ content }) => content)).toEqual(["message a", "message b"]);
  expect((await store.queue.pending(WORK)).map(({ id }) => id)).toEqual(["item-c"]);
});

test("a dead letter that is to be tried again keeps its own turn", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const dead = await begin(store, "a");
  await store.runs.fail({ lease: dead.lease, run: dead.run, error: "x", outcome: { kind: "dead" } });
  const claim = await begin(store, "b");
  await store.queue.retryDead("item-a" as ItemId);
  await queue(store, "c");
  await joinWaiting(await workOf(store, claim), partsOf(store));
  expect(await journalled(store, claim)).toEqual(["message b", "message c"]);
});

test("another failure of the store is the run's", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store, "a");
  await queue(store, "b");
  const work = await workOf(store, claim);
  await store.queue.release([claim.lease]);
  await expect(joinWaiting(work, partsOf(store))).rejects.toMatchObject({ code: "lease_lost" });
});
