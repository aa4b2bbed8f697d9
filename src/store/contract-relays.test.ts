/** What every store promises about relays. */
import { describe, expect, test } from "vitest";

import { alice, dispatch, event, session, START_MS, toSession, turnFor } from "../../test/support/sample.ts";
import { begin, STORES } from "../../test/support/stores.ts";
import type { ApprovalId, DeliveryId, ItemId, RelayId } from "../model/ids.ts";
import { TRUST_SETTING } from "../model/trust.ts";
import type { NewRelay, RelayChange, RelayStepChange, Store } from "./store.ts";

const refusal = (code: string) =>
  expect.objectContaining({ name: "CortexError", code, hint: expect.any(String) });

const ID = "thr_00000001" as RelayId;

function relay(fields: Partial<NewRelay> = {}): NewRelay {
  return { id: ID, template: "two", state: "running", record: { at: 0 }, ...fields };
}

function running(fields: Partial<RelayChange> = {}): RelayChange {
  return { state: "running", record: { at: 1 }, ...fields };
}

/** A step that asks for a turn in a session of its own. */
function asks(step: number, label = `step-${step}`, worker = {}): RelayStepChange {
  return {
    step,
    slot: "planner",
    record: { step },
    isEnded: false,
    accept: {
      event: event(`${ID}-${step}`, { channel: "relay" }),
      dispatch: dispatch(`${step}`, toSession(label), { hook: "relay" }),
      worker,
      trust: [],
    },
  };
}

/** A relay with a step that somebody is at work on. */
async function working(store: Store) {
  await store.relays.create(relay());
  const { claim, version } = await store.relays.save(ID, 1, running({ steps: [asks(0)], claim: alice }));
  return { claim: claim!, version };
}

