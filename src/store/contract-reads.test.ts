/** What every store promises to those who only read: lists, outcomes, counts, and a ledger of its own. */
import { describe, expect, test } from "vitest";

import {
  alice,
  bob,
  delivery,
  dispatch,
  event,
  message,
  session,
  START_MS,
  toSession,
  turnFor,
} from "../../test/support/sample.ts";
import { begin, finishTurn, STORES } from "../../test/support/stores.ts";
import type {
  AgentId,
  DeliveryId,
  DispatchId,
  EventId,
  ItemId,
  PersonaId,
  RunId,
  TurnId,
} from "../model/ids.ts";
import type { SessionKey } from "../model/session-key.ts";
import {
  type Claim,
  type JournalEntry,
  type Listed,
  type ListOptions,
  MAX_PAGE,
  MAX_SETTINGS_BYTES,
  type Settings,
  type Store,
} from "./store.ts";

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

/** Reads a list to its end, page by page, doing something between two pages. */
async function readAll<T>(
  list: (options: ListOptions) => Promise<Listed<T>>,
  between: () => Promise<unknown> = async () => {},
): Promise<T[]> {
  const all: T[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await list({ limit: 2, ...(cursor === undefined ? {} : { cursor }) });
    all.push(...page.items);
    if (page.next === undefined) return all;
    cursor = page.next;
    await between();
  }
}

async function failDead(store: Store, name: string, label: string): Promise<void> {
  const { lease, run } = await begin(store, name, label);
  await store.runs.fail({ lease, run, error: `why ${name}`, outcome: { kind: "dead" } });
}

async function failDelivery(store: Store, error: string): Promise<void> {
  const [claim] = await store.outbox.claim(alice, 1);
  await store.outbox.fail(claim!, { kind: "dead", error });
}

