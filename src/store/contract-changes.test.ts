/** What every store promises of the feed of changes. */
import { describe, expect, test } from "vitest";

import {
  alice,
  answer,
  bob,
  delivery,
  dispatch,
  event,
  facts,
  message,
  session,
  START_MS,
  toSession,
  turnFor,
} from "../../test/support/sample.ts";
import { begin, finishTurn, STORES } from "../../test/support/stores.ts";
import type { EventId, ItemId, TurnId } from "../model/ids.ts";
import type { Change, JournalEntry, Store } from "./store.ts";

const refusal = (code: string) =>
  expect.objectContaining({ name: "CortexError", code, hint: expect.any(String) });

const call: JournalEntry = {
  kind: "call",
  ordinal: 0,
  callId: "c",
  tool: "read",
  params: {},
  startedAtMs: START_MS,
};

/** What an act has put into the feed, each change as its kind and what it came into. */
async function told(store: Store, act: () => Promise<unknown>): Promise<string[]> {
  const before = await store.changes.last();
  await act();
  const { changes, gap } = await store.changes.since(before);
  expect(gap).toBe(false);
  expect(new Set(changes.map(({ seq }) => seq)).size).toBe(changes.length === 0 ? 0 : 1); // one entry
  return changes.map(summary);
}

function summary(change: Change): string {
  switch (change.kind) {
    case "event":
      return `event ${change.direction}`;
    case "dispatch":
      return `dispatch ${change.outcome}`;
    case "item":
      return `${change.item} ${change.state}`;
    case "run":
      return `run ${change.state}${change.wait === undefined ? "" : ` for ${change.wait}`}`;
    case "compacting":
      return change.isBegun ? "compacting" : "compacted";
    case "message":
      return `message ${change.place} ${change.role}`;
    case "call":
      return `call ${change.ordinal} ${change.status}`;
    case "turn":
      return `turn ${change.type} ${change.status}`;
    case "delivery":
      return `delivery ${change.state}`;
    case "approval":
      return `approval ${change.state}`;
    case "delegation":
      return `delegation ${change.state}`;
    case "relay":
      return `relay ${change.state}`;
    case "hook":
      return `hook ${change.hook} ${change.state}`;
    case "hook_run":
      return `hook ${change.hook} ${change.outcome}`;
    case "session":
      return `session ${change.what}`;
  }
}

