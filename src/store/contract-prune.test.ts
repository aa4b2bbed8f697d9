/** What every store promises about pruning: what is old is forgotten, and nothing that anybody needs. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  alice,
  delivery,
  dispatch,
  event,
  message,
  session,
  START_MS,
  type testClock,
  toSession,
  turnFor,
} from "../../test/support/sample.ts";
import { begin, finishTurn, STORES } from "../../test/support/stores.ts";
import { DAY_MS } from "../model/durations.ts";
import type { ApprovalId, DelegationId, EventId, ItemId, RelayId, TurnId } from "../model/ids.ts";
import type { SessionKey } from "../model/session-key.ts";
import { PRUNE_KINDS, type PruneKind, type Store } from "./store.ts";

type Clock = ReturnType<typeof testClock>;

/** Prunes all that is from before now, a few at a time. */
async function pruneAll(store: Store, beforeMs: number, max = 3): Promise<Record<PruneKind, number>> {
  const pruned = { turns: 0, events: 0, deliveries: 0, approvals: 0, relays: 0 };
  for (const kind of PRUNE_KINDS) {
    let after: number | undefined;
    do {
      const step = await store.prune(kind, { beforeMs, after, max });
      expect(step.pruned).toBeLessThanOrEqual(max);
      pruned[kind] += step.pruned;
      after = step.next;
    } while (after !== undefined);
  }
  return pruned;
}

/** Another turn in a session, a day later. */
async function nextTurn(store: Store, clock: Clock, name: string, label = "work"): Promise<TurnId> {
  const turn = await finishTurn(store, name, label);
  clock.advance(DAY_MS);
  return turn;
}

async function isPruned(store: Store, turn: TurnId): Promise<boolean> {
  return (await store.turns.get(turn))!.prunedAtMs !== undefined;
}

