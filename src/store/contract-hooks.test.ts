/** What every store promises about hooks: who has judged what, and what came of it. */
import { describe, expect, test } from "vitest";

import {
  alice,
  dispatch,
  event,
  message,
  session,
  START_MS,
  toSession,
  turnFor,
} from "../../test/support/sample.ts";
import { begin, STORES } from "../../test/support/stores.ts";
import type { EventId, TurnId } from "../model/ids.ts";
import type { HookFile, NewDispatch, NewHookRun, Store } from "./store.ts";
import {
  CIRCUIT_ERRORS,
  CIRCUIT_REST_MS,
  HEALTH_RUNS,
  MAX_HOOK_TEXT_LENGTH,
  MAX_HOOK_RESULT_BYTES,
  MAX_PAGE,
} from "./store.ts";

const refusal = (code: string) =>
  expect.objectContaining({ name: "CortexError", code, hint: expect.any(String) });

const NEVER = "test:never" as EventId;

function file(name: string, fields: Partial<HookFile> = {}): HookFile {
  return { name, mode: "persistent", digest: `${name} 1`, ...fields };
}

function run(name: string, hook: string, fields: Partial<NewHookRun> = {}): NewHookRun {
  return {
    event: `test:${name}` as EventId,
    hook,
    fired: false,
    startedAtMs: START_MS,
    endedAtMs: START_MS + 5,
    ...fields,
  };
}

/** A run that fires and sends the event to a session. */
function firing(name: string, hook: string, label = "work"): NewHookRun {
  return run(name, hook, { fired: true, dispatch: dispatch(`${name}-${hook}`, toSession(label)) });
}

async function accept(store: Store, ...names: string[]): Promise<void> {
  for (const name of names) await store.events.accept(event(name), { judge: true });
}

async function waiting(store: Store): Promise<string[]> {
  return (await store.hooks.unjudged()).map((each) => each.event.id);
}

async function stateOf(store: Store, hook: string): Promise<string | undefined> {
  return (await store.hooks.get(hook))?.state;
}

/** What the feed tells of hooks, in order. */
async function told(store: Store): Promise<string[]> {
  const { changes } = await store.changes.since(0);
  return changes.flatMap((change) => {
    if (change.kind === "hook") return [`${change.hook} ${change.state}`];
    if (change.kind === "hook_run") return [`${change.hook} ${change.outcome} on ${change.event}`];
    return [];
  });
}

/** Lets a hook fail at new events, so many times. */
async function fail(store: Store, hook: string, times: number, series = "bad"): Promise<void> {
  for (let i = 0; i < times; i++) {
    await accept(store, `${series}-${i}`);
    await store.hooks.record(run(`${series}-${i}`, hook, { error: `failure ${i}` }));
  }
}

