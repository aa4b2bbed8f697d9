/** What every store promises of queues under pressure: full ones, quiet windows, messages that interrupt. */
import { describe, expect, test } from "vitest";

import {
  alice,
  answer,
  bob,
  dispatch,
  event,
  message,
  session,
  toSession,
  turnFor,
} from "../../test/support/sample.ts";
import { begin, finishTurn, STORES } from "../../test/support/stores.ts";
import type { EventId, ItemId } from "../model/ids.ts";
import {
  type Claim,
  type Dispatched,
  type JournalEntry,
  MAX_QUIET_WINDOWS,
  type NewDispatch,
  type Store,
} from "./store.ts";

const work = session("work");
const WINDOW_MS = 1_000;

const refusal = (code: string) =>
  expect.objectContaining({ name: "CortexError", code, hint: expect.any(String) });

/** What can have become of a run that is not over, for rules that hold whatever it is. */
const UNFINISHED: Readonly<Record<string, (store: Store, claim: Claim, nowMs: number) => Promise<unknown>>> =
  {
    "that works": async () => {},
    "that is suspended": (store, { lease, run }) =>
      store.runs.suspend(lease, run, { id: "w", kind: "question", detail: null }),
    "that was given back": (store, { lease }) => store.queue.release([lease]),
    "that is to be tried again": (store, { lease, run }, nowMs) =>
      store.runs.fail({ lease, run, error: "busy", outcome: { kind: "retry", atMs: nowMs + 3_600_000 } }),
  };

async function send(store: Store, name: string, fields: Partial<NewDispatch> = {}): Promise<Dispatched> {
  const options = { dispatch: dispatch(name, toSession("work"), fields), claim: alice };
  return (await store.events.accept(event(name), options)).dispatched!;
}

async function sendAll(store: Store, names: string, fields: Partial<NewDispatch> = {}): Promise<void> {
  for (const name of names) await send(store, name, fields);
}

async function waiting(store: Store): Promise<string> {
  return names(await store.queue.pending(work));
}

async function unseen(store: Store): Promise<string> {
  return names(await store.queue.unseenDrops(work));
}

function names(items: readonly { readonly id: ItemId }[]): string {
  return items.map(({ id }) => id.replace("item-", "")).join("");
}

function ids(list: string): ItemId[] {
  return Array.from(list, (name) => `item-${name}` as ItemId);
}

function telling(place: number, list: string): JournalEntry {
  return {
    kind: "message",
    place,
    message: message(`m${place}`, "user", `dropped: ${list}`),
    items: ids(list),
  };
}

/** A dead letter that is queued to be tried again: it waits, and is part of a turn. */
async function retried(store: Store, name: string): Promise<Claim> {
  const claim = await begin(store, name);
  await store.runs.fail({ lease: claim.lease, run: claim.run, error: "x", outcome: { kind: "dead" } });
  await store.queue.retryDead(`item-${name}` as ItemId);
  return claim;
}