describe.each(Object.entries(STORES))("%s", (_, open) => {
  test("a message that is taken up at once tells all that follows in one entry", async () => {
    await using opened = await open();
    const { store } = opened;
    expect(await store.changes.since(0)).toEqual({ changes: [], seq: 0, gap: false });
    const claim = await begin(store, "a");
    const entry = { seq: 1, atMs: START_MS };
    expect((await store.changes.since(0)).changes).toEqual([
      { ...entry, kind: "event", event: "test:a", channel: "test", direction: "received" },
      {
        ...entry,
        kind: "dispatch",
        dispatch: "dispatch-a",
        hook: "direct",
        event: "test:a",
        item: "item-a",
        session: "work",
        outcome: "queued",
      },
      { ...entry, kind: "item", item: "item-a", session: "work", state: "claimed" },
      {
        ...entry,
        kind: "run",
        run: claim.run,
        turn: claim.turn,
        session: "work",
        state: "running",
        wait: undefined,
        attempt: 1,
      },
    ]);
  });

  test("a committed turn tells its content, its answer, its delivery and the run that follows", async () => {
    await using opened = await open();
    const { store } = opened;
    const parent = await finishTurn(store, "a");
    const { lease, run, turn } = await begin(store, "b");
    await store.events.accept(event("c"), { dispatch: dispatch("c", toSession("work")) });
    await store.runs.journal(lease, run, [
      { kind: "message", place: 0, message: message("q", "user", "?") },
      call,
    ]);
    const before = await store.changes.last();
    const { next } = await store.turns.commit({
      ...turnFor({
        lease,
        run,
        turn,
        parent,
        attempt: 1,
        interruptions: 0,
        journalled: true,
        abort: undefined,
      }),
      messages: [answer(turn)],
      answer: { id: `cortex:${turn}` as EventId, channel: "test", atMs: START_MS },
      deliveries: [delivery("b")],
      claimNext: alice,
    });
    const { changes } = await store.changes.since(before);
    expect(changes.map(summary)).toEqual([
      "call 0 aborted",
      "message 1 assistant",
      "turn normal completed",
      "event sent",
      "delivery pending",
      "item-b done",
      "run completed",
      "item-c claimed",
      "run running",
    ]);
    const inTurn = { turn, run, session: "work" };
    expect(changes[0]).toMatchObject({ ...inTurn, ordinal: 0, callId: "c", tool: "read" });
    expect(changes[1]).toMatchObject({ ...inTurn, place: 1, message: turn });
    expect(changes[2]).toMatchObject({ kind: "turn", turn, parent, session: "work" });
    expect(changes[4]).toMatchObject({ delivery: "delivery-b", turn });
    expect(changes[8]).toMatchObject({ run: next!.run, turn: next!.turn, attempt: 1 });
  });

  test("a run tells each of its steps", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const { lease, run } = await begin(store, "a");
    await store.events.accept(event("b"), { dispatch: dispatch("b", toSession("work")) });
    const steer: JournalEntry = {
      kind: "message",
      place: 0,
      message: message("q", "user", "?"),
      items: ["item-b" as ItemId],
    };
    const result: JournalEntry = {
      kind: "result",
      ordinal: 0,
      status: "ok",
      result: 1,
      completedAtMs: START_MS,
    };
    expect(await told(store, () => store.runs.journal(lease, run, [steer, call]))).toEqual([
      "item-b claimed",
      "message 0 user",
      "call 0 started",
    ]);
    expect(await told(store, () => store.runs.journal(lease, run, [steer, call]))).toEqual([]); // once more
    const wait = { id: "w", kind: "approval" as const, detail: null };
    expect(await told(store, () => store.runs.suspend(lease, run, wait))).toEqual([
      "run suspended for approval",
    ]);
    expect(await told(store, () => store.runs.resume(run, "w", [result]))).toEqual([
      "call 0 ok",
      "run resumable",
    ]);
    let lost = await store.queue.lease(alice, 1);
    expect(await told(store, () => store.queue.release([lost[0]!.lease]))).toEqual(["run resumable"]);
    expect(await told(store, async () => (lost = await store.queue.lease(bob, 1)))).toEqual(["run running"]);
    const failure = { lease: lost[0]!.lease, run, error: "e" };
    const retry = { kind: "retry" as const, atMs: clock() };
    expect(await told(store, () => store.runs.fail({ ...failure, outcome: retry }))).toEqual(["run failed"]);
    const [second] = await store.queue.lease(alice, 1);
    const dead = { lease: second!.lease, run: second!.run, error: "e", outcome: { kind: "dead" as const } };
    expect(await told(store, () => store.runs.fail(dead))).toEqual([
      "run failed",
      "item-a dead",
      "item-b dead",
    ]);
    expect(await told(store, () => store.queue.retryDead("item-a" as ItemId))).toEqual([
      "item-a queued",
      "item-b queued",
    ]);
    expect(await told(store, () => store.queue.lease(alice, 1))).toEqual([
      "item-a claimed",
      "item-b claimed",
      "run running",
    ]);
  });

  test("what is merged, dropped, given up, compacted, forked, reset or configured is told", async () => {
    await using opened = await open();
    const { store } = opened;
    const first = await finishTurn(store, "a");
    const claim = await begin(store, "b");
    const { lease, run, turn } = claim;
    const work = session("work");
    const summaryTurn = "summary" as TurnId;
    expect(await told(store, () => store.turns.beginCompaction(lease, run))).toEqual(["compacting"]);
    expect(await told(store, () => store.turns.beginCompaction(lease, run))).toEqual([]);
    expect(
      await told(store, () =>
        store.turns.compact({
          lease,
          run,
          turn: summaryTurn,
          facts,
          summary: message(summaryTurn, "assistant", "so far"),
          firstKept: undefined,
        }),
      ),
    ).toEqual(["message 0 assistant", "turn compaction completed", "run completed", "compacted"]);
    await store.events.accept(event("c"), { dispatch: dispatch("c", toSession("work")) });
    await store.runs.journal(lease, run, [
      { kind: "message", place: 0, message: message("q", "user", "?"), items: ["item-c" as ItemId] },
    ]);
    const rest = { messages: [answer(turn)], parent: summaryTurn };
    expect(await told(store, () => store.turns.commit(turnFor(claim, rest)))).toEqual([
      "message 1 assistant",
      "turn normal completed",
      "item-b done",
      "item-c merged",
      "run completed",
    ]);
    expect(await told(store, () => store.sessions.fork(first, session("fork-1")))).toEqual([
      "session forked",
    ]);
    expect(await told(store, () => store.sessions.fork(first, session("fork-1")))).toEqual([]); // once more
    expect(await told(store, () => store.sessions.configure(work, { a: 1 }))).toEqual(["session configured"]);
    expect(await told(store, () => store.sessions.reset(work))).toEqual(["session reset"]);
    const toTurn = { kind: "turn" as const, turn: first, forkAs: session("fork-2") };
    await store.sessions.reset(session("fork-1"));
    expect(
      await told(store, () => store.events.accept(event("d"), { dispatch: dispatch("d", toTurn) })),
    ).toEqual(["event received", "session forked", "dispatch queued", "item-d queued"]);
    expect(await told(store, () => store.queue.drop(["item-d" as ItemId], "old"))).toEqual([
      "item-d dropped",
    ]);
  });

  test("a delivery tells each state that it comes into", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const claim = await begin(store, "a");
    await store.turns.commit(turnFor(claim, { deliveries: [delivery("a")] }));
    const take = async () => (await store.outbox.claim(alice, 1))[0]!;
    let held = await take();
    expect(await told(store, () => store.outbox.release([held]))).toEqual(["delivery pending"]);
    expect(await told(store, async () => (held = await take()))).toEqual(["delivery sending"]);
    expect(await told(store, () => store.outbox.plan(held, ["x", "y"]))).toEqual([]);
    await store.outbox.sending(held, 0);
    clock.advance(alice.ttlMs + 1);
    expect(await told(store, async () => (held = await take()))).toEqual([
      "delivery unknown",
      "delivery sending",
    ]);
    expect(await told(store, () => store.outbox.settle(held, 0, { kind: "sent" }))).toEqual([]);
    const gone = { kind: "dead" as const, error: "gone" };
    expect(await told(store, () => store.outbox.settle(held, 1, gone))).toEqual(["delivery dead"]);
    expect(await told(store, () => store.outbox.retry(held.delivery))).toEqual(["delivery pending"]);
    held = await take();
    expect(await told(store, () => store.outbox.settle(held, 1, { kind: "sent" }))).toEqual([
      "delivery sent",
    ]);
  });

  test("what is refused or comes a second time is not told", async () => {
    await using opened = await open();
    const { store } = opened;
    const claim = await begin(store, "a");
    const before = await store.changes.last();
    await begin(store, "a");
    await expect(
      store.events.accept(event("b"), {
        dispatch: dispatch("b", { kind: "turn", turn: "none" as TurnId, forkAs: session("fork-1") }),
      }),
    ).rejects.toEqual(refusal("turn_unknown"));
    await expect(
      store.runs.journal(claim.lease, claim.run, [call, { ...call, callId: "other" }]),
    ).rejects.toEqual(refusal("journal_conflict"));
    await store.queue.renew(alice, [claim.lease]);
    expect(await store.changes.since(before)).toEqual({ changes: [], seq: before, gap: false });
  });

  test("a firing tells its dispatch, the run that follows and that its hook is done, in one entry", async () => {
    await using opened = await open();
    const { store } = opened;
    await store.hooks.sync([{ name: "once", mode: "one-shot", digest: "1" }]);
    await store.events.accept(event("a"), { judge: true });
    const firing = {
      event: "test:a" as EventId,
      hook: "once",
      fired: true,
      dispatch: dispatch("a", toSession("work")),
      claim: alice,
      startedAtMs: START_MS,
      endedAtMs: START_MS,
    };
    expect(await told(store, () => store.hooks.record(firing))).toEqual([
      "dispatch queued",
      "item-a claimed",
      "run running",
      "hook once fired",
      "hook once disabled",
    ]);
    expect(await told(store, () => store.hooks.record(firing))).toEqual([]);
    expect(await told(store, () => store.hooks.judged(firing.event))).toEqual([]);
  });

  test("the feed is read in pieces, and whoever asks for what is not there is told so", async () => {
    await using opened = await open();
    const { store } = opened;
    for (const name of ["a", "b", "c"]) await store.events.accept(event(name));
    expect(await store.changes.first()).toBe(1);
    expect(await store.changes.last()).toBe(3);
    const piece = await store.changes.since(1, { limit: 1 });
    expect(piece).toMatchObject({ changes: [{ seq: 2, event: "test:b" }], seq: 2, gap: false });
    expect(await store.changes.since(3)).toEqual({ changes: [], seq: 3, gap: false });
    // A number from another life of this home: after a backup was put back, say.
    expect(await store.changes.since(99)).toEqual({ changes: [], seq: 3, gap: true });
    for (const seq of [-1, 0.5, Number.NaN]) {
      await expect(store.changes.since(seq)).rejects.toEqual(refusal("request_invalid"));
    }
  });

  test("the journal of a dead letter that was given up is no longer told, and nobody is stuck there", async () => {
    await using opened = await open();
    const { store } = opened;
    const { lease, run } = await begin(store, "a");
    const before = await store.changes.last();
    await store.runs.journal(lease, run, [
      { kind: "message", place: 0, message: message("q", "user", "?") },
      call,
    ]);
    await store.runs.fail({ lease, run, error: "e", outcome: { kind: "dead" } });
    await store.queue.dropDead("item-a" as ItemId);
    expect(await store.changes.since(before, { limit: 1 })).toEqual({
      changes: [],
      seq: before + 1,
      gap: false,
    });
  });

  test("listeners are woken when something was told, and only then", async () => {
    await using opened = await open();
    const { store } = opened;
    let wakes = 0;
    store.onWake("changes", () => wakes++);
    const claim = await begin(store, "a");
    await store.events.accept(event("b")); // a wake-up comes after the call that it belongs to
    expect(wakes).toBeGreaterThan(0);
    const before = wakes;
    await store.queue.renew(alice, [claim.lease]);
    await store.queue.renew(alice, [claim.lease]);
    expect(wakes).toBeLessThanOrEqual(before + 1); // the one that belongs to b
  });
});