describe.each(Object.entries(STORES))("%s", (_, open) => {
  test("a turn keeps its id, its place, its hash and its cost, and what was said in it is gone", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const claim = await begin(store, "a", "old");
    const call = {
      ordinal: 0,
      callId: "c",
      tool: "Read",
      params: { path: "diary" },
      status: "ok" as const,
      result: { text: "dear diary" },
      startedAtMs: START_MS,
      completedAtMs: START_MS,
    };
    const spoken = { ...message("q", "user", "a secret"), body: { memory: "hidden" } };
    await store.turns.commit(
      turnFor(claim, {
        messages: [spoken, message(claim.turn, "assistant", "I see")],
        toolCalls: [call],
        answer: { id: "test:answer" as EventId, channel: "test", atMs: START_MS },
      }),
    );
    const before = (await store.turns.read(claim.turn))!;
    clock.advance(DAY_MS);
    const expected = { turns: 1, events: 2, deliveries: 0, approvals: 0, relays: 0 };
    expect(await store.prunable(clock())).toEqual({ ...expected, bytes: expect.any(Number) });
    expect((await store.prunable(clock())).bytes).toBeGreaterThan(20);
    expect(await pruneAll(store, clock())).toEqual(expected);

    const after = (await store.turns.read(claim.turn))!;
    expect(after.turn).toEqual({ ...before.turn, prunedAtMs: clock() });
    expect(after.messages).toEqual([
      { ...message("q", "user", ""), id: "q" },
      message(claim.turn, "assistant", ""),
    ]);
    expect(after.toolCalls).toMatchObject([{ callId: "c", tool: "Read", params: null, status: "ok" }]);
    expect(after.toolCalls[0]).not.toHaveProperty("result");
    expect(await store.verify()).toEqual({ ok: true, turns: 1, pruned: 1, audited: 0 });
    expect(await store.prunable(clock())).toEqual({ ...expected, turns: 0, events: 0, bytes: 0 });
  });

  test("an event keeps its id, so that it is still taken in only once, and is not found any more", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const said = event("a", { content: "marmalade", payload: { secret: 1 }, metadata: { more: 2 } });
    await store.events.accept(said);
    await store.events.accept(event("b", { content: "marmalade too" }));
    await store.events.index(1); // of two: what is not indexed is forgotten all the same
    clock.advance(DAY_MS);
    await store.events.accept(event("new", { content: "new marmalade" }));
    expect(await pruneAll(store, clock())).toMatchObject({ events: 2 });

    const { payload: _, metadata: _too, ...bare } = said;
    expect(await store.events.get(said.id)).toMatchObject({ ...bare, content: null, prunedAtMs: clock() });
    expect(await store.events.get(said.id)).not.toHaveProperty("payload");
    await store.events.index(100);
    expect((await store.events.search("marmalade")).map((hit) => hit.event)).toEqual(["test:new"]);
    expect(await store.events.accept(said)).toMatchObject({ fresh: false });
    expect(await store.events.get(said.id)).toMatchObject({ content: null, differing: 0 });
  });

  test("the context of a session that is in use stays whole, back to its last compaction", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const first = await nextTurn(store, clock, "1");
    const kept = await nextTurn(store, clock, "2");
    const claim = await begin(store, "3");
    const compaction = "compaction" as TurnId;
    const summary = message(compaction, "assistant", "so far");
    await store.turns.compact({
      lease: claim.lease,
      run: claim.run,
      turn: compaction,
      facts: turnFor(claim).facts,
      summary,
      firstKept: kept,
    });
    await store.turns.commit(turnFor({ ...claim, parent: compaction }));
    clock.advance(DAY_MS);
    const cut = clock();
    await finishTurn(store, "4");
    const context = await store.turns.context((await store.sessions.get(session("work")))!.head!);
    expect(await pruneAll(store, cut)).toMatchObject({ turns: 1 });
    expect(await isPruned(store, first)).toBe(true);
    expect(await store.turns.context((await store.sessions.get(session("work")))!.head!)).toEqual({
      ...context,
      compaction: expect.objectContaining({ messages: [summary] }),
    });
    expect(await store.verify()).toMatchObject({ ok: true, pruned: 1 });
  });

  test("a session that nobody has used since is pruned whole, and taken up again it begins with what is new", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    for (const name of ["1", "2", "3", "4", "5"]) await nextTurn(store, clock, name);
    expect(await pruneAll(store, clock(), 2)).toMatchObject({ turns: 5 });
    const head = (await store.sessions.get(session("work")))!.head!;
    expect(await store.turns.context(head)).toEqual({ compaction: undefined, turns: [] });
    const next = await finishTurn(store, "6");
    expect((await store.turns.context(next)).turns.map(({ turn }) => turn.id)).toEqual([next]);
    expect((await store.turns.thread(next, { limit: 10 })).length).toBe(6);
    expect(await store.verify()).toEqual({ ok: true, turns: 6, pruned: 5, audited: 0 });
  });

  test("a fork that is in use keeps what it shares with a thread that is not", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const shared = await nextTurn(store, clock, "1");
    const left = await nextTurn(store, clock, "2");
    await store.sessions.fork(shared, "fork" as SessionKey);
    expect(await pruneAll(store, clock())).toMatchObject({ turns: 1 });
    expect([await isPruned(store, shared), await isPruned(store, left)]).toEqual([false, true]);
  });

  test("what waits, is under way, has died or is to be judged is left alone", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const running = await begin(store, "running");
    await store.events.accept(event("waiting"), { dispatch: dispatch("waiting", toSession("work")) });
    const dead = await begin(store, "dead", "other");
    await store.runs.fail({ ...dead, error: "no", outcome: { kind: "dead" } });
    await store.events.accept(event("unjudged"), { judge: true });
    const undelivered = await begin(store, "undelivered", "third");
    await store.turns.commit(turnFor(undelivered, { deliveries: [delivery("d")] }));
    clock.advance(DAY_MS);

    expect(await pruneAll(store, clock())).toMatchObject({ turns: 0, events: 1, deliveries: 0 });
    for (const name of ["running", "waiting", "dead", "unjudged"]) {
      expect(await store.events.get(`test:${name}` as EventId)).toMatchObject({ content: `message ${name}` });
    }
    expect((await store.turns.read(undelivered.turn))!.messages[1]).toMatchObject({
      content: `answer of ${undelivered.turn}`,
    });
    await store.turns.commit(turnFor(running));
  });

  test("what a session was not told of yet, because its queue was full, is left alone", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const claim = await begin(store, "a");
    for (const name of ["b", "c"]) {
      const sent = dispatch(name, toSession("work"), { cap: { max: 1, drop: "summarize" } });
      await store.events.accept(event(name), { dispatch: sent });
    }
    await store.turns.commit(turnFor(claim));
    const [next] = await store.queue.lease(alice, 1);
    await store.turns.commit(turnFor(next!));
    clock.advance(DAY_MS);
    await pruneAll(store, clock());
    expect(await store.queue.unseenDrops(session("work"))).toMatchObject([
      { event: { content: "message b" } },
    ]);
  });

  test("a session that is taken up while it is pruned keeps what was not pruned yet", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const turns = [];
    for (const name of ["a", "b", "c", "d"]) turns.push(await finishTurn(store, name));
    clock.advance(DAY_MS);
    const { next } = await store.prune("turns", { beforeMs: clock(), max: 1 });
    clock.advance(1);
    const waiting = await store.events.accept(event("e"), { dispatch: dispatch("e", toSession("work")) });
    expect(waiting.dispatched!.outcome).toBe("queued");
    await store.prune("turns", { beforeMs: clock() - 1, after: next, max: 1 });
    await store.turns.commit(turnFor((await store.queue.lease(alice, 1))[0]!));
    await store.prune("turns", { beforeMs: clock() - 1, after: next, max: 10 });
    const pruned = await Promise.all(turns.map((turn) => isPruned(store, turn)));
    expect(pruned).toEqual([true, false, false, false]);
  });

  test("the files of a delivery are named until it is pruned, and those of a held answer and of a turn at work", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const file = (sha256: string) => ({ sha256, name: "a.txt", contentType: "text/plain", bytes: 1 });
    const first = await begin(store, "first", "first");
    const extras = { files: [file("sent")] };
    await store.turns.commit(turnFor(first, { deliveries: [delivery("d", "dm-1", { extras })] }));
    const request = {
      id: "asked" as ApprovalId,
      kind: "approval",
      callHash: "",
      request: {},
      expiresAtMs: clock() + DAY_MS,
    } as const;
    const second = await begin(store, "second", "second");
    const waiting = [delivery("e", "dm-1", { extras: { files: [file("held")] } })];
    await store.turns.commit(turnFor(second, { held: { request, deliveries: waiting, refused: [] } }));
    const { lease, run } = await begin(store, "third", "third");
    const result = { text: "", details: { files: [file("attached")] } };
    const atMs = clock();
    await store.runs.journal(lease, run, [
      { kind: "call", ordinal: 0, callId: "c", tool: "attach", params: {}, startedAtMs: atMs },
      { kind: "result", ordinal: 0, status: "ok", result, completedAtMs: atMs },
    ]);
    expect((await store.outbox.filed()).toSorted()).toEqual(["attached", "held", "sent"]);

    const [claim] = await store.outbox.claim({ holder: "a", ttlMs: 1_000 }, 1);
    await store.outbox.plan(claim!, ["{}"]);
    await store.outbox.sending(claim!, 0);
    await store.outbox.settle(claim!, 0, { kind: "sent" });
    clock.advance(DAY_MS);
    await pruneAll(store, clock());
    expect((await store.outbox.filed()).toSorted()).toEqual(["attached", "held"]);
  });

  test("what was delivered is forgotten, and that it was is not", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const claim = await begin(store, "a");
    await store.turns.commit(turnFor(claim, { deliveries: [delivery("d", "dm-1", { content: "psst" })] }));
    const [sending] = await store.outbox.claim(alice, 1);
    await store.outbox.plan(sending!, ["ps", "st"]);
    for (const chunk of [0, 1]) {
      await store.outbox.sending(sending!, chunk);
      await store.outbox.settle(sending!, chunk, { kind: "sent", platformId: `p${chunk}` });
    }
    clock.advance(DAY_MS);
    expect(await pruneAll(store, clock())).toMatchObject({ turns: 1, deliveries: 1 });
    expect(await store.query("select status, attempt, content from deliveries")).toMatchObject([
      { status: "sent", content: null },
    ]);
    expect(await pruneAll(store, clock())).toMatchObject({ deliveries: 0 });
  });

  test("of what has failed stays that it did, and not the words, which may quote what was said", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const error = '"a secret" is refused';
    const retry = { kind: "retry", atMs: clock() } as const;
    const fine = await begin(store, "a", "fine");
    await store.runs.requestAbort(fine.run, error);
    await store.runs.fail({ lease: fine.lease, run: fine.run, error, outcome: retry });
    const [again] = await store.queue.lease(alice, 1);
    await store.turns.commit(turnFor(again!));
    const dead = await begin(store, "b", "dead");
    await store.runs.fail({ lease: dead.lease, run: dead.run, error, outcome: { kind: "dead" } });
    await store.hooks.sync([{ name: "h", mode: "persistent", digest: "1" }]);
    const { id } = event("c");
    await store.events.accept(event("c"));
    await store.hooks.record({ event: id, hook: "h", fired: false, error, startedAtMs: 1, endedAtMs: 2 });
    clock.advance(DAY_MS);
    expect(await pruneAll(store, clock())).toMatchObject({ turns: 1, events: 2 });
    expect((await store.hooks.runs("h")).items).toMatchObject([{ error: "(pruned)" }]);
    expect(await store.runs.get(fine.run)).toMatchObject({ state: "failed", error: "(pruned)" });
    expect(await store.runs.get(dead.run)).toMatchObject({ error });

    await store.queue.dropDead("item-b" as ItemId);
    expect(await pruneAll(store, clock())).toMatchObject({ events: 1 });
    expect(await store.runs.get(dead.run)).toMatchObject({ state: "failed", error: "(pruned)" });
    expect(JSON.stringify(await store.query("select * from runs"))).not.toContain("a secret");
  });

  test("of a request to a person stays which tool it was for, and how it was decided", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const claim = await begin(store, "a");
    const request = { tool: "Bash", args: { command: "rm -r /" }, reason: "no sandbox" };
    const id = "a1" as ApprovalId;
    const asked = { id, kind: "approval" as const, callHash: "h", request, expiresAtMs: undefined };
    await store.runs.suspend(claim.lease, claim.run, { id: "w", kind: "approval", detail: null }, [asked]);
    clock.advance(DAY_MS);
    expect(await pruneAll(store, clock())).toMatchObject({ approvals: 0, events: 0 });
    await store.approvals.answer(id, { kind: "deny", by: "tyler", reason: "are you mad" });
    const [again] = await store.queue.lease(alice, 1);
    await store.turns.commit(turnFor(again!));
    clock.advance(DAY_MS);
    expect(await pruneAll(store, clock())).toMatchObject({ approvals: 1 });
    expect(await store.approvals.get(id)).toMatchObject({
      request: { tool: "Bash" },
      state: "denied",
      answer: { kind: "deny", by: "tyler", reason: "" },
    });
    expect(await pruneAll(store, clock())).toMatchObject({ approvals: 0 });
  });

  test("of a relay stays which steps it had, and what they cost, once it has left the lists", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const id = "thr_00000001" as RelayId;
    const record = {
      id,
      userMessage: "a letter",
      agents: { writer: { slotId: "writer", lastOutput: "Dear" } },
      metadata: { trigger: "chat", pendingMessages: ["and sign it"] },
      error: 'writer: "Dear Ana" is refused',
      abortReason: "it is late, Ana",
    };
    const said = { input: "Write", output: "Dear", error: "Dear is refused", costUsd: 0.5 };
    const step = { step: 0, slot: "writer", record: said };
    const detail = { leg: 1, ending: { stopReason: "failed", error: "Dear is refused", abortReason: null } };
    await store.relays.create({ id, template: "two", state: "running", record });
    const ended = { state: "completed", record, detail, steps: [{ ...step, isEnded: true }] } as const;
    await store.relays.save(id, 1, ended);
    clock.advance(DAY_MS);
    expect(await pruneAll(store, clock())).toMatchObject({ relays: 0 });
    await store.relays.archive([id]);
    expect(await store.prunable(clock())).toMatchObject({ relays: 1 });
    expect(await pruneAll(store, clock())).toMatchObject({ relays: 1 });
    expect((await store.relays.get(id))!.record).toEqual({
      id,
      userMessage: "",
      agents: { writer: { slotId: "writer", lastOutput: null } },
      metadata: { trigger: "chat" },
      error: "(pruned)",
      abortReason: "(pruned)",
    });
    expect((await store.relays.get(id))!.detail).toEqual({
      leg: 1,
      ending: { stopReason: "failed", error: "(pruned)", abortReason: null },
    });
    expect(await store.relays.steps(id)).toMatchObject([
      { record: { input: "", output: null, error: "(pruned)", costUsd: 0.5 } },
    ]);
    expect(await pruneAll(store, clock())).toMatchObject({ relays: 0 });
  });

  test("a relay that waits for somebody keeps what its agents know, however long it waits", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const id = "thr_00000001" as RelayId;
    await store.relays.create({ id, template: "two", state: "running", record: {} });
    const accept = {
      event: event("step", { channel: "relay" }),
      dispatch: dispatch("step", toSession("thr:thr_00000001:writer"), { hook: "relay" }),
      worker: {},
      trust: [],
    };
    const asked = { step: 0, slot: "writer", record: {}, isEnded: false, accept };
    const { claim } = await store.relays.save(id, 1, {
      state: "running",
      record: {},
      steps: [asked],
      claim: alice,
    });
    await store.turns.commit(turnFor(claim!));
    clock.advance(DAY_MS);
    expect(await pruneAll(store, clock())).toMatchObject({ turns: 0 });
  });

  test("work that was done stays until whoever gave it was told", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const caller = await begin(store, "caller", "caller");
    const given = await store.events.accept(event("work"), {
      dispatch: dispatch("work", toSession("worker"), {
        from: session("caller"),
        delegation: { id: "d" as DelegationId, turn: caller.turn, ordinal: 0, waits: false },
      }),
      claim: alice,
    });
    const worker = given.dispatched!.claim!;
    await store.turns.commit(turnFor(worker));
    await store.turns.commit(turnFor(caller));
    clock.advance(DAY_MS);
    expect(await pruneAll(store, clock())).toMatchObject({ turns: 1 });
    expect(await isPruned(store, worker.turn)).toBe(false);
    await store.delegations.report("d" as DelegationId, undefined);
    expect(await pruneAll(store, clock())).toMatchObject({ turns: 1 });
  });

  test("what is newer than the moment is not touched", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    await finishTurn(store, "a", "old");
    expect(await pruneAll(store, clock())).toEqual({
      turns: 0,
      events: 0,
      deliveries: 0,
      approvals: 0,
      relays: 0,
    });
  });

  test("whatever is pruned from whichever tree, every hash stays good and every live context whole", async () => {
    const turn = fc.record({ from: fc.nat(20), label: fc.constantFrom("a", "b", "c"), forks: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 12 }), fc.nat(12), async (turns, age) => {
        await using opened = await open();
        const { store, clock } = opened;
        const made: TurnId[] = [];
        for (const [i, { from, label, forks }] of turns.entries()) {
          const forked = `fork-${i}`;
          if (forks && made.length > 0) {
            await store.sessions.fork(made[from % made.length]!, forked as SessionKey);
          }
          made.push(await nextTurn(store, clock, String(i), forks && made.length > 0 ? forked : label));
        }
        const beforeMs = START_MS + age * DAY_MS;
        const { items } = await store.sessions.list();
        const live = items.filter(({ usedAtMs }) => usedAtMs >= beforeMs);
        const contexts = await Promise.all(live.map(({ head }) => contextOf(store, head!)));
        const expected = await store.prunable(beforeMs);
        const pruned = await pruneAll(store, beforeMs);
        expect(pruned.turns).toBe(expected.turns);
        expect(pruned.events).toBe(expected.events);
        expect(await Promise.all(live.map(({ head }) => contextOf(store, head!)))).toEqual(contexts);
        expect(await store.verify()).toEqual({
          ok: true,
          turns: made.length,
          pruned: pruned.turns,
          audited: 0,
        });
      }),
      { numRuns: 5 },
    );
  });
});

async function contextOf(store: Store, head: TurnId): Promise<unknown> {
  const { turns } = await store.turns.context(head);
  return turns.map(({ turn, messages }) => [turn.id, messages]);
}