describe.each(Object.entries(STORES))("%s", (_, open) => {
  describe("a full queue", () => {
    test.each(Object.entries(UNFINISHED))("drops the new message beside a run %s", async (_state, bring) => {
      await using opened = await open();
      const { store, clock } = opened;
      await bring(store, await begin(store, "r"), clock());
      const cap = { max: 2, drop: "new" as const };
      await sendAll(store, "ab", { cap });
      expect(await send(store, "c", { cap })).toEqual({
        outcome: "dropped",
        item: "item-c",
        session: "work",
      });
      expect(await waiting(store)).toBe("ab");
      expect(await store.queue.outcome("item-c" as ItemId)).toMatchObject({
        state: "dropped",
        policy: "new",
      });
    });

    test.each(Object.entries(UNFINISHED))(
      "drops the oldest message beside a run %s",
      async (_state, bring) => {
        await using opened = await open();
        const { store, clock } = opened;
        await bring(store, await begin(store, "r"), clock());
        const cap = { max: 2, drop: "old" as const };
        await sendAll(store, "abcd", { cap });
        expect(await waiting(store)).toBe("cd");
        expect(await store.queue.outcome("item-a" as ItemId)).toMatchObject({
          state: "dropped",
          policy: "old",
        });
        expect(await store.queue.outcome("item-b" as ItemId)).toMatchObject({
          state: "dropped",
          policy: "old",
        });
      },
    );

    test("is told of in the same entry of the feed as the message that filled it", async () => {
      await using opened = await open();
      const { store } = opened;
      await begin(store, "r");
      const items = async (act: () => Promise<unknown>): Promise<string[]> => {
        const before = await store.changes.last();
        await act();
        const { changes } = await store.changes.since(before);
        expect(new Set(changes.map(({ seq }) => seq)).size).toBe(1);
        return changes.flatMap((change) => (change.kind === "item" ? `${change.item} ${change.state}` : []));
      };
      await send(store, "a");
      const old = { max: 1, drop: "old" as const };
      expect(await items(() => send(store, "b", { cap: old }))).toEqual(["item-a dropped", "item-b queued"]);
      expect(await items(() => send(store, "c", { cap: { max: 1, drop: "new" } }))).toEqual([
        "item-c dropped",
      ]);
    });

    test("drops nothing for a call that comes again, and takes no second hook in for what it dropped", async () => {
      await using opened = await open();
      const { store } = opened;
      await begin(store, "r");
      const cap = { max: 1, drop: "old" as const };
      await sendAll(store, "ab", { cap });
      expect(await send(store, "b", { cap })).toMatchObject({ outcome: "repeated", item: "item-b" });
      expect(await waiting(store)).toBe("b");
      const late = dispatch("late", toSession("work"), { hook: "late", cap });
      expect(await store.events.dispatch("test:a" as EventId, late)).toMatchObject({ outcome: "dropped" });
      expect(await store.events.dispatches("test:a" as EventId)).toMatchObject([
        { outcome: "queued" },
        { outcome: "dropped" },
      ]);
      expect(await waiting(store)).toBe("b");
    });

    test("counts what waits, not what a turn has taken or what begins at once", async () => {
      await using opened = await open();
      const { store } = opened;
      const cap = { max: 1, drop: "new" as const };
      const { claim } = await send(store, "a", { cap });
      expect(claim).toBeDefined();
      expect(await send(store, "b", { cap })).toMatchObject({ outcome: "queued" });
      await store.runs.journal(claim!.lease, claim!.run, [telling(0, "b")]);
      expect(await send(store, "c", { cap })).toMatchObject({ outcome: "queued" });
      expect(await send(store, "d", { cap })).toMatchObject({ outcome: "dropped" });
    });

    test("that is allowed less than before comes down to what it may hold", async () => {
      await using opened = await open();
      const { store } = opened;
      await begin(store, "r");
      await sendAll(store, "abcde");
      await send(store, "f", { cap: { max: 2, drop: "old" } });
      expect(await waiting(store)).toBe("ef");
    });

    test("never drops what belongs to a turn that is to be tried again", async () => {
      await using opened = await open();
      const { store } = opened;
      await retried(store, "a");
      await send(store, "b");
      await send(store, "c", { cap: { max: 2, drop: "old" } });
      expect(await waiting(store)).toBe("ac");
      expect(await send(store, "d", { cap: { max: 1, drop: "old" } })).toMatchObject({ outcome: "dropped" });
      expect(await store.queue.outcome("item-d" as ItemId)).toMatchObject({ policy: "new" });
      expect(await waiting(store)).toBe("ac"); // nothing else is given up in vain
    });

    test("of an idle session makes it ready when what is left is due", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await send(store, "a", { dueMs: clock() + 1_000 });
      await send(store, "b", { dueMs: clock() + 5_000 });
      await send(store, "c", { dueMs: clock() + 9_000, cap: { max: 2, drop: "old" } });
      expect(await store.queue.nextReadyMs()).toBe(clock() + 5_000);
      clock.advance(4_999);
      expect(await store.queue.lease(alice, 1)).toEqual([]);
      clock.advance(1);
      const [claim] = await store.queue.lease(alice, 1);
      expect(await store.queue.itemsOf(claim!.turn)).toMatchObject([{ id: "item-b" }]);
    });

    test("does not send its session to the end of the line", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const queue = (name: string, label: string, fields: Partial<NewDispatch> = {}) =>
        store.events.accept(event(name), { dispatch: dispatch(name, toSession(label), fields) });
      await queue("a", "busy");
      clock.advance(1);
      await queue("b", "quiet");
      clock.advance(1);
      await queue("c", "busy", { cap: { max: 1, drop: "old" } });
      expect(await store.queue.lease(alice, 1)).toMatchObject([{ lease: { session: "busy" } }]);
    });

    test("holds at least one message", async () => {
      await using opened = await open();
      const { store } = opened;
      for (const max of [0, -1, 1.5, Number.NaN]) {
        await expect(send(store, "a", { cap: { max, drop: "old" } })).rejects.toEqual(
          refusal("limit_invalid"),
        );
      }
      expect(await store.events.get("test:a" as EventId)).toBeUndefined();
    });
  });

  describe("what was dropped to be summarised", () => {
    const cap = { max: 1, drop: "summarize" as const };

    test("is told to one turn, oldest first, and stays dropped", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "r");
      await sendAll(store, "abcd", { cap });
      expect(await unseen(store)).toBe("abc");
      expect(names(await store.queue.unseenDrops(work, { limit: 2 }))).toBe("ab");
      expect(await store.queue.unseenDrops(work)).toMatchObject([
        { state: "dropped", event: { content: "message a" }, dispatches: [{ hook: "direct" }] },
        {},
        {},
      ]);

      await store.runs.journal(claim.lease, claim.run, [telling(0, "ab")]);
      await store.runs.journal(claim.lease, claim.run, [telling(0, "ab")]); // once more
      expect(await unseen(store)).toBe("c");
      expect(await store.queue.outcome("item-a" as ItemId)).toMatchObject({
        state: "dropped",
        policy: "summarize",
        turn: undefined,
      });
      await store.turns.commit(turnFor(claim, { messages: [answer(claim.turn)] }));
      expect(names(await store.queue.itemsOf(claim.turn))).toBe("r");
      const [next] = await store.queue.lease(alice, 1);
      await expect(store.runs.journal(next!.lease, next!.run, [telling(0, "a")])).rejects.toEqual(
        refusal("item_unknown"),
      );
      await store.runs.journal(next!.lease, next!.run, [telling(0, "c")]);
      expect(await unseen(store)).toBe("");
    });

    test("is not told by a journal entry that was refused", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "r");
      await sendAll(store, "ab", { cap });
      await expect(
        store.runs.journal(claim.lease, claim.run, [telling(0, "a"), telling(5, "")]),
      ).rejects.toEqual(refusal("journal_conflict"));
      expect(await unseen(store)).toBe("a");
    });

    test("is another session's matter only there", async () => {
      await using opened = await open();
      const { store } = opened;
      await begin(store, "r");
      await sendAll(store, "ab", { cap });
      const other = await begin(store, "o", "other");
      expect(await store.queue.unseenDrops(session("other"))).toEqual([]);
      await expect(store.runs.journal(other.lease, other.run, [telling(0, "a")])).rejects.toEqual(
        refusal("item_unknown"),
      );
      await expect(store.queue.unseenDrops(session("nowhere"))).rejects.toEqual(refusal("session_unknown"));
    });

    test("is not what another policy has dropped", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "r");
      await sendAll(store, "ab", { cap: { max: 1, drop: "old" } });
      await store.queue.drop(ids("b"), "tidied up");
      expect(await unseen(store)).toBe("");
      await expect(store.runs.journal(claim.lease, claim.run, [telling(0, "a")])).rejects.toEqual(
        refusal("item_unknown"),
      );
    });

    test("stays told when the turn fails, dies, is tried again and is given up", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const claim = await begin(store, "r");
      await sendAll(store, "ab", { cap });
      await store.queue.drop(ids("b"), "tidied up");
      await store.runs.journal(claim.lease, claim.run, [telling(0, "a")]);
      const failure = { lease: claim.lease, run: claim.run, error: "x" };
      await store.runs.fail({ ...failure, outcome: { kind: "retry", atMs: clock() } });
      const [again] = await store.queue.lease(alice, 1);
      expect((await store.runs.readJournal(again!.run)).messages).toMatchObject([{ content: "dropped: a" }]);
      expect(await unseen(store)).toBe("");
      await store.runs.fail({ ...failure, lease: again!.lease, run: again!.run, outcome: { kind: "dead" } });
      await store.queue.retryDead("item-r" as ItemId);
      const [third] = await store.queue.lease(alice, 1);
      await store.runs.journal(third!.lease, third!.run, [telling(0, "a")]);
      await store.runs.fail({ ...failure, lease: third!.lease, run: third!.run, outcome: { kind: "dead" } });
      await store.queue.dropDead("item-r" as ItemId);
      expect(await unseen(store)).toBe("");
    });
  });

  describe("collecting", () => {
    const collect = (nowMs: number): Partial<NewDispatch> => ({ mode: "collect", dueMs: nowMs + WINDOW_MS });

    test("the quiet window of an idle session begins anew with each message", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      expect((await send(store, "a", collect(clock()))).claim).toBeUndefined();
      clock.advance(600);
      await send(store, "b", collect(clock()));
      expect(await store.queue.nextReadyMs()).toBe(clock() + WINDOW_MS);
      clock.advance(600);
      expect(await store.queue.lease(alice, 1)).toEqual([]);
      clock.advance(400);
      const [claim] = await store.queue.lease(alice, 1);
      expect(names(await store.queue.itemsOf(claim!.turn))).toBe("a");
      expect(await waiting(store)).toBe("b");
      await store.runs.journal(claim!.lease, claim!.run, [telling(0, "b")]);
      await store.turns.commit(turnFor(claim!, { messages: [answer(claim!.turn)] }));
      expect(names(await store.queue.itemsOf(claim!.turn))).toBe("ab");
    });

    test("a steady stream postpones a message by ten windows and no more", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const startMs = clock();
      for (const name of "abcdefghijklmnopqrst") {
        await send(store, name, collect(clock()));
        clock.advance(WINDOW_MS / 2);
      }
      expect(clock()).toBe(startMs + MAX_QUIET_WINDOWS * WINDOW_MS);
      expect(await store.queue.item("item-a" as ItemId)).toMatchObject({ dueMs: clock() });
      expect(await store.queue.item("item-b" as ItemId)).toMatchObject({ dueMs: clock() + WINDOW_MS / 2 });
      expect(await store.queue.lease(alice, 1)).toHaveLength(1);
    });

    test("beside a run, what was collected waits for the window after the run too", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const claim = await begin(store, "r");
      await send(store, "a", collect(clock()));
      clock.advance(WINDOW_MS);
      await send(store, "b", collect(clock()));
      expect(await store.queue.lease(bob, 1)).toEqual([]); // the lease of the run is as it was
      expect(await store.turns.commit({ ...turnFor(claim), claimNext: alice })).toEqual({});
      expect(await store.queue.nextReadyMs()).toBe(clock() + WINDOW_MS);
      clock.advance(WINDOW_MS);
      expect(await store.queue.lease(alice, 1)).toHaveLength(1);
    });

    test("messages of other modes and turns that are to be tried again are not held up", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const { claim } = await send(store, "a", { mode: "collect" });
      const { lease, run } = claim!;
      await store.runs.fail({ lease, run, error: "x", outcome: { kind: "dead" } });
      await store.queue.retryDead("item-a" as ItemId);
      await send(store, "b");
      const before = clock();
      clock.advance(10);
      await send(store, "c", collect(clock()));
      expect((await store.queue.pending(work)).map(({ dueMs }) => dueMs)).toEqual([
        before,
        before,
        clock() + WINDOW_MS,
      ]);
      expect(await store.queue.nextReadyMs()).toBe(before);
    });

    test("a message that is due, dropped or came before begins no window", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await begin(store, "r");
      await send(store, "a", collect(clock()));
      const dueMs = clock() + WINDOW_MS;
      clock.advance(10);
      await send(store, "b", { mode: "collect" });
      await send(store, "c", { ...collect(clock()), cap: { max: 1, drop: "new" } });
      await send(store, "a", collect(clock()));
      await send(store, "d", { dueMs: clock() + WINDOW_MS });
      expect(await store.queue.item("item-a" as ItemId)).toMatchObject({ dueMs });
    });
  });

  describe("interrupting", () => {
    const reason = "interrupted by a newer message";

    test("a run that works is asked to abort, and the message comes before older ones", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "r");
      await sendAll(store, "ab");
      await send(store, "c", { mode: "interrupt" });
      await send(store, "d", { mode: "interrupt" });
      expect(await store.runs.get(claim.run)).toMatchObject({ state: "running", abort: reason });
      let next = (await store.turns.commit(turnFor(claim, { status: "aborted", claimNext: alice }))).next;
      let order = "";
      for (
        ;
        next !== undefined;
        next = (await store.turns.commit(turnFor(next, { claimNext: alice }))).next
      ) {
        expect(next.abort).toBeUndefined();
        order += names(await store.queue.itemsOf(next.turn));
      }
      expect(order).toBe("cdab");
    });

    const { "that works": _works, ...WAITING } = UNFINISHED;
    test.each(Object.entries(WAITING))("a run %s is taken up at once, to end", async (_state, bring) => {
      await using opened = await open();
      const { store, clock } = opened;
      const claim = await begin(store, "r");
      await bring(store, claim, clock());
      await send(store, "a", { mode: "interrupt" });
      expect(await store.queue.nextReadyMs()).toBe(clock());
      const [taken] = await store.queue.lease(bob, 1);
      expect(taken).toMatchObject({ turn: claim.turn, abort: reason });
      const { next } = await store.turns.commit(turnFor(taken!, { status: "aborted", claimNext: bob }));
      expect(names(await store.queue.itemsOf(next!.turn))).toBe("a");
    });

    test("a run that is asked to abort takes no message and tells of no drop, whoever asked", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "r");
      const take = (taker: Claim, place: number, list: string): Promise<void> =>
        store.runs.journal(taker.lease, taker.run, [telling(place, list)]);
      await sendAll(store, "ab");
      await take(claim, 0, "a");
      await send(store, "c", { cap: { max: 1, drop: "summarize" } });
      await send(store, "d", { mode: "interrupt" });
      expect(await store.runs.get(claim.run)).toMatchObject({ abort: reason, abortedBy: "test:d" });
      for (const name of "bcd") await expect(take(claim, 1, name)).rejects.toEqual(refusal("state_conflict"));
      await take(claim, 0, "a"); // the same again
      await take(claim, 1, "");
      await store.turns.commit(turnFor(claim, { status: "aborted" }));
      expect(await unseen(store)).toBe("b");
      expect(await waiting(store)).toBe("cd");

      const [next] = await store.queue.lease(bob, 1);
      await store.runs.requestAbort(next!.run, "asked");
      expect(await store.runs.get(next!.run)).toMatchObject({ abort: "asked", abortedBy: undefined });
      await expect(take(next!, 0, "c")).rejects.toEqual(refusal("state_conflict"));
    });

    test("a run that fails after it was asked to abort is taken up at once, to end", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const { lease, run, turn } = await begin(store, "r");
      await send(store, "a", { mode: "interrupt" });
      const retry = { kind: "retry", atMs: clock() + 3_600_000 } as const;
      const { next } = await store.runs.fail({ lease, run, error: "busy", outcome: retry, claimNext: alice });
      expect(next).toMatchObject({ turn, attempt: 2, abort: reason });
      expect(await store.runs.get(next!.run)).toMatchObject({ abortedBy: "test:a" });
    });

    test("a run whose holder fell silent is aborted by the one who takes it over", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const claim = await begin(store, "r");
      clock.advance(alice.ttlMs + 1);
      await send(store, "a", { mode: "interrupt" });
      expect(await store.queue.lease(bob, 1)).toMatchObject([{ run: claim.run, abort: reason }]);
    });

    test("whoever works or waits is woken, and the feed tells of the run that was", async () => {
      await using opened = await open();
      const { store } = opened;
      const woken: string[] = [];
      store.onWake("runs", () => woken.push("runs"));
      await begin(store, "r");
      await send(store, "a", { mode: "interrupt" });
      await Promise.resolve();
      expect(woken).toEqual(["runs"]);

      const other = await begin(store, "s", "other");
      await store.runs.suspend(other.lease, other.run, { id: "w", kind: "question", detail: null });
      const before = await store.changes.last();
      await send(store, "b", { mode: "interrupt", target: toSession("other") });
      const { changes } = await store.changes.since(before);
      expect(changes).toContainEqual(expect.objectContaining({ kind: "run", state: "resumable" }));
    });

    test("an idle session is taken at once, as by any message", async () => {
      await using opened = await open();
      const { claim } = await send(opened.store, "a", { mode: "interrupt", drains: "drop" });
      expect(claim!.abort).toBeUndefined();
    });

    test("a message that came before, joins, is merged or is dropped interrupts nothing", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "r");
      await send(store, "a");
      const interrupt = { mode: "interrupt" as const, hook: "late" };
      await send(store, "a", { mode: "interrupt" });
      for (const name of ["a", "r"]) {
        const late = dispatch(`late-${name}`, toSession("work"), interrupt);
        await store.events.dispatch(`test:${name}` as EventId, late);
      }
      await send(store, "b", { mode: "interrupt", cap: { max: 1, drop: "new" } });
      expect((await store.runs.get(claim.run))!.abort).toBeUndefined();
    });

    test("older messages can be dropped, but not those of a turn that is to be tried again", async () => {
      await using opened = await open();
      const { store } = opened;
      await retried(store, "a");
      await sendAll(store, "bc");
      await send(store, "d", { mode: "interrupt", drains: "drop", cap: { max: 2, drop: "new" } });
      expect(await waiting(store)).toBe("ad");
      expect(await store.queue.outcome("item-b" as ItemId)).toMatchObject({
        state: "dropped",
        policy: "interrupt",
      });
      await send(store, "e", { mode: "interrupt", drains: "drop", cap: { max: 1, drop: "old" } });
      expect(await waiting(store)).toBe("ad"); // there was no room to be had, so nothing was drained
      expect(await store.queue.outcome("item-e" as ItemId)).toMatchObject({ policy: "new" });
      await send(store, "f", { mode: "followup", drains: "drop" });
      expect(await waiting(store)).toBe("adf"); // only a message that interrupts drains
    });
  });

  describe("the next moment at which a session is ready", () => {
    test("is that of a message, then that of a retry, and none while a run is held or waits", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      expect(await store.queue.nextReadyMs()).toBeUndefined();
      await send(store, "a", { dueMs: clock() + 700 });
      expect(await store.queue.nextReadyMs()).toBe(clock() + 700);
      clock.advance(700);
      const [claim] = await store.queue.lease(alice, 1);
      expect(await store.queue.nextReadyMs()).toBeUndefined();
      const { lease, run } = claim!;
      await store.runs.fail({ lease, run, error: "x", outcome: { kind: "retry", atMs: clock() + 2_000 } });
      expect(await store.queue.nextReadyMs()).toBe(clock() + 2_000);
      await begin(store, "o", "other"); // held, and its lease runs out much later
      expect(await store.queue.nextReadyMs()).toBe(clock() + 2_000);
      clock.advance(2_000);
      const [again] = await store.queue.lease(alice, 1);
      await store.runs.suspend(again!.lease, again!.run, { id: "w", kind: "question", detail: null });
      expect(await store.queue.nextReadyMs()).toBeUndefined();
    });
  });

  describe("a session that starts afresh while a run is under way", () => {
    test("has the turn tried again after the new head, with its journal", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await finishTurn(store, "a");
      const claim = await begin(store, "b");
      await store.runs.journal(claim.lease, claim.run, [telling(0, "")]);
      await store.sessions.reset(work);
      expect(await store.sessions.head(work)).toBeUndefined();
      await expect(store.turns.commit(turnFor(claim))).rejects.toEqual(refusal("head_moved"));
      const retry = { kind: "retry" as const, atMs: clock() };
      await store.runs.fail({ lease: claim.lease, run: claim.run, error: "head moved", outcome: retry });
      const [again] = await store.queue.lease(alice, 1);
      expect(again).toMatchObject({ turn: claim.turn, journalled: true });
      expect(again!.parent).toBeUndefined();
      await store.turns.commit(turnFor(again!, { messages: [answer(claim.turn)] }));
      expect(await store.turns.get(claim.turn)).toMatchObject({ parent: undefined, depth: 0 });
      expect(await store.sessions.head(work)).toBe(claim.turn);
    });

    test("keeps its first turn, which follows none anyway", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      await store.sessions.reset(work);
      await store.turns.commit(turnFor(claim));
      expect(await store.sessions.head(work)).toBe(claim.turn);
    });

    test("continues a run that waited after the new head", async () => {
      await using opened = await open();
      const { store } = opened;
      await finishTurn(store, "a");
      const claim = await begin(store, "b");
      await store.runs.suspend(claim.lease, claim.run, { id: "w", kind: "question", detail: null });
      await store.sessions.reset(work);
      await store.runs.resume(claim.run, "w", []);
      const [again] = await store.queue.lease(alice, 1);
      expect(again!.parent).toBeUndefined();
      await store.turns.commit(turnFor(again!));
      expect(await store.sessions.head(work)).toBe(claim.turn);
    });
  });
});