describe.each(Object.entries(STORES))("%s", (_, open) => {
  describe("lists", () => {
    test("events are listed newest first, and those that arrive meanwhile move nothing", async () => {
      await using opened = await open();
      const { store } = opened;
      for (const n of [1, 2, 3, 4, 5]) await store.events.accept(event(`e${n}`, { atMs: START_MS + n }));
      let arrived = 0;
      const all = await readAll(
        (page) => store.events.list(page),
        () => store.events.accept(event(`new${++arrived}`, { atMs: START_MS + 100 })),
      );
      expect(all.map(({ id }) => id)).toEqual(["test:e5", "test:e4", "test:e3", "test:e2", "test:e1"]);
    });

    test("events of the same moment are each listed once", async () => {
      await using opened = await open();
      for (const n of [1, 2, 3, 4, 5]) await opened.store.events.accept(event(`e${n}`));
      const all = await readAll((page) => opened.store.events.list(page));
      expect(all.map(({ id }) => id)).toEqual(["test:e5", "test:e4", "test:e3", "test:e2", "test:e1"]);
    });

    test("events are narrowed down by channel, direction and time", async () => {
      await using opened = await open();
      const { events } = opened.store;
      await events.accept(event("old", { atMs: START_MS - 1 }));
      await events.accept(event("mail", { channel: "email" }));
      await events.accept(event("sent", { direction: "sent" }));
      await events.accept(event("late", { atMs: START_MS + 10 }));
      const names = async (filter: Parameters<typeof events.list>[0]) =>
        (await readAll((options) => events.list({ ...filter, ...options }))).map(({ id }) => id.slice(5));
      expect(await names({ channel: "email" })).toEqual(["mail"]);
      expect(await names({ direction: "received" })).toEqual(["late", "mail", "old"]);
      expect(await names({ sinceMs: START_MS })).toEqual(["late", "sent", "mail"]);
      expect(await names({ untilMs: START_MS })).toEqual(["old"]);
      expect(await names({ sinceMs: START_MS, untilMs: START_MS + 10 })).toEqual(["sent", "mail"]);
      for (const moment of [{ sinceMs: Number.NaN }, { untilMs: 0.5 }]) {
        await expect(events.list(moment)).rejects.toEqual(refusal("request_invalid"));
      }
    });

    test("sessions are listed a page at a time, and a new one hides none", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      for (const label of ["one", "two", "three", "four"]) {
        await finishTurn(store, label, label);
        clock.advance(1);
      }
      let opens = 0;
      const all = await readAll(
        (page) => store.sessions.list(page),
        () => finishTurn(store, `n${++opens}`, `new-${opens}`),
      );
      expect(all.map(({ key }) => key)).toEqual(["four", "three", "two", "one"]);
    });

    test("what waits is listed over all sessions, or of one", async () => {
      await using opened = await open();
      const { store } = opened;
      for (const label of ["one", "two"]) {
        await begin(store, `${label}-first`, label); // at work, so it does not wait
        for (const n of [1, 2]) {
          const name = `${label}-${n}`;
          await store.events.accept(event(name), { dispatch: dispatch(name, toSession(label)) });
        }
      }
      const ids = async (filter: { session?: SessionKey }) =>
        (await readAll((page) => store.queue.list({ ...page, ...filter }))).map(({ id }) => id);
      expect(await ids({})).toEqual(["item-two-2", "item-two-1", "item-one-2", "item-one-1"]);
      expect(await ids({ session: session("one") })).toEqual(["item-one-2", "item-one-1"]);
      await expect(store.queue.list({ session: session("none") })).rejects.toEqual(
        refusal("session_unknown"),
      );
    });

    test("runs are listed newest first, also those that are over, and by state", async () => {
      await using opened = await open();
      const { store } = opened;
      await finishTurn(store, "a");
      await failDead(store, "b", "work");
      const claim = await begin(store, "c");
      const states = async (options?: Parameters<typeof store.runs.list>[0]) =>
        (await store.runs.list(options)).items.map(({ state }) => state);
      expect(await states()).toEqual(["running", "failed", "completed"]);
      expect(await states({ state: "failed" })).toEqual(["failed"]);
      expect(await states({ state: "completed" })).toEqual(["completed"]);
      expect(await states({ state: "suspended" })).toEqual([]);
      expect((await readAll((page) => store.runs.list(page)))[0]).toMatchObject({
        id: claim.run,
        attempt: 1,
      });
    });

    test("dead letters are listed with the last that died first", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      for (const name of ["a", "b", "c"]) {
        await failDead(store, name, name);
        clock.advance(1);
      }
      const all = await readAll((page) => store.queue.dead(page));
      expect(all.map(({ item, error }) => [item, error])).toEqual([
        ["item-c", "why c"],
        ["item-b", "why b"],
        ["item-a", "why a"],
      ]);
    });

    test("dead messages and deliveries are one list, and each is found by its id", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      for (const name of ["a", "b", "c"]) {
        await failDead(store, name, name);
        const claim = await begin(store, `${name}2`, name);
        await store.turns.commit(turnFor(claim, { deliveries: [delivery(name, name)] }));
        await failDelivery(store, `gone ${name}`);
        if (name !== "b") clock.advance(1); // some die at the same moment
      }
      const ids = async () =>
        (await readAll((page) => store.dead.list(page))).map((letter) =>
          letter.kind === "message" ? letter.item : letter.delivery,
        );
      const all = await ids();
      expect(new Set(all).size).toBe(6);
      expect(all.slice(4).toSorted()).toEqual(["delivery-a", "item-a"]);
      expect(await store.dead.get("item-a")).toMatchObject({ kind: "message", error: "why a", attempts: 1 });
      expect(await store.dead.get("delivery-b")).toEqual({
        kind: "delivery",
        delivery: "delivery-b",
        turn: expect.any(String),
        session: "b",
        event: "test:b2",
        target: { channel: "test", account: expect.any(String), place: "b" },
        error: "gone b",
        attempts: 1,
        diedAtMs: START_MS + 1,
      });
      expect(await store.dead.get("none")).toBeUndefined();
      await expect(store.dead.list({ cursor: "dead-messages.1.2" })).rejects.toEqual(
        refusal("request_invalid"),
      );

      await store.queue.dropDead("item-a" as ItemId);
      await store.outbox.retry("delivery-b" as DeliveryId);
      expect((await ids()).toSorted()).toEqual(["delivery-a", "delivery-c", "item-b", "item-c"]);
    });

    test("a dead delivery can be given up, once and for all", async () => {
      await using opened = await open();
      const { store } = opened;
      const id = "delivery-a" as DeliveryId;
      await expect(store.outbox.dropDead(id)).rejects.toEqual(refusal("delivery_unknown"));
      await store.turns.commit(turnFor(await begin(store, "a"), { deliveries: [delivery("a")] }));
      await expect(store.outbox.dropDead(id)).rejects.toEqual(refusal("state_conflict"));
      await failDelivery(store, "gone");
      await store.outbox.dropDead(id);
      await store.outbox.dropDead(id); // the same call again
      expect(await store.outbox.get(id)).toMatchObject({ state: "dropped", error: "gone" });
      expect((await store.outbox.list({ state: "dropped" })).items).toMatchObject([{ id }]);
      expect(await store.dead.list()).toEqual({ items: [], next: undefined });
      expect((await store.counts()).deliveries.dead).toBe(0);
      expect((await store.changes.since(0)).changes.at(-1)).toMatchObject({
        kind: "delivery",
        state: "dropped",
      });
      await expect(store.outbox.retry(id)).rejects.toEqual(refusal("state_conflict"));
    });

    test.each([undefined, "pending", "dead", "sent"] as const)(
      "deliveries are listed newest first (state %s)",
      async (state) => {
        await using opened = await open();
        const { store } = opened;
        for (const name of ["a", "b", "c"]) {
          const claim = await begin(store, name, name);
          await store.turns.commit(turnFor(claim, { deliveries: [delivery(name, name)] }));
        }
        if (state === "dead" || state === "sent") {
          for (const claim of await store.outbox.claim(alice, 3)) {
            await store.outbox.plan(claim, ["x"]);
            const outcome =
              state === "dead" ? { kind: "dead" as const, error: "gone" } : { kind: "sent" as const };
            await store.outbox.settle(claim, 0, outcome);
          }
        }
        const all = await readAll((options) =>
          store.outbox.list(state === undefined ? options : { ...options, state }),
        );
        expect(all.map(({ id }) => id)).toEqual(["delivery-c", "delivery-b", "delivery-a"]);
      },
    );

    test.each([
      "",
      "events",
      "events.1",
      "events.1.2.3",
      "events.x.1",
      "sessions.1.2",
      "events.1.99999999999999999",
    ])("a cursor that the list did not give out is refused: %j", async (cursor) => {
      await using opened = await open();
      await expect(opened.store.events.list({ cursor })).rejects.toEqual(refusal("request_invalid"));
    });

    test("a page has a largest size", async () => {
      await using opened = await open();
      const { store } = opened;
      expect(await store.events.list({ limit: MAX_PAGE })).toEqual({ items: [], next: undefined });
      for (const limit of [0, 1.5, MAX_PAGE + 1]) {
        await expect(store.events.list({ limit })).rejects.toEqual(refusal("limit_invalid"));
        await expect(store.runs.active({ limit })).rejects.toEqual(refusal("limit_invalid"));
        await expect(store.changes.since(0, { limit })).rejects.toEqual(refusal("limit_invalid"));
      }
    });
  });

  describe("outcomes", () => {
    test("whoever waits for an item can follow it from the queue to its turn", async () => {
      await using opened = await open();
      const { store } = opened;
      const item = "item-a" as ItemId;
      expect(await store.queue.outcome(item)).toBeUndefined();
      expect(await store.queue.item(item)).toBeUndefined();
      await store.events.accept(event("a"), { dispatch: dispatch("a", toSession("work")) });
      const waiting = {
        session: "work",
        turn: undefined,
        policy: undefined,
        error: undefined,
        formerTurn: undefined,
        settledAtMs: undefined,
      };
      expect(await store.queue.outcome(item)).toEqual({ ...waiting, state: "queued" });
      expect(await store.queue.item(item)).toMatchObject({ id: item, event: { content: "message a" } });

      const [claim] = await store.queue.lease(alice, 1);
      expect(await store.queue.outcome(item)).toEqual({ ...waiting, state: "claimed", turn: claim!.turn });
      await store.turns.commit(turnFor(claim!));
      expect(await store.queue.outcome(item)).toEqual({
        ...waiting,
        state: "done",
        turn: claim!.turn,
        settledAtMs: START_MS,
      });
      expect(await store.queue.item(item)).toMatchObject({ state: "done" });
    });

    test("a dead letter tells why its last run failed, and one that was given up by what", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const item = "item-a" as ItemId;
      const first = await begin(store, "a");
      const retry = { kind: "retry" as const, atMs: clock() };
      await store.runs.fail({ lease: first.lease, run: first.run, error: "first", outcome: retry });
      expect(await store.queue.outcome(item)).toMatchObject({ state: "claimed", error: undefined });
      const [second] = await store.queue.lease(alice, 1);
      const { lease, run } = second!;
      await store.runs.fail({ lease, run, error: "second", outcome: { kind: "dead" } });
      expect(await store.queue.outcome(item)).toMatchObject({
        state: "dead",
        turn: first.turn,
        error: "second",
      });
      await store.queue.dropDead(item);
      expect(await store.queue.outcome(item)).toEqual({
        state: "dropped",
        session: "work",
        turn: undefined,
        policy: "dead letter given up",
        error: undefined,
        formerTurn: first.turn,
        settledAtMs: START_MS,
      });
    });

    test("an event tells what was made of it", async () => {
      await using opened = await open();
      const { store } = opened;
      const id = "test:a" as EventId;
      expect(await store.events.dispatches(id)).toEqual([]);
      const claim = await begin(store, "a");
      await store.events.dispatch(id, dispatch("late", toSession("work"), { hook: "late" }));
      await store.events.dispatch(id, dispatch("other", toSession("other"), { hook: "other" }));
      const made = { session: "work", item: "item-a", turn: claim.turn };
      expect(await store.events.dispatches(id)).toMatchObject([
        { id: "dispatch-a" as DispatchId, hook: "direct", outcome: "queued", ...made },
        { id: "dispatch-late", hook: "late", outcome: "merged", ...made },
        { id: "dispatch-other", hook: "other", outcome: "queued", session: "other", turn: undefined },
      ]);
    });

    test("all attempts at a turn are told, oldest first, while it is under way and when it is done", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await finishTurn(store, "before");
      const first = await begin(store, "a");
      const retry = { kind: "retry" as const, atMs: clock() };
      await store.runs.fail({ lease: first.lease, run: first.run, error: "first", outcome: retry });
      const [second] = await store.queue.lease(alice, 1);
      const attempts = async () =>
        (await store.runs.ofTurn(first.turn)).map(({ attempt, state, error }) => [attempt, state, error]);
      expect(await attempts()).toEqual([
        [1, "failed", "first"],
        [2, "running", undefined],
      ]);
      await store.turns.commit(turnFor(second!));
      expect(await attempts()).toEqual([
        [1, "failed", "first"],
        [2, "completed", undefined],
      ]);
      expect(await store.runs.ofTurn(first.turn)).toMatchObject([
        { turn: first.turn, sourceEvent: "test:a" },
        { turn: first.turn, sourceEvent: "test:a" },
      ]);
      expect(await store.runs.ofTurn("none" as TurnId)).toEqual([]);
    });

    test("an aborted turn has one attempt", async () => {
      await using opened = await open();
      const claim = await begin(opened.store, "a");
      await opened.store.turns.commit(turnFor(claim, { status: "aborted" }));
      expect(await opened.store.runs.ofTurn(claim.turn)).toMatchObject([{ id: claim.run, state: "aborted" }]);
    });

    test("what went out because of a turn is told, also if the turn failed", async () => {
      await using opened = await open();
      const { store } = opened;
      const done = await begin(store, "a");
      await store.turns.commit(turnFor(done, { deliveries: [delivery("a1"), delivery("a2", "dm-2")] }));
      const { lease, run, turn } = await begin(store, "b");
      const notice = delivery("b", "dm-1", { content: "sorry" });
      await store.runs.fail({ lease, run, error: "x", outcome: { kind: "dead" }, deliveries: [notice] });
      const ids = async (id: TurnId) => (await store.outbox.ofTurn(id)).map((each) => each.id);
      expect(await ids(done.turn)).toEqual(["delivery-a1", "delivery-a2"]);
      expect(await store.outbox.ofTurn(turn)).toMatchObject([{ id: "delivery-b", turn, content: "sorry" }]);
      expect(await ids("none" as TurnId)).toEqual([]);
    });

    test("a turn tells how many follow it", async () => {
      await using opened = await open();
      const { store } = opened;
      const root = await finishTurn(store, "a");
      const head = await finishTurn(store, "b");
      await store.sessions.fork(root, session("fork-1"));
      await finishTurn(store, "c", "fork-1");
      expect(await store.turns.get(root)).toMatchObject({ childCount: 2 });
      const thread = await store.turns.thread(head, { limit: 10 });
      expect(thread.map(({ childCount }) => childCount)).toEqual([0, 2]);
    });

    test("a thread tells what came with its messages, newest first, also with those that joined a turn", async () => {
      await using opened = await open();
      const { store } = opened;
      const bring = async (name: string, label = "work"): Promise<Claim | undefined> => {
        const accepted = await store.events.accept(
          { ...event(name), attachments: [{ name }] },
          { dispatch: { ...dispatch(name, toSession(label)), mode: "steer" }, claim: alice },
        );
        return accepted.dispatched!.claim;
      };
      const end = async (claim: Claim | undefined): Promise<TurnId> => {
        await store.turns.commit(turnFor(claim!));
        return claim!.turn;
      };
      const first = await finishTurn(store, "without");
      expect(await store.turns.attached(first, { limit: 9 })).toEqual([]);
      await bring("elsewhere", "home");
      const claim = await bring("a");
      await bring("b");
      const joined = message("item-b", "user", "b");
      await store.runs.journal(claim!.lease, claim!.run, [
        { kind: "message", place: 0, message: joined, items: ["item-b" as ItemId] },
      ]);
      const second = await end(claim);
      await finishTurn(store, "plain");
      const head = await end(await bring("c"));
      const told = async (turn: TurnId, limit = 9) =>
        (await store.turns.attached(turn, { limit })).flatMap(
          (each) => (each as { name: string }[])[0]!.name,
        );
      expect(await told(first)).toEqual([]);
      expect((await told(second)).toSorted()).toEqual(["a", "b"]);
      expect([(await told(head))[0], (await told(head)).length]).toEqual(["c", 3]);
      expect(await told(head, 1)).toEqual(["c"]);
      await expect(store.turns.attached("never" as TurnId, { limit: 1 })).rejects.toEqual(
        refusal("turn_unknown"),
      );
    });
  });

  describe("sessions", () => {
    test("a session tells what it is doing", async () => {
      await using opened = await open();
      const { store } = opened;
      const state = async () => (await store.sessions.get(session("work")))?.state;
      const { lease, run, ...claim } = await begin(store, "a");
      expect(await state()).toBe("streaming");
      await store.runs.journal(lease, run, [call]);
      expect(await state()).toBe("tool");
      await store.runs.suspend(lease, run, { id: "w", kind: "approval", detail: null });
      expect(await store.sessions.get(session("work"))).toMatchObject({
        state: "suspended",
        wait: "approval",
      });
      await store.runs.resume(run, "w", [
        { kind: "result", ordinal: 0, status: "ok", result: 1, completedAtMs: START_MS },
      ]);
      expect(await store.sessions.get(session("work"))).toMatchObject({
        state: "queued",
        wait: undefined,
        queued: 0,
      });
      const [again] = await store.queue.lease(bob, 1);
      expect((await store.sessions.list()).items).toMatchObject([{ state: "streaming", wait: undefined }]);
      await store.turns.commit(turnFor({ ...claim, ...again! }));
      expect(await state()).toBe("idle");
      await store.events.accept(event("b"), { dispatch: dispatch("b", toSession("work")) });
      expect(await state()).toBe("queued");
    });

    test("a session knows the channel that opened it, and has no settings at first", async () => {
      await using opened = await open();
      const { store } = opened;
      await begin(store, "a");
      const opening = { channel: "test", parentSession: undefined, settings: {} };
      expect(await store.sessions.get(session("work"))).toMatchObject(opening);
    });

    test("settings are merged field by field, and a null removes one", async () => {
      await using opened = await open();
      const { store } = opened;
      const work = session("work");
      await expect(store.sessions.configure(work, { a: 1 })).rejects.toEqual(refusal("session_unknown"));
      expect(await store.sessions.get(work)).toBeUndefined();
      await begin(store, "a");
      await store.sessions.configure(work, { profile: "fast", queue: { mode: "steer", cap: 3 } });
      await store.sessions.configure(work, { profile: null, queue: { cap: 5 } });
      await store.sessions.configure(work, { queue: { cap: 5 } }); // the same call again
      expect((await store.sessions.get(work))!.settings).toEqual({ queue: { mode: "steer", cap: 5 } });
    });

    test("settings can come before the first message, and make the session", async () => {
      await using opened = await open();
      const { store } = opened;
      const work = session("work");
      const create = { agent: "main" as AgentId, persona: "sage" as PersonaId };
      const configure = (settings: Settings) => store.sessions.configure(work, settings, { create });
      await expect(configure({ a: "x".repeat(MAX_SETTINGS_BYTES) })).rejects.toEqual(
        refusal("limit_invalid"),
      );
      expect(await store.sessions.get(work)).toBeUndefined();
      await configure({ a: 1 });
      await configure({ b: 2 });
      expect(await store.sessions.get(work)).toMatchObject({
        persona: "sage",
        state: "idle",
        head: undefined,
        settings: { a: 1, b: 2 },
      });
      const { turn } = await begin(store, "a");
      await store.sessions.configure(
        work,
        { c: 3 },
        { create: { ...create, persona: "other" as PersonaId } },
      );
      expect(await store.sessions.get(work)).toMatchObject({
        persona: "sage",
        settings: { a: 1, b: 2, c: 3 },
      });
      expect(await store.queue.itemsOf(turn)).toMatchObject([{ id: "item-a" }]);
      const wrong = "a b" as SessionKey;
      await expect(store.sessions.configure(wrong, {}, { create })).rejects.toEqual(
        refusal("session_key_invalid"),
      );
    });

    test("settings that are no object or grow too large are refused, and the old ones stay", async () => {
      await using opened = await open();
      const { store } = opened;
      const work = session("work");
      await begin(store, "a");
      for (const settings of [[1], "x", null]) {
        await expect(store.sessions.configure(work, settings as unknown as Settings)).rejects.toEqual(
          refusal("request_invalid"),
        );
      }
      const text = "x".repeat(MAX_SETTINGS_BYTES - '{"a":""}'.length);
      await store.sessions.configure(work, { a: text });
      await expect(store.sessions.configure(work, { b: 1 })).rejects.toEqual(refusal("limit_invalid"));
      expect((await store.sessions.get(work))!.settings).toEqual({ a: text });
    });
  });

  test("one message or call of a run is read by its place, while it runs and later", async () => {
    await using opened = await open();
    const { store } = opened;
    const { lease, run } = await begin(store, "a", "work");
    const said = message("m", "user", "hello");
    await store.runs.journal(lease, run, [{ kind: "message", place: 0, message: said }, call]);

    expect(await store.runs.readMessage(run, 0)).toEqual(said);
    expect(await store.runs.readCall(run, 0)).toMatchObject({ tool: "read", status: "started" });
    expect(await store.runs.readMessage(run, 1)).toBeUndefined();
    expect(await store.runs.readCall(run, 1)).toBeUndefined();
    expect(await store.runs.readMessage("none" as RunId, 0)).toBeUndefined();
  });

  test("everything is counted", async () => {
    await using opened = await open();
    const { store } = opened;
    const nothing = { events: 0, turns: 0, sessions: 0, queued: 0, running: 0, suspended: 0, dead: 0 };
    const none = { pending: 0, sending: 0, unknown: 0, dead: 0 };
    expect(await store.counts()).toEqual({ ...nothing, deliveries: none });

    for (const name of ["d1", "d2", "d3", "d4", "d5"]) {
      const claim = await begin(store, name, "done");
      await store.turns.commit(turnFor(claim, { deliveries: [delivery(name, name)] }));
    }
    const [sent, unknown, dead] = await store.outbox.claim(alice, 4);
    for (const claim of [sent!, unknown!, dead!]) await store.outbox.plan(claim, ["x"]);
    await store.outbox.settle(sent!, 0, { kind: "sent" });
    await store.outbox.settle(unknown!, 0, { kind: "unknown", error: "?", retryAtMs: START_MS });
    await store.outbox.settle(dead!, 0, { kind: "dead", error: "gone" });
    await failDead(store, "dead", "dead");
    const { lease, run } = await begin(store, "s", "suspended");
    await store.runs.suspend(lease, run, { id: "w", kind: "question", detail: null });
    await begin(store, "r", "running");
    await store.events.accept(event("q"), { dispatch: dispatch("q", toSession("running")) });
    expect(await store.counts()).toEqual({
      events: 9,
      turns: 5,
      sessions: 4,
      queued: 1,
      running: 1,
      suspended: 1,
      dead: 1,
      deliveries: { pending: 1, sending: 1, unknown: 1, dead: 1 },
    });
  });

  describe("the pulse", () => {
    test("a quiet store has none", async () => {
      await using opened = await open();
      await finishTurn(opened.store, "a");
      expect(await opened.store.pulse(START_MS)).toEqual({
        sessionsWaiting: 0,
        waitingSinceMs: undefined,
        runs: [],
        unknownSinceMs: undefined,
      });
    });

    test("messages that are due wait, but not for Cortex where the run of their session is suspended", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const wait = (name: string, label: string, dueMs?: number) => {
        const due = dueMs === undefined ? {} : { dueMs };
        return store.events.accept(event(name), { dispatch: dispatch(name, toSession(label), due) });
      };
      const { lease, run } = await begin(store, "s", "suspended");
      await store.runs.suspend(lease, run, { id: "w", kind: "question", detail: null });
      await wait("s2", "suspended");
      await wait("later", "later", START_MS + 50);
      clock.advance(10);
      await wait("first", "one");
      clock.advance(10);
      await wait("second", "one");
      await wait("third", "two");
      const waiting = { sessionsWaiting: 2, waitingSinceMs: START_MS + 10 };
      expect(await store.pulse(START_MS + 49)).toMatchObject(waiting);
      expect(await store.pulse(START_MS + 50)).toMatchObject({ ...waiting, sessionsWaiting: 3 });
    });

    test("of the runs at work, the one whose journal has been still for longest comes first", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const talking = await begin(store, "a", "talking");
      const calling = await begin(store, "b", "calling");
      const still = await begin(store, "c", "still");
      clock.advance(5);
      const said = { ...message("m", "user", "hello"), atMs: START_MS + 7 };
      await store.runs.journal(talking.lease, talking.run, [{ kind: "message", place: 0, message: said }]);
      const ended = { ordinal: 0, status: "ok", result: 1, completedAtMs: START_MS + 6 } as const;
      const journal = [call, { ...call, ordinal: 1 }, { kind: "result", ...ended }] as const;
      await store.runs.journal(calling.lease, calling.run, journal);
      expect((await store.pulse(clock())).runs).toEqual([
        { run: still.run, turn: still.turn, session: "still", movedAtMs: START_MS },
        { run: calling.run, turn: calling.turn, session: "calling", movedAtMs: START_MS + 6 },
        { run: talking.run, turn: talking.turn, session: "talking", movedAtMs: START_MS + 7 },
      ]);
    });

    test("a delivery that may have arrived is told by its age", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      for (const name of ["a", "b"]) {
        clock.advance(1);
        await store.turns.commit(turnFor(await begin(store, name), { deliveries: [delivery(name, name)] }));
      }
      for (const claim of await store.outbox.claim(alice, 2)) {
        await store.outbox.plan(claim, ["x"]);
        await store.outbox.settle(claim, 0, { kind: "unknown", error: "?", retryAtMs: clock() });
      }
      expect(await store.pulse(clock())).toMatchObject({ unknownSinceMs: START_MS + 1 });
    });
  });

  test("a ledger beside the store reads the same, also what is written later", async () => {
    await using opened = await open();
    const { store } = opened;
    await finishTurn(store, "a");
    await using ledger = await opened.openLedger();
    const head = await finishTurn(store, "b");
    expect(await ledger.sessions.head(session("work"))).toBe(head);
    expect(await ledger.events.list()).toEqual(await store.events.list());
    expect(await ledger.sessions.list()).toEqual(await store.sessions.list());
    expect(await ledger.runs.list()).toEqual(await store.runs.list());
    expect(await ledger.turns.read(head)).toEqual(await store.turns.read(head));
    expect(await ledger.queue.outcome("item-b" as ItemId)).toMatchObject({ state: "done" });
    expect(await ledger.outbox.list()).toEqual({ items: [], next: undefined });
    expect(await ledger.changes.since(0)).toEqual(await store.changes.since(0));
    expect(await ledger.counts()).toEqual(await store.counts());
    expect(await ledger.pulse(START_MS)).toEqual(await store.pulse(START_MS));
    expect(await ledger.dead.list()).toEqual(await store.dead.list());
    expect(await ledger.query("select count(*) as n from agent_turns")).toEqual([{ n: 2 }]);
    expect(await ledger.verify()).toEqual({ ok: true, turns: 2, pruned: 0, audited: 0 });
    await ledger[Symbol.asyncDispose]();
    await expect(ledger.counts()).rejects.toEqual(refusal("store_closed"));
  });
});