describe.each(Object.entries(STORES))("%s", (_, open) => {
  test("a relay is kept once, and is due at once", async () => {
    await using opened = await open();
    const { relays } = opened.store;
    expect(await relays.create(relay({ channel: "here", detail: { dir: "/x" } }))).toEqual({ fresh: true });
    expect(await relays.create(relay({ record: { at: 99 } }))).toEqual({ fresh: false });
    expect(await relays.get(ID)).toEqual({
      id: ID,
      template: "two",
      state: "running",
      version: 1,
      record: { at: 0 },
      detail: { dir: "/x" },
      configHash: undefined,
      isDue: true,
      isArchived: false,
      createdAtMs: START_MS,
      updatedAtMs: START_MS,
      endedAtMs: undefined,
    });
    expect(await relays.due()).toEqual([ID]);
    expect(await relays.anyOpen()).toBe(true);
  });

  test("a relay that nobody knows is told apart", async () => {
    await using opened = await open();
    const { relays } = opened.store;
    expect(await relays.get(ID)).toBeUndefined();
    expect(await relays.steps(ID)).toEqual([]);
    expect(await relays.anyOpen()).toBe(false);
    await expect(relays.save(ID, 1, running())).rejects.toEqual(refusal("relay_unknown"));
  });

  test("a change is made to the version that was read, and to no other", async () => {
    await using opened = await open();
    const { relays } = opened.store;
    await relays.create(relay());
    expect(await relays.save(ID, 1, running())).toEqual({ version: 2 });
    await expect(relays.save(ID, 1, running({ record: { at: 2 } }))).rejects.toEqual(
      refusal("state_conflict"),
    );
    expect(await relays.get(ID)).toMatchObject({ version: 2, record: { at: 1 }, isDue: false });
    expect(await relays.due()).toEqual([]);
  });

  test("a step is asked for in the commit that keeps it", async () => {
    await using opened = await open();
    const { store } = opened;
    const { claim, version } = await working(store);
    expect(version).toBe(2);
    expect(claim.lease.session).toBe("step-0");
    expect(await store.relays.steps(ID)).toEqual([
      {
        step: 0,
        slot: "planner",
        record: { step: 0 },
        state: "running",
        item: "item-0",
        session: "step-0",
        wait: undefined,
        startedAtMs: START_MS,
        endedAtMs: undefined,
      },
    ]);
    expect(await store.sessions.get(session("step-0"))).toMatchObject({ worker: {} });
  });

  test("what is refused leaves nothing of the change", async () => {
    await using opened = await open();
    const { store } = opened;
    await store.relays.create(relay());
    await store.relays.save(ID, 1, running());
    await expect(store.relays.save(ID, 1, running({ steps: [asks(0)] }))).rejects.toEqual(
      refusal("state_conflict"),
    );
    expect(await store.relays.steps(ID)).toEqual([]);
    expect((await store.queue.list()).items).toEqual([]);
  });

  test("the commit that settles a step's message ends the step and makes the relay due", async () => {
    await using opened = await open();
    const { store } = opened;
    const { claim, version } = await working(store);
    await store.turns.commit(turnFor(claim));
    expect(await store.relays.steps(ID)).toMatchObject([{ state: "ended", endedAtMs: START_MS }]);
    expect(await store.relays.due()).toEqual([ID]);
    await expect(store.relays.save(ID, version, running())).rejects.toEqual(refusal("state_conflict"));
  });

  test.each([
    [
      "dies",
      async (store: Store) => {
        const { claim } = await working(store);
        await store.runs.fail({ lease: claim.lease, run: claim.run, error: "no", outcome: { kind: "dead" } });
      },
    ],
    [
      "is dropped",
      async (store: Store) => {
        await store.relays.create(relay());
        await store.relays.save(ID, 1, running({ steps: [asks(0)] }));
        await store.queue.drop(["item-0" as ItemId], "test");
      },
    ],
  ])("a step whose message %s has ended too", async (_name, settle) => {
    await using opened = await open();
    await settle(opened.store);
    expect(await opened.store.relays.steps(ID)).toMatchObject([{ state: "ended" }]);
    expect(await opened.store.relays.due()).toEqual([ID]);
  });

  test("a dead letter that is tried again later is no step any more", async () => {
    await using opened = await open();
    const { store } = opened;
    const { claim } = await working(store);
    await store.runs.fail({ lease: claim.lease, run: claim.run, error: "no", outcome: { kind: "dead" } });
    const { version } = (await store.relays.get(ID))!;
    await store.relays.save(ID, version, running());
    await store.queue.retryDead("item-0" as ItemId);
    const [again] = await store.queue.lease(alice, 1);
    await store.turns.commit(turnFor(again!));
    expect(await store.relays.due()).toEqual([]);
  });

  test("to stop a relay ends what runs of it, and drops what waits", async () => {
    await using opened = await open();
    const { store } = opened;
    const { claim } = await working(store);
    await store.relays.save(ID, 2, running({ steps: [asks(1)] }));
    const { version } = await store.relays.save(ID, 3, running({ stop: "enough" }));
    expect((await store.runs.get(claim.run))?.abort).toBe("enough");
    expect(await store.queue.outcome("item-1" as ItemId)).toMatchObject({
      state: "dropped",
      policy: "relay",
    });
    expect(await store.relays.get(ID)).toMatchObject({ version, isDue: true });
  });

  test("a step gives its session what it was told with, each time anew", async () => {
    await using opened = await open();
    const { store } = opened;
    const { claim } = await working(store);
    await store.turns.commit(turnFor(claim));
    const { version } = (await store.relays.get(ID))!;
    await store.relays.save(ID, version, running({ steps: [asks(1, "step-0", { costUsd: 1 })] }));
    expect(await store.sessions.get(session("step-0"))).toMatchObject({ worker: { costUsd: 1 } });
  });

  test("a step gets the marks of the sessions that it is told of; unknown ones are passed over", async () => {
    await using opened = await open();
    const { store } = opened;
    await begin(store, "a");
    await store.sessions.configure(session("work"), {
      [TRUST_SETTING]: { untrusted: { "person:ada": true } },
    });
    await store.relays.create(relay());
    const step = asks(0);
    const accept = { ...step.accept!, trust: [session("work"), session("nobody")] };
    await store.relays.save(ID, 1, running({ steps: [{ ...step, accept }] }));
    expect((await store.sessions.get(session("step-0")))?.settings).toMatchObject({
      [TRUST_SETTING]: { untrusted: { "person:ada": true } },
    });
  });

  test("people are told in the commit that they are told of", async () => {
    await using opened = await open();
    const { store } = opened;
    await store.relays.create(relay());
    const target = { channel: "test", place: "p" };
    const deliveries = [{ id: "delivery-1" as DeliveryId, target, content: "Step 1" }];
    await store.relays.save(ID, 1, running({ deliveries }));
    expect(await store.outbox.get("delivery-1" as DeliveryId)).toMatchObject({
      turn: undefined,
      content: "Step 1",
      state: "pending",
    });
  });

  test("what a relay says can wait for a person, in the name of its last step; without one, it is refused", async () => {
    await using opened = await open();
    const { store } = opened;
    const delivery = (id: string) => ({
      id: id as DeliveryId,
      target: { channel: "test", place: "p" },
      content: id,
    });
    const held = (id: string) => ({
      request: {
        id: id as ApprovalId,
        kind: "approval" as const,
        callHash: "hash",
        request: { tool: "answer" },
        expiresAtMs: START_MS + 1,
      },
      deliveries: [delivery(`${id}-said`)],
      refused: [delivery(`${id}-refused`)],
    });
    const { claim, version } = await working(store);
    await store.turns.commit(turnFor(claim));
    const { version: now } = (await store.relays.get(ID))!;
    expect(now).toBeGreaterThan(version);
    await store.relays.save(ID, now, running({ held: held("a") }));
    expect(await store.approvals.get("a" as ApprovalId)).toMatchObject({
      state: "open",
      turn: claim.turn,
      session: "step-0",
    });
    expect((await store.outbox.list()).items).toEqual([]);
    await store.approvals.answer("a" as ApprovalId, { kind: "approve", by: "owner" });
    expect((await store.outbox.list()).items).toMatchObject([{ id: "a-said", content: "a-said" }]);

    const other = "thr_00000002" as RelayId;
    await store.relays.create(relay({ id: other }));
    await store.relays.save(other, 1, running({ held: held("b") }));
    expect(await store.approvals.get("b" as ApprovalId)).toBeUndefined();
    expect((await store.outbox.list()).items.map(({ id }) => id)).toContain("b-refused");
  });

  test("a call that waits for a relay goes on when that is over", async () => {
    await using opened = await open();
    const { store } = opened;
    const caller = await begin(store, "a");
    await store.relays.create(
      relay({ caller: { session: caller.lease.session, turn: caller.turn, ordinal: 0 } }),
    );
    await store.runs.suspend(caller.lease, caller.run, { id: "w", kind: "child", detail: null });
    await store.relays.save(ID, 1, running());
    expect((await store.runs.get(caller.run))?.state).toBe("suspended");
    await store.relays.save(ID, 2, { state: "completed", record: {} });
    expect((await store.runs.get(caller.run))?.state).toBe("resumable");
  });

  test("a relay that nobody waits for any more is due, and says why", async () => {
    await using opened = await open();
    const { store } = opened;
    const caller = await begin(store, "a");
    const { session: at } = caller.lease;
    await store.relays.create(relay({ caller: { session: at, turn: caller.turn, ordinal: 0 } }));
    await store.relays.save(ID, 1, running());
    await store.runs.requestAbort(caller.run, "enough");
    expect(await store.relays.get(ID)).toMatchObject({
      version: 3,
      isDue: true,
      detail: { unwanted: "enough" },
    });
  });

  test("only a turn that is being made can wait for a relay", async () => {
    await using opened = await open();
    const { store } = opened;
    const { lease, turn } = await begin(store, "a");
    const { session: at } = lease;
    const other = { session: at, turn: `${turn}x` as typeof turn, ordinal: 0 };
    await expect(store.relays.create(relay({ caller: other }))).rejects.toEqual(refusal("state_conflict"));
    const nobody = { session: session("nobody"), turn, ordinal: 0 };
    await expect(store.relays.create(relay({ caller: nobody }))).rejects.toEqual(refusal("session_unknown"));
    expect(await store.relays.get(ID)).toBeUndefined();
  });

  test("a configuration is kept once and read by its hash", async () => {
    await using opened = await open();
    const { relays } = opened.store;
    const config = { hash: "h1", json: '{"added":[]}' };
    await relays.create(relay({ config }));
    await relays.create(relay({ id: "thr_00000002" as RelayId, config }));
    await relays.save(ID, 1, running({ config: { hash: "h2", json: "{}" } }));
    expect(await relays.config("h1")).toBe('{"added":[]}');
    expect((await relays.get(ID))?.configHash).toBe("h2");
    expect(await relays.config("h3")).toBeUndefined();
  });

  test("lists are by state and by channel, newest first, and leave out what was archived", async () => {
    await using opened = await open();
    const { relays } = opened.store;
    const ids = ["thr_00000001", "thr_00000002", "thr_00000003"] as RelayId[];
    await relays.create(relay({ channel: "here" }));
    await relays.create(relay({ id: ids[1]!, channel: "there" }));
    await relays.create(relay({ id: ids[2]!, channel: "here", state: "completed" }));
    const listed = async (options: Parameters<typeof relays.list>[0]) =>
      (await relays.list(options)).items.map(({ id }) => id);
    expect(await listed({})).toEqual(ids.toReversed());
    expect(await listed({ channel: "here" })).toEqual([ids[2], ids[0]]);
    expect(await listed({ states: ["running", "waiting"] })).toEqual([ids[1], ids[0]]);
    const { items, next } = await relays.list({ limit: 2 });
    expect(items.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    expect(await listed({ cursor: next! })).toEqual([ids[0]]);

    expect((await relays.endedBefore(START_MS + 1)).map(({ id }) => id)).toEqual([ids[2]]);
    expect(await relays.endedBefore(START_MS)).toEqual([]);
    await relays.archive(ids);
    expect(await listed({})).toEqual([ids[1], ids[0]]);
    expect(await relays.endedBefore(START_MS + 1)).toEqual([]);
    expect(await relays.get(ids[2]!)).toMatchObject({ isArchived: true });
  });

  test("a relay that goes on after its end is listed again", async () => {
    await using opened = await open();
    const { relays } = opened.store;
    await relays.create(relay({ state: "failed" }));
    await relays.archive([ID]);
    await relays.save(ID, 1, running({ due: true }));
    expect(await relays.get(ID)).toMatchObject({ isArchived: false, isDue: true, endedAtMs: undefined });
  });

  test("what steps have cost is counted from when they were recorded as ended", async () => {
    await using opened = await open();
    const { relays } = opened.store;
    await relays.create(relay());
    const ended = { slot: "planner", record: {}, isEnded: true };
    await relays.save(
      ID,
      1,
      running({
        steps: [
          { step: 0, ...ended, costUsd: 0.25 },
          { step: 1, ...ended, costUsd: 0.5 },
          { step: 2, ...ended, costUsd: null },
        ],
      }),
    );
    expect(await relays.spentUsd(START_MS)).toBe(0.75);
    expect(await relays.spentUsd(START_MS + 1)).toBe(0);
  });

  test("a relay is in the feed of changes, with what it came into", async () => {
    await using opened = await open();
    const { store } = opened;
    await store.relays.create(relay());
    await store.relays.save(ID, 1, { state: "cancelled", record: {} });
    const { changes } = await store.changes.since(0);
    expect(changes.map((change) => (change.kind === "relay" ? change.state : change.kind))).toEqual([
      "running",
      "cancelled",
    ]);
  });

  test("relays and steps can be queried", async () => {
    await using opened = await open();
    const { store } = opened;
    await working(store);
    expect(await store.query("select id, template, status from relays")).toEqual([
      { id: ID, template: "two", status: "running" },
    ]);
    expect(await store.query("select relay_id, step, slot, session_label, status from relay_steps")).toEqual([
      { relay_id: ID, step: 0, slot: "planner", session_label: "step-0", status: "running" },
    ]);
  });
});