describe.each(Object.entries(STORES))("%s", (_, open) => {
  describe("hook files", () => {
    test("a new hook is active, and is listed with all that its file says", async () => {
      await using opened = await open();
      const { store } = opened;
      const filter = { cron: "0 9 * * *" };
      const found = [
        file("zebra"),
        file("digest", { title: "Digest", description: "Every morning", filter }),
      ];
      const listed = await store.hooks.sync(found);
      expect(listed.map(({ name }) => name)).toEqual(["digest", "zebra"]);
      expect(listed[0]).toEqual({
        name: "digest",
        title: "Digest",
        description: "Every morning",
        mode: "persistent",
        digest: "digest 1",
        filter,
        origin: "person",
        state: "active",
        enabled: true,
        present: true,
        error: undefined,
        consecutiveErrors: 0,
        openedAtMs: undefined,
        triggers: 0,
        triggeredAtMs: undefined,
        lastRunAtMs: undefined,
        createdAtMs: START_MS,
      });
      expect(listed[1]).toMatchObject({ title: "zebra", description: "", filter: undefined });
      expect(await store.hooks.list()).toEqual(listed);
      expect(await store.hooks.get("digest")).toEqual(listed[0]);
      expect(await store.hooks.get("none")).toBeUndefined();
      expect(
        await store.query("select id, name, description, mode, status, filter_json from hooks order by id"),
      ).toMatchObject([
        { id: "digest", name: "Digest", status: "active", filter_json: JSON.stringify(filter) },
        { id: "zebra", name: "zebra", status: "active" },
      ]);
    });

    test("reading the same files again changes nothing and tells nobody", async () => {
      await using opened = await open();
      const { store } = opened;
      const found = [file("a"), file("b", { error: "no default export" })];
      const first = await store.hooks.sync(found);
      expect(await store.hooks.sync(found)).toEqual(first);
      expect(await told(store)).toEqual(["a active", "b errored"]);
    });

    test("a file that says so begins disabled, and stays as a person has left it", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a", { startsDisabled: true })]);
      expect(await stateOf(store, "a")).toBe("disabled");
      expect(await store.hooks.setEnabled("a", true)).toMatchObject({ state: "active", enabled: true });
      await store.hooks.sync([file("a", { startsDisabled: true, digest: "a 2" })]);
      expect(await stateOf(store, "a")).toBe("active");
      await store.hooks.setEnabled("a", false);
      await store.hooks.sync([file("a", { digest: "a 3" })]);
      expect(await stateOf(store, "a")).toBe("disabled");
    });

    test("what an agent wrote is disabled until a person enables it, each time that it is written", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a", { origin: "agent" }), file("b")]);
      expect(await store.hooks.get("a")).toMatchObject({ state: "disabled", origin: "agent" });
      await store.hooks.setEnabled("a", true);
      await store.hooks.sync([file("a", { origin: "agent" }), file("b")]);
      expect(await stateOf(store, "a")).toBe("active");
      await store.hooks.sync([
        file("a", { origin: "agent", digest: "a 2" }),
        file("b", { origin: "agent", digest: "b 2" }),
      ]);
      expect(await stateOf(store, "a")).toBe("disabled");
      expect(await stateOf(store, "b")).toBe("disabled");
    });

    test("a hook that cannot be loaded is errored until it can, whether its file or what it imports was repaired", async () => {
      await using opened = await open();
      const { store } = opened;
      const broken = file("a", { error: "Unexpected token" });
      await store.hooks.sync([broken, file("b")]);
      expect(await store.hooks.get("a")).toMatchObject({ state: "errored", error: "Unexpected token" });
      expect(await stateOf(store, "b")).toBe("active");
      await store.hooks.sync([file("a", { title: "A" }), file("b")]);
      expect(await store.hooks.get("a")).toMatchObject({ state: "active", title: "A", error: undefined });
      await store.hooks.sync([{ ...broken, digest: "a 2" }, file("b")]);
      await store.hooks.setEnabled("a", false);
      await store.hooks.sync([file("a", { digest: "a 3" }), file("b")]);
      expect(await store.hooks.get("a")).toMatchObject({ state: "disabled", error: undefined });
    });

    test("a hook whose file is gone is disabled and keeps its history; with the file, it is back as it was", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a"), file("b")]);
      await accept(store, "e");
      await store.hooks.record(run("e", "a"));
      await store.hooks.sync([file("b")]);
      expect(await store.hooks.get("a")).toMatchObject({ state: "disabled", present: false, enabled: true });
      expect((await store.hooks.runs("a")).items).toHaveLength(1);
      await store.hooks.sync([file("a"), file("b")]);
      expect(await store.hooks.get("a")).toMatchObject({ state: "active", present: true });
      expect(await told(store)).toEqual(["a active", "b active", "a disabled", "a active"]);
    });

    test("two files of one name and a hook that is not there are refused", async () => {
      await using opened = await open();
      const { store } = opened;
      await expect(store.hooks.sync([file("a"), file("a")])).rejects.toEqual(refusal("request_invalid"));
      expect(await store.hooks.list()).toEqual([]);
      await expect(store.hooks.setEnabled("a", true)).rejects.toEqual(refusal("hook_unknown"));
      await expect(store.hooks.runs("a")).rejects.toEqual(refusal("hook_unknown"));
      await expect(store.hooks.health("a")).rejects.toEqual(refusal("hook_unknown"));
    });
  });

  describe("events to judge", () => {
    test("an event that is to be judged waits, oldest first, until all hooks have judged it", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await store.hooks.sync([file("a")]);
      let wakes = 0;
      store.onWake("hooks", () => wakes++);
      await store.events.accept(event("unasked"));
      expect(wakes).toBe(0);
      expect((await store.pulse(clock())).unjudgedSinceMs).toBeUndefined();
      await accept(store, "one");
      clock.advance(1_000);
      await accept(store, "two", "three");
      expect(wakes).toBeGreaterThan(0);
      expect(await waiting(store)).toEqual(["test:one", "test:two", "test:three"]);
      expect((await store.pulse(clock())).unjudgedSinceMs).toBe(START_MS);

      const [first] = await store.hooks.unjudged({ limit: 1 });
      expect(first).toEqual({
        place: first!.place,
        event: await store.events.get("test:one" as EventId),
        asked: [],
      });
      const [second] = await store.hooks.unjudged({ limit: 1, after: first!.place });
      expect(second!.event.id).toBe("test:two");

      await store.hooks.judged("test:two" as EventId);
      await store.hooks.judged("test:two" as EventId);
      expect(await waiting(store)).toEqual(["test:one", "test:three"]);
      await expect(store.hooks.judged(NEVER)).rejects.toEqual(refusal("event_unknown"));
      await expect(store.hooks.unjudged({ limit: MAX_PAGE + 1 })).rejects.toEqual(refusal("limit_invalid"));
    });

    test("an event that comes again is not judged again", async () => {
      await using opened = await open();
      const { store } = opened;
      await accept(store, "e");
      await store.hooks.judged("test:e" as EventId);
      await accept(store, "e");
      expect(await waiting(store)).toEqual([]);
    });

    test("an event whose dispatch is refused does not wait to be judged", async () => {
      await using opened = await open();
      const { store } = opened;
      const target = { kind: "turn", turn: "none" as TurnId, forkAs: "fork" as never } as const;
      const options = { judge: true, dispatch: dispatch("e", target) };
      await expect(store.events.accept(event("e"), options)).rejects.toEqual(refusal("turn_unknown"));
      expect(await waiting(store)).toEqual([]);
    });

    test("an answer can be judged too, from the commit of its turn", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      const id = "cortex:answer" as EventId;
      const answer = { id, channel: "test", atMs: START_MS };
      await store.turns.commit(turnFor(claim, { answer, judge: true }));
      const [unjudged] = await store.hooks.unjudged();
      expect(unjudged!.event).toMatchObject({ id, direction: "sent", content: `answer of ${claim.turn}` });
      const other = await begin(store, "b");
      const unasked = { ...answer, id: "cortex:other" as EventId };
      await store.turns.commit(
        turnFor(other, { answer: unasked, messages: [message(other.turn, "assistant", "b")] }),
      );
      expect(await waiting(store)).toEqual([id]);
    });

    test("the hooks that have judged an event already are named with it", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a"), file("b"), file("c")]);
      await accept(store, "e", "f");
      await store.hooks.record(firing("e", "c"));
      await store.hooks.record(run("e", "a", { error: "broken" }));
      expect(await store.hooks.unjudged()).toMatchObject([
        { event: { id: "test:e" }, asked: ["a", "c"] },
        { event: { id: "test:f" }, asked: [] },
      ]);
    });
  });

  describe("judgements", () => {
    test("a firing, its dispatch, the lease on an idle session and the counters are one commit", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await store.hooks.sync([file("a")]);
      await accept(store, "e");
      clock.advance(7);
      const result = { fire: true, routing: { session: "work" } };
      const recorded = await store.hooks.record({ ...firing("e", "a"), result, claim: alice });
      expect(recorded).toMatchObject({ fresh: true, fired: true, state: "active" });
      expect(recorded.dispatched).toMatchObject({ outcome: "queued", session: "work" });
      expect(recorded.dispatched!.claim!.lease.session).toBe("work");
      expect(await store.events.dispatches("test:e" as EventId)).toMatchObject([
        { hook: "a", session: "work", outcome: "queued", turn: recorded.dispatched!.claim!.turn },
      ]);
      expect(await store.hooks.get("a")).toMatchObject({
        triggers: 1,
        triggeredAtMs: START_MS + 7,
        lastRunAtMs: START_MS + 5,
      });
      expect(await store.hooks.ofEvent("test:e" as EventId)).toEqual([
        {
          hook: "a",
          event: "test:e",
          fired: true,
          exclusive: false,
          result,
          error: undefined,
          llmCalls: 0,
          costUsd: null,
          startedAtMs: START_MS,
          endedAtMs: START_MS + 5,
        },
      ]);
      expect(await told(store)).toEqual(["a active", "a fired on test:e"]);
      expect(await waiting(store)).toEqual(["test:e"]);
    });

    test("recorded again, a hook has fired once, whatever the second record says", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a")]);
      await accept(store, "e");
      const first = await store.hooks.record(firing("e", "a"));
      const again = { ...firing("e", "a", "home"), error: "late" };
      expect(await store.hooks.record(again)).toEqual({
        fresh: false,
        fired: true,
        state: "active",
        dispatched: { ...first.dispatched, outcome: "repeated" },
      });
      await store.hooks.judged("test:e" as EventId, [run("e", "a", { error: "late" })]);
      expect(await store.hooks.get("a")).toMatchObject({ triggers: 1, consecutiveErrors: 0 });
      expect(await store.events.dispatches("test:e" as EventId)).toHaveLength(1);
      expect(await store.hooks.ofEvent("test:e" as EventId)).toHaveLength(1);
    });

    test("two hooks that send an event to one session yield one item, to two sessions two", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a"), file("b"), file("c")]);
      await accept(store, "e");
      const { dispatched: first } = await store.hooks.record(firing("e", "b"));
      const { dispatched: joined } = await store.hooks.record(firing("e", "a"));
      const { dispatched: other } = await store.hooks.record(firing("e", "c", "home"));
      expect(joined).toEqual({ ...first, outcome: "joined" });
      expect(other!.item).not.toBe(first!.item);
      expect((await store.queue.item(first!.item))!.dispatches.map(({ hook }) => hook)).toEqual(["a", "b"]);
    });

    test("what a hook asks for waits for the others until all have answered, and what interrupts does not", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await store.hooks.sync([file("a"), file("b"), file("c")]);
      await accept(store, "e");
      const held = (hook: string, fields: Partial<NewDispatch> = {}) => {
        const firingOf = firing("e", hook);
        return { ...firingOf, claim: alice, dispatch: { ...firingOf.dispatch!, gatherMs: 200, ...fields } };
      };
      await store.hooks.record(held("b"));
      expect(await store.queue.lease(alice, 1)).toEqual([]);
      expect(await store.queue.nextReadyMs()).toBe(clock() + 200);
      // The first by name says how it is queued; the window does not begin anew.
      clock.advance(50);
      await store.hooks.record(held("a", { mode: "queue" }));
      await store.hooks.record(held("c", { mode: "interrupt" }));
      expect(await store.queue.pending(session("work"))).toMatchObject([
        { mode: "queue", dueMs: clock() + 150 },
      ]);
      await store.hooks.judged("test:e" as EventId);
      const [claim] = await store.queue.lease(alice, 1);
      expect((await store.queue.itemsOf(claim!.turn))[0]!.dispatches.map(({ hook }) => hook)).toEqual([
        "a",
        "b",
        "c",
      ]);

      await accept(store, "f");
      const urgent = firing("f", "c", "home");
      const { dispatched } = await store.hooks.record({
        ...urgent,
        claim: alice,
        dispatch: { ...urgent.dispatch!, mode: "interrupt", gatherMs: 200 },
      });
      expect(dispatched!.claim).toBeDefined();
    });

    test("what is held waits on until all have judged, and what collects or has begun is left alone", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const hooks = ["a", "b", "c", "d"];
      await store.hooks.sync(hooks.map((name) => file(name)));
      await accept(store, "e");
      const asked = (hook: string, fields: Partial<NewDispatch> = {}) => {
        const firingOf = firing("e", hook, hook);
        return { ...firingOf, dispatch: { ...firingOf.dispatch!, gatherMs: 200, ...fields } };
      };
      await store.hooks.record(asked("a"));
      await store.hooks.record(asked("b"));
      await store.hooks.record(asked("c", { mode: "collect", dueMs: clock() + 1_000 }));
      const { dispatched } = await store.hooks.record({ ...firing("e", "d", "d"), claim: alice });
      const event = "test:e" as EventId;
      const dueIn = async (key: string) =>
        (await store.queue.pending(session(key))).map(({ dueMs }) => dueMs - clock());
      const before = { b: await dueIn("b"), c: await dueIn("c") };
      await store.hooks.hold(event, ["a", "c", "d", "never"], 5_000);
      expect([await dueIn("a"), await dueIn("b"), await dueIn("c")]).toEqual([[5_000], before.b, before.c]);
      await store.hooks.hold(event, ["a"], 10); // never shorter
      expect(await dueIn("a")).toEqual([5_000]);
      expect(dispatched!.claim).toBeDefined();
      await store.hooks.judged(event);
      expect((await store.queue.lease(alice, 9)).map(({ lease }) => lease.session)).toEqual([
        session("a"),
        session("b"),
      ]);
      await expect(store.hooks.hold(NEVER, [], 1)).rejects.toEqual(refusal("event_unknown"));
    });

    test("what a hook says late is an item of its own, in the turn that runs or after it, and only with something to add", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a"), file("b"), file("c")]);
      await accept(store, "e");
      const { dispatched } = await store.hooks.record({ ...firing("e", "a"), claim: alice });
      const late = firing("e", "b");
      const recorded = await store.hooks.record({ ...late, dispatch: { ...late.dispatch!, late: "late!" } });
      expect(recorded.dispatched).toMatchObject({ outcome: "late", item: late.dispatch!.item });
      expect((await store.hooks.record(firing("e", "c"))).dispatched).toMatchObject({ outcome: "merged" });
      expect(await store.queue.pending(session("work"))).toMatchObject([
        {
          mode: "steer-backlog",
          event: { content: "late!", cause: "test:e", depth: 0, place: "dm-1", metadata: { hook: "b" } },
          dispatches: [{ hook: "b" }],
        },
      ]);
      await store.turns.commit(turnFor(dispatched!.claim!));
      const [after] = await store.queue.lease(alice, 1);
      expect(await store.queue.itemsOf(after!.turn)).toMatchObject([{ id: late.dispatch!.item }]);
      expect((await store.queue.itemsOf(dispatched!.claim!.turn)).map(({ id }) => id)).toEqual([
        dispatched!.item,
      ]);
    });

    test("a message that was made before a hook joined its item does not enter the turn", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a"), file("b")]);
      const claim = await begin(store, "r");
      await accept(store, "e");
      await store.hooks.record(firing("e", "a"));
      const [read] = await store.queue.pending(session("work"));
      await store.hooks.record(firing("e", "b"));
      const entry = (dispatches: number) => ({
        kind: "message" as const,
        place: 0,
        message: message("m", "user", "e"),
        items: [read!.id],
        dispatches,
      });
      const { lease, run: id } = claim;
      await expect(store.runs.journal(lease, id, [entry(read!.dispatches.length)])).rejects.toEqual(
        refusal("item_unknown"),
      );
      await store.runs.journal(lease, id, [entry(2)]);
    });

    test("an exclusive firing takes back what others have asked for, unless a turn has begun with it", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a"), file("default-a"), file("default-b"), file("z")]);
      await accept(store, "e");
      await store.hooks.record(firing("e", "default-a", "work"));
      const exclusive = { ...firing("e", "a", "home"), silences: ["default-a", "default-b"] };
      await store.hooks.record(exclusive);
      const yielding = { ...firing("e", "default-b", "work"), yields: true };
      expect(await store.hooks.record(yielding)).toMatchObject({ fired: true });
      expect(await store.events.dispatches("test:e" as EventId)).toMatchObject([
        { hook: "default-a", outcome: "silenced" },
        { hook: "a", outcome: "queued", session: "home" },
      ]);
      expect(await store.queue.pending(session("work"))).toEqual([]);
      // One that is not silenced still has its say there.
      await store.hooks.record(firing("e", "z", "work"));
      expect((await store.queue.pending(session("work")))[0]!.dispatches).toMatchObject([{ hook: "z" }]);

      await accept(store, "f");
      await store.hooks.record({ ...firing("f", "default-a", "begun"), claim: alice });
      await store.hooks.record({ ...firing("f", "a", "home"), silences: ["default-a"] });
      expect(await store.events.dispatches("test:f" as EventId)).toMatchObject([
        { hook: "default-a", outcome: "queued" },
        { hook: "a", outcome: "queued" },
      ]);
    });

    test("a firing whose dispatch is refused leaves nothing, and can be recorded as an error", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a", { mode: "one-shot" })]);
      await accept(store, "e");
      const target = { kind: "turn", turn: "none" as TurnId, forkAs: "fork" as never } as const;
      const refused = run("e", "a", { fired: true, dispatch: dispatch("e", target) });
      await expect(store.hooks.record(refused)).rejects.toEqual(refusal("turn_unknown"));
      expect(await store.hooks.ofEvent("test:e" as EventId)).toEqual([]);
      expect(await store.hooks.get("a")).toMatchObject({ triggers: 0, state: "active" });
      const recorded = await store.hooks.record(run("e", "a", { error: "no such turn" }));
      expect(recorded).toEqual({ fresh: true, fired: false, state: "active" });
    });

    test("an unknown event and an unknown hook are refused", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a")]);
      await accept(store, "e");
      await expect(store.hooks.record(run("never", "a"))).rejects.toEqual(refusal("event_unknown"));
      await expect(store.hooks.record(run("e", "b"))).rejects.toEqual(refusal("hook_unknown"));
      const silent = [run("e", "a"), run("e", "b")];
      await expect(store.hooks.judged("test:e" as EventId, silent)).rejects.toEqual(refusal("hook_unknown"));
      expect(await store.hooks.ofEvent("test:e" as EventId)).toEqual([]);
      expect(await waiting(store)).toEqual(["test:e"]);
    });

    test("of what is too large only its size is kept, and texts are cut: neither holds up a hook or an event", async () => {
      await using opened = await open();
      const { store } = opened;
      const text = "x".repeat(MAX_HOOK_TEXT_LENGTH + 1);
      const large = "x".repeat(MAX_HOOK_RESULT_BYTES);
      const found = [
        file("a", { title: text, description: text, error: text, filter: { match: large } }),
        file("b"),
      ];
      const cut = text.slice(1);
      expect(await store.hooks.sync(found)).toMatchObject([
        { title: cut, description: cut, error: cut, filter: { omittedBytes: MAX_HOOK_RESULT_BYTES + 12 } },
        { state: "active" },
      ]);
      await accept(store, "e");
      await store.hooks.judged("test:e" as EventId, [
        run("e", "a", { result: large }),
        run("e", "b", { result: large.slice(2) }),
      ]);
      expect(await store.hooks.ofEvent("test:e" as EventId)).toMatchObject([
        { result: { omittedBytes: MAX_HOOK_RESULT_BYTES + 2 } },
        { result: large.slice(2) },
      ]);
    });

    test("the runs of hooks that did not fire can come with the last word on an event", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a"), file("b"), file("c")]);
      await accept(store, "e");
      await store.hooks.judged("test:e" as EventId, [
        run("e", "b", { error: "broken" }),
        run("e", "a", { result: { fire: false } }),
        run("e", "c", { disable: true }),
      ]);
      expect(await waiting(store)).toEqual([]);
      expect(await store.hooks.ofEvent("test:e" as EventId)).toMatchObject([
        { hook: "a", fired: false, result: { fire: false } },
        { hook: "b", error: "broken" },
        { hook: "c", fired: false },
      ]);
      expect(await stateOf(store, "c")).toBe("disabled");
      expect((await told(store)).slice(3)).toEqual(["b failed on test:e", "c disabled"]);
      expect(
        await store.query(
          "select hook_id, event_id, fired, result_json, finished_at from hook_runs order by 1",
        ),
      ).toMatchObject([
        {
          hook_id: "a",
          event_id: "test:e",
          fired: 0,
          result_json: '{"fire":false}',
          finished_at: START_MS + 5,
        },
        { hook_id: "b" },
        { hook_id: "c" },
      ]);
    });

    test("a one-shot is disabled by its first firing, also when it judges two events at the same time", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a", { mode: "one-shot" })]);
      await accept(store, "d", "e", "f");
      expect(await store.hooks.record(run("d", "a"))).toMatchObject({ state: "active" });
      const both = await Promise.all([
        store.hooks.record(firing("e", "a")),
        store.hooks.record(firing("f", "a", "home")),
      ]);
      expect(both).toMatchObject([
        { fired: true, state: "disabled" },
        { fresh: true, fired: false, state: "disabled" },
      ]);
      expect(both[1]).not.toHaveProperty("dispatched");
      expect(await store.events.dispatches("test:f" as EventId)).toEqual([]);
      expect(await store.hooks.record(firing("f", "a", "home"))).toEqual({ ...both[1], fresh: false });
      expect(await store.hooks.get("a")).toMatchObject({ triggers: 1, enabled: false });
      expect(await told(store)).toEqual(["a active", "a fired on test:e", "a disabled"]);
    });

    test("a hook that was disabled since it was asked does not fire", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a")]);
      await accept(store, "e");
      await store.hooks.setEnabled("a", false);
      expect(await store.hooks.record(firing("e", "a"))).toEqual({
        fresh: true,
        fired: false,
        state: "disabled",
      });
      expect((await store.queue.list()).items).toEqual([]);
    });

    test("a hook can fire without anything to be done, and disable itself with it", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a")]);
      await accept(store, "e");
      expect(await store.hooks.record(run("e", "a", { fired: true, disable: true }))).toEqual({
        fresh: true,
        fired: true,
        state: "disabled",
      });
      expect(await store.hooks.get("a")).toMatchObject({ triggers: 1, enabled: false });
    });
  });

  describe("the circuit", () => {
    test("so many errors in a row open it, and one that is not in a row does not count", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await store.hooks.sync([file("a"), file("b")]);
      await fail(store, "a", CIRCUIT_ERRORS - 1);
      expect(await store.hooks.get("a")).toMatchObject({ state: "active", error: "failure 3" });
      await accept(store, "good");
      await store.hooks.record(run("good", "a"));
      expect(await store.hooks.get("a")).toMatchObject({ consecutiveErrors: 0, error: undefined });
      await fail(store, "a", CIRCUIT_ERRORS - 1, "worse");
      clock.advance(1_000);
      await accept(store, "last");
      expect(await store.hooks.record(run("last", "a", { error: "last" }))).toMatchObject({ state: "open" });
      expect(await store.hooks.get("a")).toMatchObject({
        state: "open",
        enabled: true,
        error: "last",
        consecutiveErrors: CIRCUIT_ERRORS,
        openedAtMs: START_MS + 1_000,
      });
      expect(await stateOf(store, "b")).toBe("active");
    });

    test("a hook whose chains end is paused, however often it fires well before each end", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await store.hooks.sync([file("a")]);
      const error = "The event chain reached its limit: 8 internal events in a row";
      const loop = async (name: string): Promise<unknown> => {
        await accept(store, `${name}-fires`, `${name}-silent`, `${name}-ends`);
        await store.hooks.record(firing(`${name}-fires`, "a"));
        await store.hooks.record(run(`${name}-silent`, "a"));
        await store.hooks.record(run(`${name}-ends`, "a", { error }));
        return store.hooks.get("a");
      };
      for (let count = 1; count < CIRCUIT_ERRORS; count++)
        expect(await loop(`loop-${count}`)).toMatchObject({
          state: "active",
          consecutiveErrors: count,
          error,
        });
      expect(await loop("last")).toMatchObject({ state: "open", consecutiveErrors: CIRCUIT_ERRORS });
      clock.advance(CIRCUIT_REST_MS);
      await accept(store, "try");
      expect(await store.hooks.record(firing("try", "a"))).toMatchObject({ fired: true, state: "active" });
      expect(await loop("again")).toMatchObject({ state: "open" });
      await store.hooks.setEnabled("a", true);
      expect(await store.hooks.get("a")).toMatchObject({
        state: "active",
        consecutiveErrors: 0,
        error: undefined,
      });
    });

    test("a try that fails sets its time anew, one that succeeds closes it", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await store.hooks.sync([file("a")]);
      await fail(store, "a", CIRCUIT_ERRORS);
      clock.advance(300_000);
      await accept(store, "try", "again");
      await store.hooks.record(run("try", "a", { error: "still" }));
      expect(await store.hooks.get("a")).toMatchObject({ state: "open", openedAtMs: START_MS + 300_000 });
      const recorded = await store.hooks.record(firing("again", "a"));
      expect(recorded).toMatchObject({ fired: true, state: "active" });
      expect(await store.hooks.get("a")).toMatchObject({
        consecutiveErrors: 0,
        openedAtMs: undefined,
        error: undefined,
      });
      expect((await told(store)).filter((line) => !line.includes("failed"))).toEqual([
        "a active",
        "a open",
        "a fired on test:again",
        "a active",
      ]);
    });

    test("new content closes it, and so does a person; reading the same file does not", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a")]);
      await fail(store, "a", CIRCUIT_ERRORS);
      await store.hooks.sync([file("a")]);
      expect(await stateOf(store, "a")).toBe("open");
      await store.hooks.sync([file("a", { digest: "a 2" })]);
      expect(await store.hooks.get("a")).toMatchObject({ state: "active", consecutiveErrors: 0 });
      await fail(store, "a", CIRCUIT_ERRORS, "more");
      expect(await store.hooks.setEnabled("a", true)).toMatchObject({
        state: "active",
        consecutiveErrors: 0,
      });
    });
  });

  describe("what was judged", () => {
    test("the runs of a hook are listed newest first, a page at a time", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a"), file("b")]);
      await accept(store, "d", "e", "f");
      for (const name of ["d", "e", "f"]) {
        await store.hooks.record(run(name, "a"));
        await store.hooks.record(run(name, "b"));
      }
      const { items, next } = await store.hooks.runs("a", { limit: 2 });
      expect(items.map((each) => each.event)).toEqual(["test:f", "test:e"]);
      const rest = await store.hooks.runs("a", { limit: 2, cursor: next! });
      expect(rest).toMatchObject({ items: [{ hook: "a", event: "test:d" }], next: undefined });
    });

    test("health tells of the last runs only", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a")]);
      expect(await store.hooks.health("a")).toEqual({
        runs: 0,
        fired: 0,
        errors: 0,
        consecutiveErrors: 0,
        p95Ms: undefined,
      });
      await fail(store, "a", 1, "forgotten");
      const names = Array.from({ length: HEALTH_RUNS }, (_each, i) => `e-${i}`);
      await Promise.all(
        names.map(async (name, i) => {
          await accept(store, name);
          await store.hooks.record(
            run(name, "a", {
              fired: i === 0,
              endedAtMs: START_MS + i + 1,
              ...(i >= HEALTH_RUNS - 2 ? { error: "slow" } : {}),
            }),
          );
        }),
      );
      expect(await store.hooks.health("a")).toEqual({
        runs: HEALTH_RUNS,
        fired: 1,
        errors: 2,
        consecutiveErrors: (await store.hooks.get("a"))!.consecutiveErrors,
        p95Ms: 95,
      });
    });

    test("what hooks have spent on models is summed up from a moment on", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a"), file("b")]);
      await accept(store, "d", "e");
      await store.hooks.record(run("d", "a", { llmCalls: 2, costUsd: 0.5 }));
      await store.hooks.record(run("d", "b", { llmCalls: 1, costUsd: null }));
      await store.hooks.record(run("e", "a", { llmCalls: 1, costUsd: 0.25, endedAtMs: START_MS + 60_000 }));
      expect(await store.hooks.spentUsd(START_MS)).toBe(0.75);
      expect(await store.hooks.spentUsd(START_MS + 60_000)).toBe(0.25);
      expect(await store.hooks.spentUsd(START_MS + 60_001)).toBe(0);
      expect((await store.hooks.runs("b")).items).toMatchObject([{ llmCalls: 1, costUsd: null }]);
    });

    test("hooks can be read beside the one that writes", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.hooks.sync([file("a")]);
      await accept(store, "e");
      await store.hooks.record(run("e", "a"));
      await using ledger = await opened.openLedger();
      expect(await ledger.hooks.list()).toEqual(await store.hooks.list());
      expect(await ledger.hooks.runs("a")).toEqual(await store.hooks.runs("a"));
    });
  });

  describe("timers", () => {
    test("the newest event of a timer is found, in whatever order they came", async () => {
      await using opened = await open();
      const { store } = opened;
      expect(await store.events.lastOf("timer")).toBeUndefined();
      for (const minute of ["2026-01-01T00:01Z", "2026-01-01T00:03Z", "2026-01-01T00:02Z"])
        await store.events.accept(event("", { id: `timer:${minute}` as EventId, content: null }));
      await store.events.accept(event("", { id: "timers:2027" as EventId }));
      await store.events.accept(event("", { id: "time:2028" as EventId }));
      expect(await store.events.lastOf("timer")).toMatchObject({ id: "timer:2026-01-01T00:03Z" });
    });

    test("each webhook is an adapter of its own", async () => {
      await using opened = await open();
      const { store } = opened;
      for (const id of ["webhook:pay:evt:1", "timer:2026-01-01T00:01Z"])
        await store.events.accept(event("", { id: id as EventId }));
      expect(await store.query("select source_adapter, source_id from events order by seq")).toEqual([
        { source_adapter: "webhook:pay", source_id: "evt:1" },
        { source_adapter: "timer", source_id: "2026-01-01T00:01Z" },
      ]);
    });
  });
});
