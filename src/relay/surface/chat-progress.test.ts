import { expect, test } from "vitest";

import { openTestStore } from "../../../test/support/open-store.ts";
import { alice, START_MS } from "../../../test/support/sample.ts";
import { TEXT_ONLY } from "../../channels/outlet.ts";
import type { RelayId } from "../../model/ids.ts";
import type { Store } from "../../store/store.ts";
import { newRecord } from "../record/new-record.ts";
import { changeTo, toNewRelay } from "../record/kept-relay.ts";
import type { RelayRecord } from "../record/record.ts";
import { openChatProgress } from "./chat-progress.ts";

const id = "thr_00000001" as RelayId;
const can = (channel: string) => ({ ...TEXT_ONLY, edit: channel === "test" });

async function begin(store: Store, channel = "test"): Promise<RelayRecord> {
  const record = newRecord({
    id,
    templateName: "pair",
    configHash: "",
    slots: [{ slotId: "writer", profile: "offline", persistSession: false }],
    entry: { agent: "writer", stage: null },
    channel,
    userMessage: "go",
    workspace: { path: "", artifact: "" },
    nowMs: START_MS,
  });
  await store.relays.create({ ...toNewRelay(record), detail: { delivery: { channel, place: "1" } } });
  return record;
}

/** Changes the record, as a step would. */
async function change(store: Store, record: RelayRecord, fields: Partial<RelayRecord>): Promise<RelayRecord> {
  const { version } = (await store.relays.get(id))!;
  const after = { ...record, ...fields };
  await store.relays.save(id, version, changeTo(record, after));
  return after;
}

const queued = async (store: Store) => (await store.outbox.list()).items.toReversed();

async function sendNext(store: Store): Promise<void> {
  const [claim] = await store.outbox.claim(alice, 1);
  await store.outbox.plan(claim!, ["text"]);
  await store.outbox.settle(claim!, 0, { kind: "sent", platformId: "7" });
}

test("edits wait for the message and for each other, and the end does not wait for the pace", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  await using progress = openChatProgress({ store, clock, can }, { everyMs: 1_000, gatherMs: 0 });
  let record = await begin(store);
  await progress.settle();
  const [first] = await queued(store);
  expect(first!.extras).toEqual({ buttons: [{ label: "Cancel", data: `cancel:${id}` }] });
  record = await change(store, record, { totalCostUsd: 1 });
  await progress.settle();
  expect(await queued(store)).toHaveLength(1);

  await sendNext(store);
  await progress.settle();
  expect(await queued(store)).toHaveLength(1); // it is too early
  clock.advance(1_000);
  await progress.settle();
  record = await change(store, record, { totalCostUsd: 2 });
  clock.advance(1_000);
  await progress.settle();
  const [, edit, ...others] = await queued(store);
  expect(others).toEqual([]); // the edit before has not left
  expect([edit!.extras!.edits, edit!.content]).toEqual([first!.id, expect.stringContaining("$1")]);

  await change(store, record, { status: "completed", endedAt: new Date(clock()).toISOString() });
  await progress.settle();
  await progress.settle();
  const [, , end, ...more] = await queued(store);
  expect(more).toEqual([]);
  expect(end).toMatchObject({ extras: { edits: first!.id }, content: expect.stringContaining("completed") });
  expect(end!.extras).not.toHaveProperty("buttons");
});

test("another process finds the message and its last edit, and shows an end that nobody has shown", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  const record = await begin(store);
  const settle = async () => {
    await using progress = openChatProgress({ store, clock, can }, { everyMs: 0, gatherMs: 0 });
    await progress.settle();
  };
  await settle();
  await settle();
  expect(await queued(store)).toHaveLength(1);
  await sendNext(store);
  const slow = await change(store, record, { totalCostUsd: 1 });
  await settle();
  await settle();
  expect(await queued(store)).toHaveLength(2);
  await change(store, slow, { status: "cancelled", endedAt: new Date(clock()).toISOString() });
  await settle();
  await settle();
  expect((await queued(store)).map(({ extras }) => extras?.buttons?.length ?? 0)).toEqual([1, 1, 0]);
});

test("where messages cannot be edited, nothing is shown", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  await begin(store, "webhook");
  await using progress = openChatProgress({ store, clock, can }, { everyMs: 0, gatherMs: 0 });
  await progress.settle();
  expect(await queued(store)).toEqual([]);
});
