/**
 * What every store promises, tried on each of them. A test of one store's own machinery stands beside
 * that store.
 */
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
  toSession,
  turnFor,
} from "../../test/support/sample.ts";
import { begin, finishTurn, STORES } from "../../test/support/stores.ts";
import type { DeliveryId, EventId, ItemId, RunId, TurnId } from "../model/ids.ts";
import type { SessionKey } from "../model/session-key.ts";
import {
  type Claim,
  type JournalEntry,
  MAX_CHUNKS_IN_DELIVERY,
  MAX_EVENT_BYTES,
  MAX_MESSAGE_BYTES,
  MAX_MESSAGES_IN_TURN,
  MAX_TOOL_CALLS_IN_TURN,
  type Store,
} from "./store.ts";

describe.each(Object.entries(STORES))("%s", (_, open) => {
  const refusal = (code: string) =>
    expect.objectContaining({ name: "CortexError", code, hint: expect.any(String) });

  describe("events", () => {
    test("an event that comes twice is recorded once, and the first content stays", async () => {
      await using opened = await open();
      const { store } = opened;
      expect(await store.events.accept(event("a", { content: "first" }))).toEqual({ fresh: true });
      expect(await store.events.accept(event("a", { content: "first" }))).toEqual({ fresh: false });
      expect(await store.events.accept(event("a", { content: "second" }))).toEqual({ fresh: false });

      expect(await store.events.get("test:a" as EventId)).toMatchObject({ content: "first", differing: 1 });
      expect(await store.query("select count(*) as n from events")).toEqual([{ n: 1 }]);
    });

    test("every field of an event comes back as it went in", async () => {
      await using opened = await open();
      const full = event("full", {
        account: "second",
        topic: "t-9",
        replyTo: "m-1",
        contentType: "image",
        attachments: [{ sha256: "ab" }],
        payload: { b: 1, a: [null, true, "ü"] },
        metadata: { lang: "de" },
      });
      await opened.store.events.accept(full);
      expect(await opened.store.events.get(full.id)).toMatchObject(full);
    });

    test("a message to an idle session is accepted, queued and claimed in one call", async () => {
      await using opened = await open();
      const claim = await begin(opened.store, "a");
      expect(claim).toMatchObject({ lease: { session: "work", epoch: 1 }, attempt: 1, interruptions: 0 });
      expect(claim.parent).toBeUndefined();
      expect(await opened.store.queue.pending(session("work"))).toEqual([]);
    });

    test("a message to a busy session waits in its queue", async () => {
      await using opened = await open();
      await begin(opened.store, "a");
      const second = await opened.store.events.accept(event("b"), {
        dispatch: dispatch("b", toSession("work"), { context: { prompt: "p" }, profile: "fast" }),
        claim: alice,
      });
      expect(second.dispatched).toEqual({ outcome: "queued", item: "item-b", session: "work" });
      expect(await opened.store.queue.pending(session("work"))).toMatchObject([
        {
          id: "item-b",
          event: { content: "message b" },
          dispatches: [{ context: { prompt: "p" }, profile: "fast" }],
        },
      ]);
    });

    test("a redelivered message to a session makes no second item", async () => {
      await using opened = await open();
      await begin(opened.store, "a");
      const again = await opened.store.events.accept(event("a"), {
        dispatch: dispatch("other-ids", toSession("work")),
        claim: bob,
      });
      expect(again).toEqual({
        fresh: false,
        dispatched: { outcome: "repeated", item: "item-a", session: "work" },
      });
    });

    test("a second hook joins the waiting item of the same event and session", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.events.accept(event("a"));
      const first = dispatch("z", toSession("work"), { hook: "zeta", message: "from zeta" });
      const second = dispatch("a", toSession("work"), { hook: "alpha", message: "from alpha" });
      expect(await store.events.dispatch("test:a" as EventId, first)).toMatchObject({ outcome: "queued" });
      expect(await store.events.dispatch("test:a" as EventId, second)).toMatchObject({
        outcome: "joined",
        item: "item-z",
      });
      const [item] = await store.queue.pending(session("work"));
      expect(item!.dispatches.map(({ message: text }) => text)).toEqual(["from alpha", "from zeta"]);
    });

    test("a hook that fires when the event's turn is under way is merged into it and not run again", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      const late = dispatch("late", toSession("work"), { hook: "late" });
      expect(await store.events.dispatch("test:a" as EventId, late)).toMatchObject({
        outcome: "merged",
        item: "item-a",
      });
      await store.turns.commit(turnFor(claim));
      expect(await store.queue.lease(alice, 10)).toEqual([]);
    });

    test("a hook that fires for an item that was dropped does not bring it back", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.events.accept(event("a"), { dispatch: dispatch("a", toSession("work")) });
      await store.queue.drop(["item-a" as ItemId], "old");
      const late = dispatch("late", toSession("work"), { hook: "late" });
      expect(await store.events.dispatch("test:a" as EventId, late)).toMatchObject({ outcome: "dropped" });
      expect(await store.queue.lease(alice, 1)).toEqual([]);
    });

    test("different sessions each get a turn of the same event", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.events.accept(event("a"));
      await store.events.dispatch("test:a" as EventId, dispatch("1", toSession("one"), { hook: "h1" }));
      await store.events.dispatch("test:a" as EventId, dispatch("2", toSession("two"), { hook: "h2" }));
      expect(await store.queue.lease(alice, 10)).toHaveLength(2);
    });

    test("an event that was never accepted cannot be dispatched", async () => {
      await using opened = await open();
      await expect(
        opened.store.events.dispatch("test:none" as EventId, dispatch("a", toSession("work"))),
      ).rejects.toEqual(refusal("event_unknown"));
    });

    test("an event over the size limit is refused, one at the limit is taken", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.events.accept(event("at", { content: "x".repeat(MAX_EVENT_BYTES) }));
      await expect(
        store.events.accept(event("over", { content: "x".repeat(MAX_EVENT_BYTES + 1) })),
      ).rejects.toEqual(refusal("event_too_large"));
      expect(await store.events.get("test:over" as EventId)).toBeUndefined();
    });

    test("a dispatch over the size limit is refused, and with it the event", async () => {
      await using opened = await open();
      const { store } = opened;
      const large = dispatch("a", toSession("work"), { message: "x".repeat(MAX_EVENT_BYTES + 1) });
      await expect(store.events.accept(event("a"), { dispatch: large })).rejects.toEqual(
        refusal("event_too_large"),
      );
      expect(await store.events.get("test:a" as EventId)).toBeUndefined();
    });

    test("an event without an adapter or with a broken time is refused", async () => {
      await using opened = await open();
      const { store } = opened;
      await expect(store.events.accept(event("x", { id: "nothing" as EventId }))).rejects.toEqual(
        refusal("event_invalid"),
      );
      await expect(store.events.accept(event("x", { atMs: Number.NaN }))).rejects.toEqual(
        refusal("event_invalid"),
      );
    });

    test("a session key that is not in normal form is refused with the form it should have", async () => {
      await using opened = await open();
      const target = { ...toSession("work"), session: "WORK" as SessionKey };
      await expect(
        opened.store.events.accept(event("a"), { dispatch: dispatch("a", target) }),
      ).rejects.toThrow(/"WORK" is not normalized: expected "work"/);
      expect(await opened.store.events.get("test:a" as EventId)).toBeUndefined();
    });

    test("a message to an unknown turn is refused and leaves nothing behind", async () => {
      await using opened = await open();
      const target = { kind: "turn" as const, turn: "nowhere" as TurnId, forkAs: session("fork-1") };
      await expect(
        opened.store.events.accept(event("a"), { dispatch: dispatch("a", target) }),
      ).rejects.toEqual(refusal("turn_unknown"));
      expect(await opened.store.events.get("test:a" as EventId)).toBeUndefined();
      expect((await opened.store.sessions.list()).items).toEqual([]);
    });
  });

  describe("leases", () => {
    test("a session is given to one holder at a time", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.events.accept(event("a"), { dispatch: dispatch("a", toSession("work")) });
      expect(await store.queue.lease(alice, 10)).toHaveLength(1);
      expect(await store.queue.lease(bob, 10)).toEqual([]);
    });

    test("an expired lease is taken over, and its old holder can write nothing more", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const lost = await begin(store, "a");
      clock.advance(alice.ttlMs + 1);
      const [taken] = await store.queue.lease(bob, 10);
      expect(taken).toMatchObject({ run: lost.run, turn: lost.turn, lease: { epoch: 2 }, interruptions: 1 });

      await expect(store.turns.commit(turnFor(lost))).rejects.toEqual(refusal("lease_lost"));
      await expect(store.runs.journal(lost.lease, lost.run, [])).rejects.toEqual(refusal("lease_lost"));
      await expect(
        store.runs.fail({ lease: lost.lease, run: lost.run, error: "x", outcome: { kind: "dead" } }),
      ).rejects.toEqual(refusal("lease_lost"));
      expect(await store.queue.renew(alice, [lost.lease])).toEqual([lost.lease]);
      await store.turns.commit(turnFor(taken!));
      expect(await store.sessions.head(session("work"))).toBe(lost.turn);
    });

    test("a holder is never given a session that it holds itself, even after a jump of the clock", async () => {
      await using opened = await open();
      await begin(opened.store, "a");
      opened.clock.advance(30 * 24 * 3_600_000);
      expect(await opened.store.queue.lease(alice, 10)).toEqual([]);
    });

    test("a renewed lease lasts", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const { lease } = await begin(store, "a");
      clock.advance(alice.ttlMs - 1);
      expect(await store.queue.renew(alice, [lease])).toEqual([]);
      clock.advance(alice.ttlMs - 1);
      expect(await store.queue.lease(bob, 1)).toEqual([]);
    });

    test("a released session goes on with the same run, and that is no interruption", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      await store.queue.release([claim.lease]);
      expect(await store.queue.lease(bob, 10)).toMatchObject([
        { run: claim.run, interruptions: 0, attempt: 1 },
      ]);
    });

    test("sessions that have waited longer come first, and a busy one starves none", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      for (const name of ["a1", "a2", "a3"]) {
        await store.events.accept(event(name), { dispatch: dispatch(name, toSession("busy")) });
      }
      clock.advance(1);
      await store.events.accept(event("b1"), { dispatch: dispatch("b1", toSession("quiet")) });
      const [first] = await store.queue.lease(alice, 1);
      expect(first!.lease.session).toBe("busy");
      clock.advance(1);
      const { next } = await store.turns.commit({ ...turnFor(first!), claimNext: alice });
      expect(next!.lease.session).toBe("quiet");
      clock.advance(1);
      const after = await store.turns.commit({ ...turnFor(next!), claimNext: alice });
      expect(after.next!.lease.session).toBe("busy");
    });

    test("a message that is due is not held up by one that is due later", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const tomorrow = dispatch("later", toSession("work"), { dueMs: clock() + 86_400_000 });
      await store.events.accept(event("later"), { dispatch: tomorrow });
      await store.events.accept(event("now"), { dispatch: dispatch("now", toSession("work")) });
      const [claim] = await store.queue.lease(alice, 1);
      await store.turns.commit({ ...turnFor(claim!), claimNext: alice });
      expect(await store.turns.get(claim!.turn)).toMatchObject({ sourceEvent: "test:now" });
      clock.advance(86_400_000);
      expect(await store.queue.lease(alice, 1)).toHaveLength(1);
    });

    test("what another holder has ended is not acknowledged to the one who lost the lease", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const wait = { id: "w", kind: "question" as const, detail: "?" };
      const take = async (name: string): Promise<[Claim, Claim]> => {
        const lost = await begin(store, name, name);
        clock.advance(alice.ttlMs + 1);
        return [lost, (await store.queue.lease(bob, 1))[0]!];
      };
      const [lost1, taken1] = await take("one");
      await store.turns.commit(turnFor(taken1));
      await expect(store.turns.commit(turnFor(lost1))).rejects.toEqual(refusal("lease_lost"));
      const [lost2, taken2] = await take("two");
      await store.runs.suspend(taken2.lease, taken2.run, wait);
      await expect(store.runs.suspend(lost2.lease, lost2.run, wait)).rejects.toEqual(refusal("lease_lost"));
      const [lost3, taken3] = await take("three");
      const failure = { run: lost3.run, error: "x", outcome: { kind: "dead" as const } };
      await store.runs.fail({ ...failure, lease: taken3.lease });
      await expect(store.runs.fail({ ...failure, lease: lost3.lease })).rejects.toEqual(
        refusal("lease_lost"),
      );
    });

    test("a message that is not due yet is not claimed before its time", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const later = dispatch("a", toSession("work"), { dueMs: clock() + 1_000 });
      const accepted = await store.events.accept(event("a"), { dispatch: later, claim: alice });
      expect(accepted.dispatched!.claim).toBeUndefined();
      expect(await store.queue.lease(alice, 1)).toEqual([]);
      clock.advance(1_000);
      expect(await store.queue.lease(alice, 1)).toHaveLength(1);
    });

    test("only whole numbers of sessions can be asked for", async () => {
      await using opened = await open();
      for (const max of [0, -1, 1.5, Number.NaN]) {
        await expect(opened.store.queue.lease(alice, max)).rejects.toEqual(refusal("limit_invalid"));
      }
    });
  });

  describe("turns", () => {
    test("a committed turn holds all that was said, moves the pointer and settles its item", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      const permissions = { granted: ["Bash"], used: [] };
      await store.turns.commit({
        ...turnFor(claim),
        facts: { ...facts, permissions },
        toolCalls: [
          {
            ordinal: 0,
            callId: "c",
            tool: "Bash",
            params: { command: "ls" },
            status: "ok",
            result: "x",
            startedAtMs: 1,
            completedAtMs: 2,
          },
        ],
        answer: { id: `cortex:${claim.turn}` as EventId, channel: "test", place: "dm-1", atMs: 5 },
        deliveries: [delivery("a")],
      });

      expect(await store.sessions.head(session("work"))).toBe(claim.turn);
      const content = await store.turns.read(claim.turn);
      expect(content).toMatchObject({
        turn: {
          depth: 0,
          type: "normal",
          status: "completed",
          toolCallCount: 1,
          sourceEvent: "test:a",
          session: "work",
        },
        messages: [{ role: "user" }, { id: claim.turn, content: `answer of ${claim.turn}` }],
        toolCalls: [{ callId: "c", params: { command: "ls" }, result: "x" }],
      });
      expect(content!.turn.facts).toEqual({ ...facts, permissions });
      expect(await store.queue.itemsOf(claim.turn)).toMatchObject([{ id: "item-a", state: "done" }]);
      expect(await store.events.get(`cortex:${claim.turn}` as EventId)).toMatchObject({
        direction: "sent",
        content: `answer of ${claim.turn}`,
      });
      expect((await store.outbox.list()).items).toMatchObject([
        { state: "pending", content: `answer of ${claim.turn}` },
      ]);
    });

    test("the second of two queued messages follows the turn that the first has just made", async () => {
      await using opened = await open();
      const { store } = opened;
      const first = await begin(store, "a");
      await store.events.accept(event("b"), { dispatch: dispatch("b", toSession("work")) });
      const { next } = await store.turns.commit({ ...turnFor(first), claimNext: alice });
      expect(next).toMatchObject({ parent: first.turn, lease: { session: "work", epoch: 2 } });
      await store.turns.commit(turnFor(next!));
      expect(await store.turns.children(first.turn)).toMatchObject([{ id: next!.turn, depth: 1 }]);
    });

    test("a commit that is repeated because its outcome was not known changes nothing", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      await store.turns.commit(turnFor(claim));
      await store.turns.commit(turnFor(claim));
      expect(await store.query("select count(*) as n from agent_turns")).toEqual([{ n: 1 }]);
    });

    test("a turn is refused when the head has moved, and the next attempt follows the new head", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await finishTurn(store, "a");
      const claim = await begin(store, "b");
      await store.sessions.reset(session("work"));
      await expect(store.turns.commit(turnFor(claim))).rejects.toEqual(refusal("head_moved"));
      expect(await store.turns.get(claim.turn)).toBeUndefined();

      const retry = { kind: "retry" as const, atMs: clock() };
      await store.runs.fail({ lease: claim.lease, run: claim.run, error: "head moved", outcome: retry });
      const [again] = await store.queue.lease(alice, 1);
      expect(again).toMatchObject({ turn: claim.turn, attempt: 2 });
      expect(again!.parent).toBeUndefined();
      await store.turns.commit(turnFor(again!));
    });

    test.each<[string, string, (claim: Claim, other: TurnId) => Partial<Parameters<TurnStoreCommit>[0]>]>([
      ["a parent that is not the head", "head_moved", (_claim, other) => ({ parent: other })],
      ["a missing parent", "turn_unknown", () => ({ parent: "missing" as TurnId })],
      ["itself as parent", "turn_cyclic", (claim) => ({ parent: claim.turn })],
      ["another turn than the run's", "turn_invalid", () => ({ turn: "another" as TurnId })],
      ["no answer", "turn_invalid", () => ({ messages: [message("q", "user", "?")] })],
      [
        "an answer with an id of its own",
        "turn_invalid",
        () => ({ messages: [message("own", "assistant", "!")] }),
      ],
      [
        "a tool call out of place",
        "turn_invalid",
        () => ({
          toolCalls: [
            { ordinal: 3, callId: "c", tool: "t", params: {}, status: "ok" as const, startedAtMs: 0 },
          ],
        }),
      ],
      ["an unknown session", "session_unknown", () => ({ lease: { session: session("none"), epoch: 1 } })],
      ["an epoch of the future", "lease_lost", (claim) => ({ lease: { ...claim.lease, epoch: 99 } })],
      ["the run of another", "lease_lost", () => ({ run: "another" as RunId })],
    ])("a turn with %s is refused whole", async (_title, code, change) => {
      await using opened = await open();
      const { store } = opened;
      const other = await finishTurn(store, "other", "elsewhere");
      const claim = await begin(store, "a");
      await expect(store.turns.commit({ ...turnFor(claim), ...change(claim, other) })).rejects.toEqual(
        refusal(code),
      );
      expect(await store.turns.get(claim.turn)).toBeUndefined();
      expect(await store.sessions.head(session("work"))).toBeUndefined();
      await store.turns.commit(turnFor(claim)); // it was not hurt by the refusal
    });

    test("a turn holds as many messages as it may and not one more", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      const many = Array.from({ length: MAX_MESSAGES_IN_TURN }, (_, i) => message(`m${i}`, "user", ""));
      await expect(
        store.turns.commit({ ...turnFor(claim), messages: [...many, answer(claim.turn)] }),
      ).rejects.toEqual(refusal("limit_invalid"));
      await store.turns.commit({ ...turnFor(claim), messages: [...many.slice(1), answer(claim.turn)] });
      expect(await store.verify()).toEqual({ ok: true, turns: 1, pruned: 0, audited: 0 });
    });

    test("the answer that goes out is what the agent said last, not what was said to it", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      await store.turns.commit({
        ...turnFor(claim),
        messages: [answer(claim.turn), message("late", "user", "one more thing")],
        deliveries: [delivery("a")],
      });
      expect((await store.outbox.list()).items).toMatchObject([{ content: `answer of ${claim.turn}` }]);
    });

    test("a tool call without an outcome cannot be committed, one whose result is null can", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      const call = { ordinal: 0, callId: "c", tool: "t", params: null, startedAtMs: 1 };
      await expect(
        store.turns.commit({ ...turnFor(claim), toolCalls: [{ ...call, status: "started" }] }),
      ).rejects.toEqual(refusal("turn_invalid"));
      const done = { ...call, status: "ok" as const, result: null, completedAtMs: 2 };
      await store.turns.commit({ ...turnFor(claim), toolCalls: [done] });
      expect((await store.turns.read(claim.turn))!.toolCalls).toEqual([done]);
    });

    test("an aborted run is kept with what it had produced, open tool calls marked as aborted", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      await store.runs.journal(claim.lease, claim.run, [
        { kind: "message", place: 0, message: message("q", "user", "do it") },
        { kind: "call", ordinal: 0, callId: "c", tool: "Bash", params: {}, startedAtMs: 1 },
      ]);
      await store.turns.commit({ ...turnFor(claim), status: "aborted", messages: [] });
      expect(await store.turns.read(claim.turn)).toMatchObject({
        turn: { status: "aborted" },
        messages: [{ content: "do it" }],
        toolCalls: [{ status: "aborted" }],
      });
      expect(await store.sessions.head(session("work"))).toBe(claim.turn);
      expect(await store.verify()).toEqual({ ok: true, turns: 1, pruned: 0, audited: 0 });
    });

    test("a message over the size limit is refused, and the run goes on", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      const huge = message(claim.turn, "assistant", "x".repeat(MAX_MESSAGE_BYTES + 1));
      await expect(store.turns.commit({ ...turnFor(claim), messages: [huge] })).rejects.toEqual(
        refusal("message_too_large"),
      );
      const large = message(claim.turn, "assistant", "x".repeat(10 * 1024 * 1024));
      await store.turns.commit({ ...turnFor(claim), messages: [large] });
    });

    test("the context goes back to the last compaction and to the turns that it kept", async () => {
      await using opened = await open();
      const { store } = opened;
      const turns: TurnId[] = [];
      for (let i = 0; i < 5; i++) turns.push(await finishTurn(store, `t${i}`));
      const claim = await begin(store, "next");
      const compaction = "compaction-1" as TurnId;
      await store.turns.compact({
        lease: claim.lease,
        run: claim.run,
        turn: compaction,
        facts,
        summary: message(compaction, "assistant", "what was said before"),
        firstKept: turns[3],
      });
      await store.turns.commit({ ...turnFor(claim), parent: compaction });

      const context = await store.turns.context(claim.turn);
      expect(context.compaction!.messages).toMatchObject([{ content: "what was said before" }]);
      expect(context.turns.map(({ turn }) => turn.id)).toEqual([turns[3], turns[4], claim.turn]);
      expect(await store.turns.thread(claim.turn, { limit: 100 })).toHaveLength(7);
      expect((await store.turns.context(turns[4]!)).turns).toHaveLength(5);
      expect(await store.verify()).toEqual({ ok: true, turns: 7, pruned: 0, audited: 0 });
    });

    test("a compaction that keeps nothing leaves only its summary", async () => {
      await using opened = await open();
      const { store } = opened;
      await finishTurn(store, "a");
      const claim = await begin(store, "b");
      const turn = "c1" as TurnId;
      const summary = message("c1", "assistant", "all of it");
      await store.turns.compact({
        lease: claim.lease,
        run: claim.run,
        turn,
        facts,
        summary,
        firstKept: undefined,
      });
      const context = await store.turns.context(turn);
      expect(context.turns).toEqual([]);
      expect(context.compaction!.turn.id).toBe("c1");
    });

    test("a compaction can keep only what is in the context", async () => {
      await using opened = await open();
      const { store } = opened;
      const elsewhere = await finishTurn(store, "x", "elsewhere");
      await finishTurn(store, "a");
      const { lease, run } = await begin(store, "b");
      const summary = message("c1", "assistant", "s");
      for (const firstKept of [elsewhere, "missing" as TurnId]) {
        await expect(
          store.turns.compact({ lease, run, turn: "c1" as TurnId, facts, summary, firstKept }),
        ).rejects.toEqual(refusal(firstKept === elsewhere ? "turn_invalid" : "turn_unknown"));
      }
    });

    test("the context can be limited to the newest turns", async () => {
      await using opened = await open();
      const { store } = opened;
      const turns: TurnId[] = [];
      for (let i = 0; i < 6; i++) turns.push(await finishTurn(store, `t${i}`));
      const context = await store.turns.context(turns[5]!, { limit: 2 });
      expect(context.turns.map(({ turn }) => turn.id)).toEqual([turns[4], turns[5]]);
    });

    test("any ancestor is found by its depth", async () => {
      await using opened = await open();
      const { store } = opened;
      const turns: TurnId[] = [];
      for (let i = 0; i < 70; i++) turns.push(await finishTurn(store, `t${i}`));
      for (const from of [0, 1, 5, 31, 32, 69]) {
        for (let depth = 0; depth <= from; depth++) {
          expect(await store.turns.ancestor(turns[from]!, depth)).toBe(turns[depth]);
        }
      }
      expect(await store.turns.ancestor(turns[5]!, 6)).toBeUndefined();
      expect(await store.turns.ancestor(turns[5]!, -1)).toBeUndefined();
    });

    test("reading an unknown turn is an error, asking whether it is there is not", async () => {
      await using opened = await open();
      const { turns } = opened.store;
      const none = "none" as TurnId;
      expect(await turns.get(none)).toBeUndefined();
      expect(await turns.read(none)).toBeUndefined();
      for (const reading of [
        turns.context(none),
        turns.children(none),
        turns.thread(none, { limit: 1 }),
        turns.ancestor(none, 0),
      ]) {
        await expect(reading).rejects.toEqual(refusal("turn_unknown"));
      }
    });
  });

  describe("sessions", () => {
    test("a fork points at its turn, and gives it a second child", async () => {
      await using opened = await open();
      const { store } = opened;
      const root = await finishTurn(store, "a");
      const second = await finishTurn(store, "b");
      const forked = await store.sessions.fork(root, session("fork-1"));
      expect(forked).toMatchObject({ key: "fork-1", head: root, agent: "main", persona: "atlas", queued: 0 });
      const third = await finishTurn(store, "c", "fork-1");
      expect((await store.turns.children(root)).map(({ id }) => id)).toEqual([second, third]);
      expect(await store.sessions.head(session("work"))).toBe(second);
    });

    test("a fork can be repeated, but not over a session that is in use", async () => {
      await using opened = await open();
      const { store } = opened;
      const root = await finishTurn(store, "a");
      await store.sessions.fork(root, session("fork-1"));
      await store.sessions.fork(root, session("fork-1"));
      await expect(store.sessions.fork(root, session("work"))).rejects.toEqual(refusal("session_exists"));
      await expect(store.sessions.fork("none" as TurnId, session("f"))).rejects.toEqual(
        refusal("turn_unknown"),
      );
    });

    test("a message to a turn joins the session whose head it is, the most recently used of several", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const head = await finishTurn(store, "a");
      clock.advance(1);
      await store.sessions.fork(head, session("newer"));
      const target = { kind: "turn" as const, turn: head, forkAs: session("fork-x") };
      const sent = await store.events.accept(event("b"), { dispatch: dispatch("b", target) });
      expect(sent.dispatched).toMatchObject({ session: "newer" });
    });

    test("a message to a turn that has moved on is an explicit fork", async () => {
      await using opened = await open();
      const { store } = opened;
      const root = await finishTurn(store, "a");
      await finishTurn(store, "b");
      const target = { kind: "turn" as const, turn: root, forkAs: session("fork-x") };
      const sent = await store.events.accept(event("c"), { dispatch: dispatch("c", target), claim: alice });
      expect(sent.dispatched).toMatchObject({ session: "fork-x", claim: { parent: root } });
      expect(await store.sessions.get(session("fork-x"))).toMatchObject({ agent: "main", persona: "atlas" });
    });

    test("a session that starts afresh has no head, and its old thread stays", async () => {
      await using opened = await open();
      const { store } = opened;
      const old = await finishTurn(store, "a");
      await store.sessions.reset(session("work"));
      expect(await store.sessions.head(session("work"))).toBeUndefined();
      const fresh = await finishTurn(store, "b");
      expect(await store.turns.get(fresh)).toMatchObject({ depth: 0 });
      expect(await store.turns.get(old)).toBeDefined();
    });

    test("reading an unknown session is an error", async () => {
      await using opened = await open();
      const { sessions } = opened.store;
      await expect(sessions.head(session("none"))).rejects.toEqual(refusal("session_unknown"));
      await expect(sessions.reset(session("none"))).rejects.toEqual(refusal("session_unknown"));
      await expect(opened.store.queue.pending(session("none"))).rejects.toEqual(refusal("session_unknown"));
      expect(await sessions.get(session("none"))).toBeUndefined();
    });

    test("sessions are listed with the most recently used first", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      for (const label of ["one", "two", "three"]) {
        clock.advance(1);
        await finishTurn(store, label, label);
      }
      const { items } = await store.sessions.list();
      expect(items.map(({ key }) => key)).toEqual(["three", "two", "one"]);
    });
  });

  describe("runs", () => {
    const call: JournalEntry = {
      kind: "call",
      ordinal: 0,
      callId: "c",
      tool: "Bash",
      params: { a: 1 },
      startedAtMs: 1,
    };
    const result: JournalEntry = {
      kind: "result",
      ordinal: 0,
      status: "ok",
      result: "out",
      completedAtMs: 2,
    };

    test("a journal outlives its run and is what the turn is made of", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const claim = await begin(store, "a");
      const first = message("m0", "user", "question");
      const second = {
        ...message("m1", "assistant", "I will look"),
        body: { blocks: [{ type: "toolCall" }] },
      };
      await store.runs.pin(claim.lease, claim.run, { prompt: "p", tools: ["Bash"] });
      await store.runs.journal(claim.lease, claim.run, [
        { kind: "message", place: 0, message: first },
        { kind: "message", place: 1, message: second },
        call,
      ]);
      clock.advance(alice.ttlMs + 1);
      const [again] = await store.queue.lease(bob, 1);
      expect(again).toMatchObject({ run: claim.run, journalled: true });
      expect(await store.runs.readJournal(again!.run)).toEqual({
        messages: [first, second],
        toolCalls: [
          { ordinal: 0, callId: "c", tool: "Bash", params: { a: 1 }, status: "started", startedAtMs: 1 },
        ],
        pinned: { prompt: "p", tools: ["Bash"] },
        wait: undefined,
      });
      await store.runs.journal(again!.lease, again!.run, [result]);
      await store.turns.commit({ ...turnFor(again!), messages: [answer(claim.turn)] });
      const content = await store.turns.read(claim.turn);
      expect(content!.messages).toEqual([first, second, answer(claim.turn)]);
      expect(content!.toolCalls).toMatchObject([{ status: "ok", result: "out" }]);
    });

    test("entries that are written again are harmless, different ones are refused", async () => {
      await using opened = await open();
      const { store } = opened;
      const { lease, run } = await begin(store, "a");
      const entry: JournalEntry = { kind: "message", place: 0, message: message("m0", "user", "hi") };
      await store.runs.journal(lease, run, [entry, call, result]);
      await store.runs.journal(lease, run, [entry, call, result]);
      const conflicting: JournalEntry[] = [
        { kind: "message", place: 0, message: message("m0", "user", "other") },
        { ...call, callId: "other" },
        { ...result, result: "other" },
        { ...result, ordinal: 7 },
      ];
      for (const other of conflicting) {
        await expect(store.runs.journal(lease, run, [other])).rejects.toEqual(refusal("journal_conflict"));
      }
    });

    test("a journal has no gaps", async () => {
      await using opened = await open();
      const { store } = opened;
      const { lease, run } = await begin(store, "a");
      const gaps: JournalEntry[] = [
        { kind: "message", place: 1, message: message("m", "user", "hi") },
        { ...call, ordinal: 1 },
      ];
      for (const entry of gaps) {
        await expect(store.runs.journal(lease, run, [entry])).rejects.toEqual(refusal("journal_conflict"));
      }
    });

    test("a steered message is part of the turn in the same commit as its journal entry", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      await store.events.accept(event("s"), {
        dispatch: dispatch("s", toSession("work"), { mode: "steer" }),
      });
      const steered: JournalEntry = {
        kind: "message",
        place: 0,
        message: message("m0", "user", "also this"),
        items: ["item-s" as ItemId],
      };
      await store.runs.journal(claim.lease, claim.run, [steered]);
      expect(await store.queue.pending(session("work"))).toEqual([]);
      await store.runs.journal(claim.lease, claim.run, [steered]);
      await store.turns.commit({ ...turnFor(claim), messages: [answer(claim.turn)] });
      expect(await store.queue.itemsOf(claim.turn)).toMatchObject([
        { id: "item-a", state: "done" },
        { id: "item-s", state: "merged" },
      ]);
    });

    test("a message that another turn has taken cannot be steered in", async () => {
      await using opened = await open();
      const { store } = opened;
      const { lease, run } = await begin(store, "a");
      const entry = (item: string): JournalEntry => ({
        kind: "message",
        place: 0,
        message: message("m", "user", "?"),
        items: [item as ItemId],
      });
      await store.events.accept(event("e"), { dispatch: dispatch("e", toSession("elsewhere")) });
      for (const item of ["item-e", "none"]) {
        await expect(store.runs.journal(lease, run, [entry(item)])).rejects.toEqual(refusal("item_unknown"));
      }
      expect((await store.runs.readJournal(run)).messages).toEqual([]);
    });

    test("places beyond the limits of a turn are refused", async () => {
      await using opened = await open();
      const { store } = opened;
      const { lease, run } = await begin(store, "a");
      const entries: JournalEntry[] = [
        { kind: "message", place: MAX_MESSAGES_IN_TURN, message: message("m", "user", "") },
        { ...call, ordinal: MAX_TOOL_CALLS_IN_TURN },
        { ...call, ordinal: -1 },
      ];
      for (const entry of entries) {
        await expect(store.runs.journal(lease, run, [entry])).rejects.toEqual(refusal("limit_invalid"));
      }
    });

    test("a suspended run occupies its session until the answer comes", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const claim = await begin(store, "a");
      await store.runs.journal(claim.lease, claim.run, [call]);
      const wait = { id: "call-0", kind: "approval" as const, detail: { call: "c" } };
      await store.runs.suspend(claim.lease, claim.run, wait);
      await store.runs.suspend(claim.lease, claim.run, wait);
      await store.events.accept(event("b"), { dispatch: dispatch("b", toSession("work")), claim: alice });
      clock.advance(100 * 3_600_000);
      expect(await store.queue.lease(bob, 10)).toEqual([]);
      expect(await store.runs.get(claim.run)).toMatchObject({ state: "suspended", wait });
      await expect(store.runs.journal(claim.lease, claim.run, [result])).rejects.toEqual(
        refusal("lease_lost"),
      );

      expect(await store.runs.resume(claim.run, "another", [result])).toBe(false);
      expect(await store.runs.resume(claim.run, "call-0", [result])).toBe(true);
      expect(await store.runs.resume(claim.run, "call-0", [result])).toBe(false);
      const [resumed] = await store.queue.lease(bob, 10);
      expect(resumed).toMatchObject({ run: claim.run, turn: claim.turn, attempt: 1, interruptions: 0 });
      expect((await store.runs.readJournal(claim.run)).toolCalls).toMatchObject([{ status: "ok" }]);
      await store.turns.commit({ ...turnFor(resumed!), messages: [answer(claim.turn)] });
      expect(await store.queue.lease(bob, 10)).toHaveLength(1);
    });

    test("a run that suspends after it was asked to end is ready at once", async () => {
      await using opened = await open();
      const { store } = opened;
      const { lease, run } = await begin(store, "a", "work");
      await store.runs.requestAbort(run, "stop");
      await store.runs.suspend(lease, run, { id: "w", kind: "question", detail: null });

      expect(await store.queue.lease(alice, 10)).toMatchObject([{ run, abort: "stop" }]);
    });

    test("a request to abort reaches a run that works and wakes one that waits", async () => {
      await using opened = await open();
      const { store } = opened;
      const working = await begin(store, "a", "one");
      const waiting = await begin(store, "b", "two");
      await store.runs.suspend(waiting.lease, waiting.run, { id: "q", kind: "question", detail: null });
      expect(await store.runs.requestAbort(working.run, "stop")).toBe(true);
      expect(await store.runs.requestAbort(waiting.run, "stop")).toBe(true);
      expect(await store.runs.get(working.run)).toMatchObject({ abort: "stop", state: "running" });
      expect(await store.queue.lease(alice, 10)).toMatchObject([{ run: waiting.run, abort: "stop" }]);
      await store.turns.commit({ ...turnFor(working), status: "aborted" });
      expect(await store.runs.requestAbort(working.run, "again")).toBe(false);
      await expect(store.runs.requestAbort("none" as RunId, "x")).rejects.toEqual(refusal("run_unknown"));
    });

    test("a failed run is tried again with the same turn and journal, before anything else of the session", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const claim = await begin(store, "a");
      await store.runs.journal(claim.lease, claim.run, [call, result]);
      await store.events.accept(event("b"), { dispatch: dispatch("b", toSession("work")) });
      const failure = {
        lease: claim.lease,
        run: claim.run,
        error: "overloaded",
        outcome: { kind: "retry" as const, atMs: clock() + 5_000 },
      };
      await store.runs.fail(failure);
      await store.runs.fail(failure);
      expect(await store.queue.lease(alice, 10)).toEqual([]);
      clock.advance(5_000);
      const [again] = await store.queue.lease(alice, 10);
      expect(again).toMatchObject({ turn: claim.turn, attempt: 2, journalled: true });
      expect(again!.run).not.toBe(claim.run);
      expect(await store.runs.get(claim.run)).toMatchObject({ state: "failed", error: "overloaded" });
      expect((await store.runs.readJournal(again!.run)).toolCalls).toHaveLength(1);
      expect(await store.sessions.head(session("work"))).toBeUndefined();
    });

    test("a dead letter keeps its error, lets the session go on, and can be tried again under the same turn id", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      await store.runs.journal(claim.lease, claim.run, [call, result]);
      await store.events.accept(event("b"), { dispatch: dispatch("b", toSession("work")) });
      const { next } = await store.runs.fail({
        lease: claim.lease,
        run: claim.run,
        error: "no such model",
        outcome: { kind: "dead" },
        deliveries: [delivery("notice", "dm-1", { content: "It did not work." })],
        claimNext: alice,
      });
      expect((await store.queue.dead()).items).toMatchObject([
        {
          item: "item-a",
          turn: claim.turn,
          session: "work",
          event: "test:a",
          error: "no such model",
          attempts: 1,
        },
      ]);
      expect((await store.outbox.list()).items).toMatchObject([{ content: "It did not work." }]);
      await store.turns.commit(turnFor(next!));

      await store.queue.retryDead("item-a" as ItemId);
      await store.queue.retryDead("item-a" as ItemId);
      const [again] = await store.queue.lease(alice, 10);
      expect(again).toMatchObject({ turn: claim.turn, parent: next!.turn, attempt: 1, journalled: true });
      await store.turns.commit({ ...turnFor(again!), messages: [answer(claim.turn)] });
      expect((await store.queue.dead()).items).toEqual([]);
      expect(await store.sessions.head(session("work"))).toBe(claim.turn);
      expect(await store.verify()).toEqual({ ok: true, turns: 2, pruned: 0, audited: 0 });
    });

    test("a dead letter that is given up is dropped, visibly", async () => {
      await using opened = await open();
      const { store } = opened;
      const { lease, run } = await begin(store, "a");
      await store.runs.fail({ lease, run, error: "x", outcome: { kind: "dead" } });
      await store.queue.dropDead("item-a" as ItemId);
      await store.queue.dropDead("item-a" as ItemId);
      expect((await store.queue.dead()).items).toEqual([]);
      expect(await store.query("select status, policy from queue_items")).toEqual([
        { status: "dropped", policy: "dead letter given up" },
      ]);
      await expect(store.queue.retryDead("item-a" as ItemId)).rejects.toEqual(refusal("state_conflict"));
      await expect(store.queue.dropDead("none" as ItemId)).rejects.toEqual(refusal("item_unknown"));
    });

    test("a message that was dropped while its dead turn waited to be tried again is no part of that turn", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      await store.events.accept(event("s"), { dispatch: dispatch("s", toSession("work")) });
      const steered = { kind: "message" as const, place: 0, message: message("m", "user", "also") };
      await store.runs.journal(claim.lease, claim.run, [{ ...steered, items: ["item-s" as ItemId] }]);
      await store.runs.fail({ lease: claim.lease, run: claim.run, error: "x", outcome: { kind: "dead" } });
      await store.queue.retryDead("item-a" as ItemId);
      expect(await store.queue.drop(["item-s" as ItemId], "old")).toEqual(["item-s"]);
      const [again] = await store.queue.lease(alice, 1);
      await store.turns.commit({ ...turnFor(again!), messages: [answer(claim.turn)] });
      expect(await store.queue.itemsOf(claim.turn)).toMatchObject([{ id: "item-a", state: "done" }]);
      expect(await store.query("select turn_id from queue_items where id = 'item-s'")).toEqual([
        { turn_id: null },
      ]);
    });

    test("interruptions are counted only while the journal does not grow", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      let claim = await begin(store, "a");
      for (const expected of [1, 2, 3]) {
        clock.advance(60_000);
        [claim] = (await store.queue.lease(expected % 2 === 0 ? alice : bob, 1)) as [Claim];
        expect(claim.interruptions).toBe(expected);
      }
      await store.runs.journal(claim.lease, claim.run, [call]);
      clock.advance(60_000);
      [claim] = (await store.queue.lease(alice, 1)) as [Claim];
      expect(claim.interruptions).toBe(1);
    });

    test("items that wait can be dropped by a policy, those of a run cannot", async () => {
      await using opened = await open();
      const { store } = opened;
      await begin(store, "a");
      await store.events.accept(event("b"), { dispatch: dispatch("b", toSession("work")) });
      await store.events.accept(event("c"), { dispatch: dispatch("c", toSession("idle")) });
      const items = ["item-a", "item-b", "item-c"] as ItemId[];
      expect(await store.queue.drop(items, "old")).toEqual(["item-b", "item-c"]);
      expect(await store.queue.drop(items, "old")).toEqual(["item-b", "item-c"]);
      expect(await store.queue.lease(bob, 10)).toEqual([]);
      expect(
        await store.query("select id, status, policy from queue_items where policy is not null"),
      ).toEqual([
        { id: "item-b", status: "dropped", policy: "old" },
        { id: "item-c", status: "dropped", policy: "old" },
      ]);
      await expect(store.queue.drop(["none" as ItemId], "old")).rejects.toEqual(refusal("item_unknown"));
    });

    test("runs that are not over are listed", async () => {
      await using opened = await open();
      const { store } = opened;
      const one = await begin(store, "a", "one");
      await finishTurn(store, "b", "two");
      expect(await store.runs.active()).toMatchObject([{ id: one.run, state: "running", session: "one" }]);
      await expect(store.runs.readJournal("none" as RunId)).rejects.toEqual(refusal("run_unknown"));
    });
  });

  describe("outbox", () => {
    async function deliver(store: Store, name: string, place = "dm-1"): Promise<void> {
      const claim = await begin(store, name, name);
      await store.turns.commit({ ...turnFor(claim), deliveries: [delivery(name, place)] });
    }

    test("a turn that is under way sends something, once and in its own name", async () => {
      await using opened = await open();
      const { store } = opened;
      const { lease, run, turn } = await begin(store, "a");
      let wakes = 0;
      store.onWake("outbox", () => wakes++);
      const interim = { ...delivery("interim"), content: "I am at it." };
      await store.outbox.add(lease, run, interim);
      await store.outbox.add(lease, run, { ...interim, content: "I am still at it." });
      expect(await store.outbox.claim(alice, 10)).toMatchObject([
        { delivery: "delivery-interim", content: "I am at it.", target: interim.target },
      ]);
      expect(wakes).toBeGreaterThan(0);
      expect(await store.outbox.ofTurn(turn)).toMatchObject([{ id: "delivery-interim", turn }]);
    });

    test("what Cortex itself has to say goes out once, in the name of no turn", async () => {
      await using opened = await open();
      const { store } = opened;
      let wakes = 0;
      store.onWake("outbox", () => wakes++);
      const notice = { ...delivery("notice"), content: "The templates have changed." };
      await store.outbox.notify(notice);
      await store.outbox.notify({ ...notice, content: "Again." });
      expect(wakes).toBeGreaterThan(0);
      const { items } = await store.outbox.list();
      expect(items).toMatchObject([{ id: "delivery-notice", turn: undefined, content: notice.content }]);
      expect(await store.outbox.claim(alice, 10)).toMatchObject([{ delivery: "delivery-notice" }]);
    });

    test("whoever lost the lease sends nothing, and what a turn has sent outlives its failure", async () => {
      await using opened = await open();
      const { store } = opened;
      const { lease, run, turn } = await begin(store, "a");
      await store.outbox.add(lease, run, { ...delivery("first"), content: "one" });
      await store.runs.fail({ lease, run, error: "e", outcome: { kind: "dead" } });
      await expect(store.outbox.add(lease, run, { ...delivery("second"), content: "two" })).rejects.toEqual(
        refusal("lease_lost"),
      );
      expect(await store.outbox.ofTurn(turn)).toMatchObject([{ id: "delivery-first", state: "pending" }]);
    });

    test("deliveries of one target leave in order, and other targets do not wait for them", async () => {
      await using opened = await open();
      const { store } = opened;
      await deliver(store, "a1", "a");
      await deliver(store, "a2", "a");
      await deliver(store, "b1", "b");
      const claims = await store.outbox.claim(alice, 10);
      expect(claims.map(({ delivery: id }) => id)).toEqual(["delivery-a1", "delivery-b1"]);
      expect(await store.outbox.claim(alice, 10)).toEqual([]);
      const [first] = claims;
      await store.outbox.plan(first!, ["whole"]);
      await store.outbox.sending(first!, 0);
      await store.outbox.settle(first!, 0, { kind: "sent", platformId: "p-1" });
      expect(await store.outbox.claim(alice, 10)).toMatchObject([{ delivery: "delivery-a2" }]);
      expect(await store.outbox.get("delivery-a1" as DeliveryId)).toMatchObject({
        state: "sent",
        chunks: [{ content: "whole", state: "sent", platformId: "p-1" }],
      });
    });

    test("after a retry only the chunks that were not sent are left", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await deliver(store, "a");
      const [claim] = await store.outbox.claim(alice, 1);
      await store.outbox.plan(claim!, ["one", "two"]);
      await store.outbox.plan(claim!, ["another plan"]);
      await store.outbox.sending(claim!, 0);
      await store.outbox.settle(claim!, 0, { kind: "sent" });
      await store.outbox.settle(claim!, 0, { kind: "sent" });
      await expect(store.outbox.sending(claim!, 0)).rejects.toEqual(refusal("state_conflict"));
      await store.outbox.sending(claim!, 1);
      await store.outbox.settle(claim!, 1, { kind: "retry", error: "429", retryAtMs: clock() + 1_000 });
      expect(await store.outbox.claim(alice, 1)).toEqual([]);
      clock.advance(1_000);
      expect(await store.outbox.claim(alice, 1)).toMatchObject([
        { attempt: 2, state: "pending", chunks: [{ state: "sent" }, { content: "two", state: "pending" }] },
      ]);
    });

    test("a send whose sender vanished is unknown, one that had not begun is pending", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await deliver(store, "a", "a");
      await deliver(store, "b", "b");
      const [begun, planned] = await store.outbox.claim(alice, 2);
      await store.outbox.plan(begun!, ["text"]);
      await store.outbox.plan(planned!, ["text"]);
      await store.outbox.sending(begun!, 0);
      clock.advance(alice.ttlMs + 1);
      expect(await store.outbox.claim(bob, 10)).toMatchObject([
        { delivery: "delivery-a", state: "unknown", chunks: [{ state: "unknown" }] },
        { delivery: "delivery-b", state: "pending" },
      ]);
      await expect(store.outbox.settle(begun!, 0, { kind: "sent" })).rejects.toEqual(refusal("lease_lost"));
    });

    test("a claim whose sender fell silent is handed out again, to its own holder too", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await deliver(store, "a");
      await store.outbox.claim(alice, 1);
      clock.advance(alice.ttlMs + 1);
      expect(await store.outbox.claim(alice, 1)).toMatchObject([
        { delivery: "delivery-a", state: "pending" },
      ]);
    });

    test("a delivery can be given back, and can fail before any of it was sent", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await deliver(store, "a");
      const [first] = await store.outbox.claim(alice, 1);
      await store.outbox.release([first!]);
      const [second] = await store.outbox.claim(bob, 1);
      const retry = { kind: "retry" as const, error: "no such channel", retryAtMs: clock() + 10 };
      await store.outbox.fail(second!, retry);
      await store.outbox.fail(second!, retry); // its outcome was not heard
      await expect(store.outbox.fail(first!, retry)).rejects.toEqual(refusal("lease_lost"));
      clock.advance(10);
      const [third] = await store.outbox.claim(bob, 1);
      await store.outbox.fail(third!, { kind: "dead", error: "gone" });
      expect((await store.outbox.list({ state: "dead" })).items).toMatchObject([
        { error: "gone", attempt: 3 },
      ]);
    });

    test("open deliveries are counted by account", async () => {
      await using opened = await open();
      const { store } = opened;
      const notify = (id: string, channel: string, account?: string) =>
        store.outbox.notify({
          id: id as DeliveryId,
          target: { channel, place: id, ...(account === undefined ? {} : { account }) },
          content: "hello",
        });
      await notify("a", "chat");
      await notify("b", "chat");
      await notify("c", "chat", "work");
      const claims = await store.outbox.claim(alice, 3);
      await store.outbox.fail(claims[0]!, { kind: "dead", error: "gone" });
      expect(await store.outbox.open()).toEqual([
        { channel: "chat", account: "default", waiting: 1, dead: 1 },
        { channel: "chat", account: "work", waiting: 1, dead: 0 },
      ]);
      await store.outbox.dropDead(claims[0]!.delivery);
      await store.outbox.plan(claims[1]!, ["hello"]);
      await store.outbox.sending(claims[1]!, 0);
      await store.outbox.settle(claims[1]!, 0, { kind: "sent" });
      expect(await store.outbox.open()).toMatchObject([{ account: "work", waiting: 1 }]);
    });

    test("what became of a chunk can be recorded again where nobody heard the answer", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await deliver(store, "a");
      const [claim] = await store.outbox.claim(alice, 1);
      await store.outbox.plan(claim!, ["text"]);
      await store.outbox.sending(claim!, 0);
      const unknown = { kind: "unknown" as const, error: "cut", retryAtMs: clock() };
      await store.outbox.settle(claim!, 0, unknown);
      await store.outbox.settle(claim!, 0, unknown);
      expect((await store.outbox.list({ state: "unknown" })).items).toHaveLength(1);
    });

    test("a dead delivery stays visible, blocks nothing, and can be tried again", async () => {
      await using opened = await open();
      const { store } = opened;
      await deliver(store, "a1", "a");
      await deliver(store, "a2", "a");
      const [claim] = await store.outbox.claim(alice, 1);
      await store.outbox.plan(claim!, ["text"]);
      await store.outbox.settle(claim!, 0, { kind: "dead", error: "blocked by the user" });
      expect((await store.outbox.list({ state: "dead" })).items).toMatchObject([
        { error: "blocked by the user" },
      ]);
      expect(await store.outbox.claim(alice, 10)).toMatchObject([{ delivery: "delivery-a2" }]);
      await store.outbox.retry("delivery-a1" as DeliveryId);
      expect(await store.outbox.claim(alice, 10)).toMatchObject([{ delivery: "delivery-a1" }]);
      await expect(store.outbox.retry("delivery-a2" as DeliveryId)).rejects.toEqual(
        refusal("state_conflict"),
      );
    });

    test("a chunk that is sent again stays marked, until somebody retries the delivery with it in doubt", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await deliver(store, "a");
      const [first] = await store.outbox.claim(alice, 1);
      await store.outbox.plan(first!, ["text"]);
      const again = { kind: "retry" as const, error: "no answer", retryAtMs: clock() };
      await store.outbox.settle(first!, 0, { ...again, isRepeat: true });
      const [second] = await store.outbox.claim(alice, 1);
      expect(second!.chunks).toMatchObject([{ state: "pending", isRepeat: true }]);
      await store.outbox.settle(second!, 0, again);
      const [third] = await store.outbox.claim(alice, 1);
      expect(third!.chunks).toMatchObject([{ isRepeat: true }]);

      await store.outbox.settle(third!, 0, { kind: "dead", error: "refused" });
      await store.outbox.retry(third!.delivery);
      const [fourth] = await store.outbox.claim(alice, 1);
      expect(fourth!.chunks).toMatchObject([{ state: "pending", isRepeat: true }]);
      await store.outbox.settle(fourth!, 0, { kind: "unknown", error: "no answer", retryAtMs: clock() });
      const [fifth] = await store.outbox.claim(alice, 1);
      await store.outbox.fail(fifth!, { kind: "dead", error: "in doubt" });
      await store.outbox.retry(fifth!.delivery);
      const [sixth] = await store.outbox.claim(alice, 1);
      expect(sixth!.chunks).toMatchObject([{ state: "unknown", isRepeat: false }]);
    });

    test("unknown deliveries, chunks that were not planned and plans out of bounds are refused", async () => {
      await using opened = await open();
      const { store } = opened;
      await deliver(store, "a");
      const [claim] = await store.outbox.claim(alice, 1);
      const none = { delivery: "none" as DeliveryId, epoch: 1 };
      await expect(store.outbox.plan(none, ["x"])).rejects.toEqual(refusal("delivery_unknown"));
      await expect(store.outbox.sending(claim!, 0)).rejects.toEqual(refusal("delivery_unknown"));
      await expect(store.outbox.retry(none.delivery)).rejects.toEqual(refusal("delivery_unknown"));
      await expect(store.outbox.plan(claim!, [])).rejects.toEqual(refusal("limit_invalid"));
      const many = Array.from({ length: MAX_CHUNKS_IN_DELIVERY + 1 }, () => "x");
      await expect(store.outbox.plan(claim!, many)).rejects.toEqual(refusal("limit_invalid"));
    });
  });

  describe("queries and wake-ups", () => {
    test("places have the names and kinds that events say, inside the places around them", async () => {
      await using opened = await open();
      const { store } = opened;
      const group = { place: "-100", placeKind: "group", placeName: "Friends" } as const;
      await store.events.accept(event("a", { ...group, topic: "7", parentPlace: "home" }));
      await store.events.accept(event("b", { place: "tyler", placeKind: "dm", mentionsMe: true }));
      await store.events.accept(event("c", { place: "-100", placeName: "Old friends" }));
      await store.events.accept(event("d", { place: "-100" }));
      expect(
        await store.query("select id, name, is_group, parent_thread_id from threads order by id"),
      ).toEqual([
        { id: "test:default:-100", name: "Old friends", is_group: 1, parent_thread_id: "test:default:home" },
        { id: "test:default:-100:7", name: null, is_group: 1, parent_thread_id: "test:default:-100" },
        { id: "test:default:home", name: null, is_group: null, parent_thread_id: null },
        { id: "test:default:tyler", name: null, is_group: 0, parent_thread_id: null },
      ]);
      expect(await store.events.get(event("d").id)).toMatchObject({ placeKind: "group" });
      expect(await store.events.get(event("b").id)).toMatchObject({ placeKind: "dm", mentionsMe: true });
      expect(await store.query("select id from events where place_kind = 'dm' and mentions_me = 1")).toEqual([
        { id: "test:b" },
      ]);
      for (const wrong of [{ place: undefined, placeName: "x" }, { parentPlace: "dm-1" }])
        await expect(store.events.accept(event("e", wrong as object))).rejects.toEqual(
          refusal("event_invalid"),
        );
    });

    test("SQL sees the public views under their documented column names", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      await store.turns.commit(turnFor(claim));
      expect(
        await store.query(
          "select id, channel, direction, content, sender_id, source_adapter, source_id from events",
        ),
      ).toEqual([
        {
          id: "test:a",
          channel: "test",
          direction: "received",
          content: "message a",
          sender_id: "tyler",
          source_adapter: "test",
          source_id: "a",
        },
      ]);
      expect(
        await store.query("select id, session_id, has_children, status from agent_turns where id = ?", [
          claim.turn,
        ]),
      ).toEqual([{ id: claim.turn, session_id: "work", has_children: 0, status: "completed" }]);
      expect(await store.query("select role, sequence from agent_messages order by sequence")).toEqual([
        { role: "user", sequence: 0 },
        { role: "assistant", sequence: 1 },
      ]);
    });

    test("what is not committed is in no view of turns and messages", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      const entry: JournalEntry = { kind: "message", place: 0, message: message("m", "user", "secret") };
      await store.runs.journal(claim.lease, claim.run, [entry]);
      expect(await store.query("select * from agent_messages")).toEqual([]);
      expect(await store.query("select * from agent_turns")).toEqual([]);
      expect(await store.query("select status, journal_entries from runs")).toEqual([
        { status: "running", journal_entries: 1 },
      ]);
    });

    test.each([
      "delete from events",
      "update agent_turns set id = 'x'",
      "insert into events (id) values ('x')",
      "drop view events",
      "attach database 'other.db' as other",
      "pragma query_only = off",
      "select 1; select 2",
      "begin",
      "with x as (select 1) delete from event",
      "",
      "selekt 1",
    ])("the statement %j is refused", async (sql) => {
      await using opened = await open();
      await expect(opened.store.query(sql)).rejects.toEqual(refusal("query_refused"));
    });

    test("a query is stopped at its deadline, and the ones beside it are answered", async () => {
      await using opened = await open();
      const { store } = opened;
      const endless =
        "with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) from n";
      const [stopped, beside] = await Promise.allSettled([
        store.query(endless, [], { deadlineMs: 300 }),
        store.query("select 1 as one"),
      ]);
      expect(stopped).toEqual({ status: "rejected", reason: refusal("query_timeout") });
      expect(beside).toEqual({ status: "fulfilled", value: [{ one: 1 }] });
      expect(await store.query("select 2 as two")).toEqual([{ two: 2 }]);
    });

    test("a slow query delays the ones behind it and fails none of them", async () => {
      await using opened = await open();
      const { store } = opened;
      const endless =
        "with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) from n";
      const slow = store.query(endless, [], { deadlineMs: 400 });
      const behind = Array.from({ length: 5 }, () =>
        store.query("select 1 as one", [], { deadlineMs: 5_000 }),
      );
      await expect(slow).rejects.toEqual(refusal("query_timeout"));
      expect(await Promise.all(behind)).toEqual(Array.from({ length: 5 }, () => [{ one: 1 }]));
    });

    test("a query that would bring back too much is refused", async () => {
      await using opened = await open();
      const large = "select hex(zeroblob(1000000)) from (values (1), (2), (3), (4), (5), (6), (7), (8), (9))";
      await expect(opened.store.query(large)).rejects.toEqual(refusal("query_too_large"));
    });

    test("a query with more rows than were asked for is refused", async () => {
      await using opened = await open();
      await expect(opened.store.query("values (1), (2), (3)", [], { maxRows: 2 })).rejects.toEqual(
        refusal("query_too_large"),
      );
      expect(await opened.store.query("values (1), (2), (3)", [], { maxRows: 3 })).toHaveLength(3);
    });

    test("whoever waits for work is woken when it comes, and no longer after leaving", async () => {
      await using opened = await open();
      const { store } = opened;
      let woken = 0;
      const leave = store.onWake("queue", () => woken++);
      await store.events.accept(event("a"), { dispatch: dispatch("a", toSession("work")) });
      await Promise.resolve();
      expect(woken).toBe(1);
      leave();
      await store.events.accept(event("b"), { dispatch: dispatch("b", toSession("work")) });
      await Promise.resolve();
      expect(woken).toBe(1);
    });

    test("a store that is closed says so", async () => {
      const opened = await open();
      await opened[Symbol.asyncDispose]();
      await expect(opened.store.events.accept(event("a"))).rejects.toEqual(refusal("store_closed"));
      await expect(opened.store.sessions.get(session("work"))).rejects.toEqual(refusal("store_closed"));
      await expect(opened.store.query("select 1")).rejects.toEqual(refusal("store_closed"));
    });
  });

  test("a value that cannot be stored fails its own call, and not its neighbours", async () => {
    await using opened = await open();
    const { store } = opened;
    const claim = await begin(store, "a");
    const { lease, run } = claim;
    const bad = await Promise.allSettled([
      store.events.accept(event("fine")),
      store.runs.requestAbort(run, undefined as unknown as string),
      store.runs.fail({ lease, run, error: "x", outcome: { kind: "retry", atMs: Number.NaN } }),
      store.queue.lease({ holder: "x", ttlMs: Number.NaN }, 1),
      store.turns.commit({ ...turnFor(claim), facts: { ...facts, costUsd: Number.NaN } }),
      store.turns.commit({ ...turnFor(claim), messages: [{ ...answer(claim.turn), atMs: 1.5 }] }),
      store.events.accept(event("also fine")),
    ]);
    const outcomes = bad.map((each) => (each.status === "fulfilled" ? "ok" : each.reason.code));
    const refused = Array.from({ length: 5 }, () => "limit_invalid");
    expect(outcomes).toEqual(["ok", ...refused, "ok"]);
    await store.turns.commit(turnFor(claim));
  });

  test("many callers at once each get their own answer, refusals among them", async () => {
    await using opened = await open();
    const { store } = opened;
    const calls = Array.from({ length: 2_000 }, (_unused, i) => {
      const target =
        i % 10 === 0
          ? ({ kind: "turn", turn: "none" as TurnId, forkAs: session("f") } as const)
          : toSession(`s${i}`);
      return store.events.accept(event(`e${i}`), { dispatch: dispatch(`e${i}`, target), claim: alice });
    });
    const settled = await Promise.allSettled(calls);
    const answers = settled.map((outcome) =>
      outcome.status === "fulfilled" ? outcome.value.dispatched!.item : outcome.reason.code,
    );
    expect(answers).toEqual(calls.map((_call, i) => (i % 10 === 0 ? "turn_unknown" : `item-e${i}`)));
    expect(await store.query("select count(*) as n from events")).toEqual([{ n: 1_800 }]);
  });

  test("an id that is used for two things is refused, and its neighbours in the batch are not", async () => {
    await using opened = await open();
    const { store } = opened;
    await store.events.accept(event("a"), { dispatch: dispatch("same", toSession("one")) });
    const [clash, fine] = await Promise.allSettled([
      store.events.accept(event("b"), { dispatch: dispatch("same", toSession("two")) }),
      store.events.accept(event("c"), { dispatch: dispatch("c", toSession("three")) }),
    ]);
    expect(clash).toMatchObject({ status: "rejected", reason: { code: "state_conflict" } });
    expect(fine.status).toBe("fulfilled");
    expect(await store.events.get("test:b" as EventId)).toBeUndefined();
    expect(await store.sessions.get(session("two"))).toBeUndefined();
  });
});

type TurnStoreCommit = Store["turns"]["commit"];
