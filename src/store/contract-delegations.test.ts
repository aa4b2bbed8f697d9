/** What every store promises about work that one session's agent gives to another's. */
import { describe, expect, test } from "vitest";

import {
  alice,
  answer,
  bob,
  dispatch,
  event,
  message,
  session,
  START_MS,
  toSession,
  turnFor,
} from "../../test/support/sample.ts";
import { begin, STORES } from "../../test/support/stores.ts";
import { MINUTE_MS } from "../model/durations.ts";
import type { DelegationId, ItemId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type {
  Claim,
  DelegationReport,
  Dispatched,
  DispatchTarget,
  NewDelegation,
  NewDispatch,
  Store,
} from "./store.ts";
import { MAX_MESSAGE_BYTES, MAX_PAGE, MAX_TOOL_CALLS_IN_TURN } from "./store.ts";

const refusal = (code: string) =>
  expect.objectContaining({ name: "CortexError", code, hint: expect.any(String) });

const wait = { id: "w", kind: "child" as const, detail: null };
const delegated = (name: string): DelegationId => `d-${name}` as DelegationId;

/** A session that a turn opens for a worker. */
function workerOf(caller: Claim, label: string, worker: Json = { type: "explore" }): DispatchTarget {
  const { lease, turn: parentTurn } = caller;
  const parent = lease.session;
  return {
    ...(toSession(label) as Extract<DispatchTarget, { kind: "session" }>),
    worker: { parent, parentTurn, parentCall: "call-0", worker },
  };
}

interface Given extends Partial<NewDelegation> {
  readonly to?: string;
  readonly target?: DispatchTarget;
  readonly dispatch?: Partial<NewDispatch>;
  /** Taken up by whoever this is, at once. */
  readonly by?: typeof alice;
}

/** A turn gives work to another session. */
async function give(store: Store, caller: Claim, name: string, given: Given = {}): Promise<Dispatched> {
  const { to = name, target = workerOf(caller, to), dispatch: fields, by, ...delegation } = given;
  const accepted = await store.events.accept(event(name, { channel: "subagent" }), {
    dispatch: dispatch(name, target, {
      from: caller.lease.session,
      delegation: { id: delegated(name), turn: caller.turn, ordinal: 0, waits: true, ...delegation },
      ...fields,
    }),
    ...(by === undefined ? {} : { claim: by }),
  });
  return accepted.dispatched!;
}

/** The same, and the worker is at work. */
async function giveAndBegin(store: Store, caller: Claim, name: string, given: Given = {}): Promise<Claim> {
  return (await give(store, caller, name, { by: bob, ...given })).claim!;
}

function abortedTurn(claim: Claim) {
  return turnFor(claim, { status: "aborted", messages: [message("q", "user", "q")] });
}

/** The message that tells of an end. */
function report(name: string, to: string, from: string): DelegationReport {
  return {
    event: event(`report-${name}`, { direction: "sent", channel: "agent" }),
    dispatch: dispatch(`report-${name}`, toSession(to), { from: session(from) }),
  };
}

async function stateOf(store: Store, name: string): Promise<string> {
  return (await store.delegations.get(delegated(name)))!.state;
}

async function unreported(store: Store): Promise<string[]> {
  return (await store.delegations.unreported()).map(({ id }) => id);
}

async function trustOf(store: Store, label: string): Promise<Json | undefined> {
  return (await store.sessions.get(session(label)))!.settings["trust"];
}

/** What the feed tells of delegations, in order. */
async function told(store: Store): Promise<string[]> {
  const { changes } = await store.changes.since(0);
  return changes.flatMap((change) =>
    change.kind === "delegation" ? [`${change.delegation} ${change.state}`] : [],
  );
}

async function journalCall(store: Store, { lease, run }: Claim, ordinal: number): Promise<void> {
  const call = { ordinal, callId: `call-${ordinal}`, tool: "sub_agent", params: {}, startedAtMs: START_MS };
  await store.runs.journal(lease, run, [{ kind: "call", ...call }]);
}

async function journalResult(store: Store, { lease, run }: Claim, ordinal: number): Promise<void> {
  const result = { ordinal, status: "ok" as const, result: "done", completedAtMs: START_MS };
  await store.runs.journal(lease, run, [{ kind: "result", ...result }]);
}

describe.each(Object.entries(STORES))("%s", (_, open) => {
  test("a delegation begins with its message, opens the session of a worker, and is listed", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const caller = await begin(store, "a");
    clock.advance(1_000);
    await give(store, caller, "one", { ordinal: 2, deadlineMs: START_MS + MINUTE_MS, detail: { to: "dm" } });
    await give(store, caller, "two", { waits: false });

    const one = {
      id: "d-one",
      caller: "work",
      callerTurn: caller.turn,
      ordinal: 2,
      session: "one",
      item: "item-one",
      waits: true,
      state: "open",
      turn: undefined,
      error: undefined,
      deadlineMs: START_MS + MINUTE_MS,
      detail: { to: "dm" },
      startedAtMs: START_MS + 1_000,
      endedAtMs: undefined,
      reportedAtMs: undefined,
    };
    expect(await store.delegations.get(delegated("one"))).toEqual(one);
    expect(await store.delegations.get(delegated("none"))).toBeUndefined();
    expect(await store.delegations.nextDeadlineMs()).toBe(START_MS + MINUTE_MS);
    expect(await store.delegations.unreported()).toEqual([]);

    const ids = async (options?: Parameters<typeof store.delegations.list>[0]) =>
      (await store.delegations.list(options)).items.map(({ id }) => id);
    expect(await ids()).toEqual(["d-two", "d-one"]);
    expect(await ids({ caller: session("work") })).toEqual(["d-two", "d-one"]);
    expect(await ids({ caller: session("one") })).toEqual([]);
    expect(await ids({ session: session("one") })).toEqual(["d-one"]);
    expect(await ids({ state: "open", caller: session("work") })).toEqual(["d-two", "d-one"]);
    expect(await ids({ state: "done" })).toEqual([]);
    expect(await ids({ session: session("unknown") })).toEqual([]);
    const first = await store.delegations.list({ limit: 1 });
    expect(await ids({ limit: 1, cursor: first.next! })).toEqual(["d-one"]);
    await expect(store.delegations.unreported({ limit: MAX_PAGE + 1 })).rejects.toEqual(
      refusal("limit_invalid"),
    );
    expect(
      await store.query(
        `select id, caller_session_label, caller_turn_id, tool_number, session_label, item_id, waits, status,
                deadline_at from delegations order by id`,
      ),
    ).toMatchObject([
      { id: "d-one", caller_session_label: "work", caller_turn_id: caller.turn, tool_number: 2, waits: 1 },
      { id: "d-two", session_label: "two", item_id: "item-two", status: "open", deadline_at: null },
    ]);
    expect(
      await store.query(
        `select id, parent_session_id, parent_turn_id, spawn_tool_call_id, task_description, task_status, is_subagent
         from agent_sessions where is_subagent order by id`,
      ),
    ).toEqual([
      {
        id: "one",
        parent_session_id: "work",
        parent_turn_id: caller.turn,
        spawn_tool_call_id: "call-0",
        task_description: "message one",
        task_status: "open",
        is_subagent: 1,
      },
      expect.objectContaining({ id: "two" }),
    ]);
    expect(await told(store)).toEqual(["d-one open", "d-two open"]);
  });

  test("a worker keeps who opened it, and the sessions above and below are found", async () => {
    await using opened = await open();
    const { store } = opened;
    const caller = await begin(store, "a");
    const one = await giveAndBegin(store, caller, "one");
    await give(store, caller, "two", { target: workerOf(caller, "two", { type: "plan" }) });
    await give(store, one, "three");

    expect(await store.sessions.get(session("one"))).toMatchObject({
      parentSession: "work",
      parentTurn: caller.turn,
      parentCall: "call-0",
      worker: { type: "explore" },
      channel: "subagent",
      children: 1,
    });
    expect(await store.sessions.get(session("work"))).toMatchObject({
      parentSession: undefined,
      parentTurn: undefined,
      parentCall: undefined,
      worker: undefined,
      children: 2,
    });
    const keys = (sessions: { key: string }[]) => sessions.map(({ key }) => key);
    expect(keys(await store.sessions.children(session("work")))).toEqual(["one", "two"]);
    expect(keys(await store.sessions.children(session("work"), { limit: 1 }))).toEqual(["one"]);
    expect(await store.sessions.children(session("unknown"))).toEqual([]);
    expect(keys(await store.sessions.ancestors(session("three")))).toEqual(["one", "work"]);
    expect(await store.sessions.ancestors(session("work"))).toEqual([]);
    expect(await store.sessions.ancestors(session("unknown"))).toEqual([]);
    await expect(store.sessions.children(session("work"), { limit: 0 })).rejects.toEqual(
      refusal("limit_invalid"),
    );

    // A session that is there stays what it is.
    await give(store, caller, "four", { target: workerOf(caller, "two", { type: "other" }) });
    expect(await store.sessions.get(session("two"))).toMatchObject({ worker: { type: "plan" } });
  });

  test("what cannot be given is refused, and nothing of it is stored", async () => {
    await using opened = await open();
    const { store } = opened;
    const caller = await begin(store, "a");
    const bad = (given: Given) => give(store, caller, "bad", given);
    await expect(bad({ turn: "other" as TurnId })).rejects.toEqual(refusal("state_conflict"));
    await expect(bad({ dispatch: { from: session("nobody") } })).rejects.toEqual(refusal("session_unknown"));
    await expect(bad({ ordinal: MAX_TOOL_CALLS_IN_TURN })).rejects.toEqual(refusal("limit_invalid"));
    await expect(bad({ ordinal: -1 })).rejects.toEqual(refusal("limit_invalid"));
    await expect(bad({ deadlineMs: Number.NaN })).rejects.toEqual(refusal("limit_invalid"));
    await expect(bad({ detail: "x".repeat(MAX_MESSAGE_BYTES) })).rejects.toEqual(
      refusal("message_too_large"),
    );
    const huge = workerOf(caller, "bad", { systemPrompt: "x".repeat(MAX_MESSAGE_BYTES) });
    await expect(bad({ target: huge })).rejects.toEqual(refusal("message_too_large"));
    const orphan = workerOf({ ...caller, lease: { ...caller.lease, session: session("nobody") } }, "bad");
    await expect(bad({ target: orphan })).rejects.toEqual(refusal("session_unknown"));
    const { from: _from, ...fromNobody } = dispatch("bad", toSession("bad"), {
      from: session("work"),
      delegation: { id: delegated("bad"), turn: caller.turn, ordinal: 0, waits: true },
    });
    await expect(store.events.accept(event("bad"), { dispatch: fromNobody })).rejects.toEqual(
      refusal("request_invalid"),
    );
    expect(await store.events.get(event("bad").id)).toBeUndefined();
    expect(await store.sessions.get(session("bad"))).toBeUndefined();

    await give(store, caller, "good");
    await expect(bad({ id: delegated("good") })).rejects.toEqual(refusal("state_conflict"));
    await store.turns.commit(turnFor(caller));
    await expect(bad({})).rejects.toEqual(refusal("state_conflict")); // the turn is over
    expect((await store.delegations.list()).items.map(({ id }) => id)).toEqual(["d-good"]);
  });

  test("the same call made again gives nothing twice, also after the turn is over", async () => {
    await using opened = await open();
    const { store } = opened;
    const caller = await begin(store, "a");
    await give(store, caller, "one");
    const again = { id: delegated("other"), to: "elsewhere" };
    expect(await give(store, caller, "one", again)).toMatchObject({ outcome: "repeated", session: "one" });
    await store.turns.commit(turnFor(caller));
    expect(await give(store, caller, "one", again)).toMatchObject({ outcome: "repeated", session: "one" });
    expect((await store.delegations.list()).items).toHaveLength(1);
    expect(await store.sessions.get(session("elsewhere"))).toBeUndefined();
  });

  describe("ends with its message", () => {
    test("done, with the turn that was committed for it", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const caller = await begin(store, "a");
      const worker = await giveAndBegin(store, caller, "one", { waits: false });
      clock.advance(5);
      let wakes = 0;
      store.onWake("queue", () => wakes++);
      await store.turns.commit(turnFor(worker));
      expect(wakes).toBeGreaterThan(0);
      expect(await store.delegations.get(delegated("one"))).toMatchObject({
        state: "done",
        turn: worker.turn,
        endedAtMs: START_MS + 5,
        reportedAtMs: undefined,
      });
      expect(await unreported(store)).toEqual(["d-one"]);
      expect(await told(store)).toEqual(["d-one open", "d-one done"]);
    });

    test("done, with the turn of another message that has taken it in", async () => {
      await using opened = await open();
      const { store } = opened;
      const caller = await begin(store, "a");
      const other = await begin(store, "b", "busy");
      await give(store, caller, "one", { target: toSession("busy") });
      const steered = { kind: "message" as const, place: 0, message: message("m", "user", "one") };
      await store.runs.journal(other.lease, other.run, [{ ...steered, items: ["item-one" as ItemId] }]);
      await store.turns.commit(turnFor(other, { messages: [answer(other.turn)] }));
      expect(await store.delegations.get(delegated("one"))).toMatchObject({
        state: "done",
        turn: other.turn,
      });
    });

    test("aborted, with the turn as far as it came", async () => {
      await using opened = await open();
      const { store } = opened;
      const worker = await giveAndBegin(store, await begin(store, "a"), "one");
      await store.runs.requestAbort(worker.run, "stop");
      expect(await stateOf(store, "one")).toBe("open"); // until it has stopped
      await store.turns.commit(abortedTurn(worker));
      expect(await store.delegations.get(delegated("one"))).toMatchObject({
        state: "aborted",
        turn: worker.turn,
      });
      expect(await unreported(store)).toEqual(["d-one"]);
    });

    test("failed, when it is a dead letter, and stays so when that is tried again", async () => {
      await using opened = await open();
      const { store } = opened;
      const worker = await giveAndBegin(store, await begin(store, "a"), "one");
      const { lease, run } = worker;
      await store.runs.fail({ lease, run, error: "again", outcome: { kind: "retry", atMs: START_MS } });
      expect(await stateOf(store, "one")).toBe("open");
      const [second] = await store.queue.lease(bob, 1);
      const dead = { kind: "dead" as const };
      await store.runs.fail({ lease: second!.lease, run: second!.run, error: "no model", outcome: dead });
      const failed = { state: "failed", error: "no model", turn: undefined };
      expect(await store.delegations.get(delegated("one"))).toMatchObject(failed);
      expect(await unreported(store)).toEqual(["d-one"]);

      await store.queue.retryDead("item-one" as ItemId);
      const [third] = await store.queue.lease(bob, 1);
      await store.turns.commit(turnFor(third!));
      expect(await store.delegations.get(delegated("one"))).toMatchObject(failed);
      expect(await unreported(store)).toEqual(["d-one"]);
    });

    test.each<[string, (store: Store, caller: Claim) => Promise<unknown>]>([
      ["its owner drops it", (store) => store.queue.drop(["item-one" as ItemId], "owner")],
      [
        "another pushes it out",
        (store) =>
          store.events.accept(event("c"), {
            dispatch: dispatch("c", toSession("busy"), { cap: { max: 1, drop: "old" } }),
          }),
      ],
      [
        "another interrupts and drains the queue",
        (store) =>
          store.events.accept(event("c"), {
            dispatch: dispatch("c", toSession("busy"), { mode: "interrupt", drains: "drop" }),
          }),
      ],
    ])("dropped, when %s", async (_how, drop) => {
      await using opened = await open();
      const { store } = opened;
      await begin(store, "b", "busy");
      const caller = await begin(store, "a");
      await give(store, caller, "one", { target: toSession("busy") });
      await drop(store, caller);
      expect(await store.delegations.get(delegated("one"))).toMatchObject({
        state: "dropped",
        turn: undefined,
        endedAtMs: START_MS,
      });
      expect(await unreported(store)).toEqual(["d-one"]);
      expect(await told(store)).toEqual(["d-one open", "d-one dropped"]);
    });

    test("dropped as it begins, where its queue is full", async () => {
      await using opened = await open();
      const { store } = opened;
      await begin(store, "b", "busy");
      const caller = await begin(store, "a");
      await give(store, caller, "one", { target: toSession("busy") });
      let wakes = 0;
      store.onWake("queue", () => wakes++);
      const full = { target: toSession("busy"), dispatch: { cap: { max: 1, drop: "new" as const } } };
      expect(await give(store, caller, "two", full)).toMatchObject({ outcome: "dropped" });
      expect(wakes).toBeGreaterThan(0);
      expect(await stateOf(store, "two")).toBe("dropped");
      expect(await unreported(store)).toEqual(["d-two"]);
      expect(await told(store)).toEqual(["d-one open", "d-two dropped"]);
    });

    test("with the first outcome only: what is given up later changes nothing", async () => {
      await using opened = await open();
      const { store } = opened;
      const { lease, run } = await giveAndBegin(store, await begin(store, "a"), "one");
      await store.runs.fail({ lease, run, error: "no", outcome: { kind: "dead" } });
      await store.delegations.report(delegated("one"));
      await store.queue.dropDead("item-one" as ItemId);
      expect(await stateOf(store, "one")).toBe("failed");
      expect(await unreported(store)).toEqual([]);
      expect(await told(store)).toEqual(["d-one open", "d-one failed"]);
    });
  });

  describe("is reported", () => {
    test("once, by one message, in the commit that says so", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const caller = await begin(store, "a");
      const worker = await giveAndBegin(store, caller, "one", { waits: false });
      await store.turns.commit(turnFor(caller));
      await store.turns.commit(turnFor(worker));
      clock.advance(7);
      const message = { ...report("one", "work", "one"), claim: alice };
      const first = await store.delegations.report(delegated("one"), message);
      expect(first).toMatchObject({ reported: true, claim: { lease: { session: "work" } } });
      expect(await store.delegations.get(delegated("one"))).toMatchObject({ reportedAtMs: START_MS + 7 });
      expect(await store.delegations.report(delegated("one"), message)).toEqual({ reported: false });
      expect(await unreported(store)).toEqual([]);
      expect(await store.queue.pending(session("work"))).toEqual([]); // it was taken up
      expect(await store.queue.itemsOf(first.claim!.turn)).toMatchObject([{ id: "item-report-one" }]);
    });

    test("without a message where there is nothing to say", async () => {
      await using opened = await open();
      const { store } = opened;
      const worker = await giveAndBegin(store, await begin(store, "a"), "one", { waits: false });
      await store.turns.commit(turnFor(worker));
      expect(await store.delegations.report(delegated("one"))).toEqual({ reported: true });
      expect(await store.queue.pending(session("work"))).toEqual([]);
    });

    test("not while it is open, not where it is unknown, and not by a message that cannot be taken in", async () => {
      await using opened = await open();
      const { store } = opened;
      const worker = await giveAndBegin(store, await begin(store, "a"), "one", { waits: false });
      await expect(store.delegations.report(delegated("one"))).rejects.toEqual(refusal("state_conflict"));
      await expect(store.delegations.report(delegated("none"))).rejects.toEqual(
        refusal("delegation_unknown"),
      );
      await store.turns.commit(turnFor(worker));
      const bad = report("one", "work", "nobody");
      await expect(store.delegations.report(delegated("one"), bad)).rejects.toEqual(
        refusal("session_unknown"),
      );
      expect(await unreported(store)).toEqual(["d-one"]); // nothing was noted
    });

    test("those that ended first before the others", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const caller = await begin(store, "a");
      const one = await giveAndBegin(store, caller, "one");
      const two = await giveAndBegin(store, caller, "two");
      await store.turns.commit(turnFor(two));
      clock.advance(1);
      await store.turns.commit(turnFor(one));
      expect(await unreported(store)).toEqual(["d-two", "d-one"]);
      expect((await store.delegations.unreported({ limit: 1 })).map(({ id }) => id)).toEqual(["d-two"]);
    });
  });

  describe("a turn that waits", () => {
    test("is ready when the last of what it waits for is reported, and gets no message", async () => {
      await using opened = await open();
      const { store } = opened;
      const caller = await begin(store, "a");
      for (const ordinal of [0, 1]) await journalCall(store, caller, ordinal);
      const one = await giveAndBegin(store, caller, "one", { ordinal: 0 });
      const two = await giveAndBegin(store, caller, "two", { ordinal: 1 });
      await give(store, caller, "three", { waits: false, ordinal: 2 }); // is not waited for
      await store.runs.suspend(caller.lease, caller.run, wait);
      await store.turns.commit(turnFor(one));
      await store.delegations.report(delegated("one"), report("one", "work", "one"));
      expect(await store.runs.get(caller.run)).toMatchObject({ state: "suspended" });
      await store.turns.commit(turnFor(two));
      expect(await store.runs.get(caller.run)).toMatchObject({ state: "suspended" });
      let wakes = 0;
      store.onWake("queue", () => wakes++);
      await store.delegations.report(delegated("two"), report("two", "work", "two"));
      expect(wakes).toBeGreaterThan(0);
      expect(await store.runs.get(caller.run)).toMatchObject({ state: "resumable" });
      expect(await store.queue.pending(session("work"))).toEqual([]);
      expect(await store.delegations.report(delegated("two"))).toEqual({ reported: false });
    });

    test("is ready at once when all was reported before it was suspended", async () => {
      await using opened = await open();
      const { store } = opened;
      const caller = await begin(store, "a");
      await journalCall(store, caller, 0);
      const worker = await giveAndBegin(store, caller, "one");
      await store.turns.commit(turnFor(worker));
      await store.delegations.report(delegated("one"));
      expect(await store.runs.get(caller.run)).toMatchObject({ state: "running" });
      await store.runs.suspend(caller.lease, caller.run, wait);
      expect(await store.runs.get(caller.run)).toMatchObject({ state: "resumable" });
    });

    test("waits on where something is over that nobody has told it yet", async () => {
      await using opened = await open();
      const { store } = opened;
      const caller = await begin(store, "a");
      await journalCall(store, caller, 0);
      await store.turns.commit(turnFor(await giveAndBegin(store, caller, "one")));
      await store.runs.suspend(caller.lease, caller.run, wait);
      expect(await store.runs.get(caller.run)).toMatchObject({ state: "suspended" });
      await store.delegations.report(delegated("one"));
      expect(await store.runs.get(caller.run)).toMatchObject({ state: "resumable" });
    });

    test("is not woken for a result that it has, when it waits for something else", async () => {
      await using opened = await open();
      const { store } = opened;
      const caller = await begin(store, "a");
      await journalCall(store, caller, 0);
      await store.turns.commit(turnFor(await giveAndBegin(store, caller, "one")));
      await store.delegations.report(delegated("one"));
      await journalResult(store, caller, 0);
      await store.runs.suspend(caller.lease, caller.run, { id: "x", kind: "other", detail: null });
      expect(await store.runs.get(caller.run)).toMatchObject({ state: "suspended" });

      await store.delegations.cancel(session("work"), "nothing is open");
      expect(await store.runs.get(caller.run)).toMatchObject({ state: "suspended" });
    });

    test("is told nothing once it is over, and its session goes on undisturbed", async () => {
      await using opened = await open();
      const { store } = opened;
      const caller = await begin(store, "a");
      const worker = await giveAndBegin(store, caller, "one");
      const { lease, run } = caller;
      await store.runs.fail({ lease, run, error: "no", outcome: { kind: "dead" } });
      const next = await begin(store, "b");
      await store.runs.suspend(next.lease, next.run, { id: "x", kind: "other", detail: null });
      await store.turns.commit(turnFor(worker));
      expect(await store.delegations.report(delegated("one"))).toEqual({ reported: true });
      expect(await store.runs.get(next.run)).toMatchObject({ state: "suspended" });
    });
  });

  describe("is cancelled", () => {
    /** work gives to one, one gives to two and to three, which waits behind another message. */
    async function threeLevels(store: Store) {
      const caller = await begin(store, "a");
      const one = await giveAndBegin(store, caller, "one");
      const two = await giveAndBegin(store, one, "two");
      await begin(store, "b", "busy");
      await give(store, two, "three", { target: toSession("busy") });
      await store.runs.suspend(one.lease, one.run, wait);
      return { caller, one, two };
    }

    test("by the abort of the turn that gave it, with all that was given on", async () => {
      await using opened = await open();
      const { store } = opened;
      const { caller, one, two } = await threeLevels(store);
      expect(await store.runs.requestAbort(caller.run, "stop")).toBe(true);
      for (const name of ["one", "two", "three"]) expect(await stateOf(store, name)).toBe("cancelled");
      expect(await store.runs.get(one.run)).toMatchObject({ abort: "stop", state: "resumable" });
      expect(await store.runs.get(two.run)).toMatchObject({ abort: "stop", state: "running" });
      expect(await store.queue.outcome("item-three" as ItemId)).toMatchObject({
        state: "dropped",
        policy: "cancelled",
      });
      expect((await store.sessions.get(session("busy")))!.state).toBe("streaming");

      await store.turns.commit(abortedTurn(two));
      expect(await stateOf(store, "two")).toBe("cancelled");
      expect(await unreported(store)).toEqual([]);
      expect(await store.delegations.report(delegated("two"), report("two", "one", "two"))).toEqual({
        reported: false,
      });
      expect(await store.queue.pending(session("one"))).toEqual([]);
      expect((await told(store)).filter((line) => !line.endsWith("open")).toSorted()).toEqual([
        "d-one cancelled",
        "d-three cancelled",
        "d-two cancelled",
      ]);
    });

    test("by a message that interrupts the turn", async () => {
      await using opened = await open();
      const { store } = opened;
      await threeLevels(store);
      await store.events.accept(event("c"), {
        dispatch: dispatch("c", toSession("work"), { mode: "interrupt" }),
      });
      for (const name of ["one", "two", "three"]) expect(await stateOf(store, name)).toBe("cancelled");
    });

    test("by the commit of a turn that was aborted without being asked to", async () => {
      await using opened = await open();
      const { store } = opened;
      const { caller } = await threeLevels(store);
      await store.turns.commit(abortedTurn(caller));
      for (const name of ["one", "two", "three"]) expect(await stateOf(store, name)).toBe("cancelled");
    });

    test("for a whole session, also what earlier turns have given, and a turn that waits is ready", async () => {
      await using opened = await open();
      const { store } = opened;
      const earlier = await begin(store, "a");
      await give(store, earlier, "one", { waits: false });
      await store.turns.commit(turnFor(earlier));
      const caller = await begin(store, "b");
      await journalCall(store, caller, 0);
      const two = await giveAndBegin(store, caller, "two");
      await give(store, two, "three");
      await store.runs.suspend(caller.lease, caller.run, wait);

      expect(await store.delegations.cancel(session("work"), "stop")).toBe(3);
      expect(await store.runs.get(caller.run)).toMatchObject({ state: "resumable", abort: undefined });
      expect(await store.runs.get(two.run)).toMatchObject({ abort: "stop" });
      expect(await store.delegations.cancel(session("work"), "stop")).toBe(0);
      expect(await unreported(store)).toEqual([]);
      await expect(store.delegations.cancel(session("nobody"), "stop")).rejects.toEqual(
        refusal("session_unknown"),
      );
    });

    test("and a turn that is for another message goes on", async () => {
      await using opened = await open();
      const { store } = opened;
      const caller = await begin(store, "a");
      const other = await begin(store, "b", "busy");
      await give(store, caller, "one", { target: toSession("busy") });
      const steered = { kind: "message" as const, place: 0, message: message("m", "user", "one") };
      await store.runs.journal(other.lease, other.run, [{ ...steered, items: ["item-one" as ItemId] }]);
      await store.runs.requestAbort(caller.run, "stop");
      expect(await stateOf(store, "one")).toBe("cancelled");
      expect(await store.runs.get(other.run)).toMatchObject({ state: "running", abort: undefined });
    });

    test("and nothing more is given by a turn that is to end", async () => {
      await using opened = await open();
      const { store } = opened;
      const caller = await begin(store, "a");
      await store.runs.requestAbort(caller.run, "stop");
      await expect(give(store, caller, "one")).rejects.toEqual(refusal("state_conflict"));
      expect(await store.sessions.get(session("one"))).toBeUndefined();
    });
  });

  describe("has a deadline", () => {
    test("after which what waits is dropped, what runs is aborted, and both are reported", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const caller = await begin(store, "a");
      for (const ordinal of [0, 1]) await journalCall(store, caller, ordinal);
      const one = await giveAndBegin(store, caller, "one", { deadlineMs: START_MS + 10 });
      await give(store, caller, "two", { ordinal: 1, deadlineMs: START_MS + 20 });
      await store.runs.suspend(caller.lease, caller.run, wait);
      expect(await store.delegations.nextDeadlineMs()).toBe(START_MS + 10);
      expect(await store.delegations.expire()).toEqual([]);
      clock.advance(10);
      expect(await store.delegations.expire()).toEqual(["d-one"]);
      expect(await store.delegations.nextDeadlineMs()).toBe(START_MS + 20);
      clock.advance(10);
      expect(await store.delegations.expire()).toEqual(["d-two"]);
      expect(await store.delegations.expire()).toEqual([]);
      expect(await store.delegations.nextDeadlineMs()).toBeUndefined();

      expect(await store.runs.get(one.run)).toMatchObject({ abort: expect.any(String) });
      expect(await store.queue.outcome("item-two" as ItemId)).toMatchObject({
        state: "dropped",
        policy: "timeout",
      });
      await store.turns.commit(abortedTurn(one));
      expect(await store.delegations.get(delegated("one"))).toMatchObject({
        state: "timeout",
        turn: one.turn, // as far as it came
        endedAtMs: START_MS + 10,
      });
      expect(await unreported(store)).toEqual(["d-one", "d-two"]);
      for (const name of ["one", "two"]) await store.delegations.report(delegated(name));
      expect(await store.runs.get(caller.run)).toMatchObject({ state: "resumable" });
      expect(await told(store)).toEqual(["d-one open", "d-two open", "d-one timeout", "d-two timeout"]);
    });

    test("that ends what was given on from it, which is not reported", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const one = await giveAndBegin(store, await begin(store, "a"), "one", { deadlineMs: START_MS });
      await give(store, one, "two", { deadlineMs: START_MS });
      clock.advance(1);
      expect(await store.delegations.expire()).toEqual(["d-one"]);
      expect(await stateOf(store, "two")).toBe("cancelled");
      expect(await unreported(store)).toEqual(["d-one"]);
    });

    test("that means nothing once it is over", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const one = await giveAndBegin(store, await begin(store, "a"), "one", { deadlineMs: START_MS + 5 });
      await store.turns.commit(turnFor(one));
      clock.advance(10);
      expect(await store.delegations.expire()).toEqual([]);
      expect(await stateOf(store, "one")).toBe("done");
    });
  });

  describe("carries what the other side has come into contact with", () => {
    test("to the worker when it is given, and back when it is reported", async () => {
      await using opened = await open();
      const { store } = opened;
      const caller = await begin(store, "a");
      await store.sessions.configure(session("work"), {
        profile: "fast",
        trust: { untrusted: { "person:ada": true } },
      });
      const one = await giveAndBegin(store, caller, "one", { waits: false });
      expect((await store.sessions.get(session("one")))!.settings).toEqual({
        trust: { untrusted: { "person:ada": true } },
      });
      await store.sessions.configure(session("one"), { trust: { private: { owner: true } } });
      await store.turns.commit(turnFor(one));
      expect(await trustOf(store, "work")).toEqual({ untrusted: { "person:ada": true } });
      await store.delegations.report(delegated("one"));
      expect((await store.sessions.get(session("work")))!.settings).toEqual({
        profile: "fast",
        trust: { private: { owner: true }, untrusted: { "person:ada": true } },
      });
    });

    test("but not back to a turn that waits, which takes over the marks of what it reads", async () => {
      await using opened = await open();
      const { store } = opened;
      const one = await giveAndBegin(store, await begin(store, "a"), "one");
      await store.sessions.configure(session("one"), { trust: { private: { owner: true } } });
      await store.turns.commit(turnFor(one));
      await store.delegations.report(delegated("one"));
      expect(await trustOf(store, "work")).toBeUndefined();
    });

    test("as the label of the message, beside that which it has", async () => {
      await using opened = await open();
      const { store } = opened;
      await begin(store, "a");
      await store.sessions.configure(session("work"), {
        trust: { private: { owner: true }, denied: { Bash: true }, outward: true },
      });
      const label = { untrusted: ["tool:WebFetch"], private: ["person:ada"], denied: [] };
      const send = dispatch("b", toSession("home"), { from: session("work") });
      await store.events.accept(event("b", { label }), { dispatch: send });
      expect((await store.events.get(event("b").id))!.label).toEqual({
        untrusted: ["tool:WebFetch"],
        private: ["owner", "person:ada"],
        denied: ["Bash"],
      });
    });

    test("with any message between two sessions, and takes no mark away", async () => {
      await using opened = await open();
      const { store } = opened;
      await begin(store, "a");
      await begin(store, "b", "home");
      await store.sessions.configure(session("work"), {
        trust: { untrusted: { "person:ada": true }, private: false },
      });
      await store.sessions.configure(session("home"), { trust: { private: { owner: true } } });
      const send = (name: string, from: string, to: string) =>
        store.events.accept(event(name), {
          dispatch: dispatch(name, toSession(to), { from: session(from) }),
        });
      await send("c", "work", "home");
      expect(await trustOf(store, "home")).toEqual({
        private: { owner: true },
        untrusted: { "person:ada": true },
      });
      expect(await trustOf(store, "work")).toEqual({ untrusted: { "person:ada": true }, private: false });
      await send("d", "home", "work");
      expect(await trustOf(store, "work")).toEqual({
        private: { owner: true },
        untrusted: { "person:ada": true },
      });
      await expect(send("e", "nobody", "work")).rejects.toEqual(refusal("session_unknown"));
    });
  });
});
