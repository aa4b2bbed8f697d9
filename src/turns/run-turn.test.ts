import { join } from "node:path";

import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import { DONE, testTool } from "../../test/support/home.ts";
import { openTestStore } from "../../test/support/open-store.ts";
import { alice, dispatch, event, session, toSession } from "../../test/support/sample.ts";
import { attentiveModel, calls, says, scriptedModel } from "../../test/support/scripted-model.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import type { Model } from "../agents/agent.ts";
import { createLoopAgent } from "../agents/loop.ts";
import type { Config } from "../config/config.ts";
import { MINUTE_MS } from "../model/durations.ts";
import { CortexError } from "../model/errors.ts";
import type { AgentId, ItemId } from "../model/ids.ts";
import { OFFLINE_PROFILE } from "../model/profile.ts";
import type { QueueMode } from "../model/queue-mode.ts";
import type { Tool } from "../model/tool.ts";
import { NO_USAGE } from "../model/usage.ts";
import type { Claim, NewDispatch, NewEvent, Store } from "../store/store.ts";
import { Spans } from "../model/spans.ts";
import { CoolDowns } from "./choose-profile.ts";
import { type Running, runTurn } from "./run-turn.ts";
import { openBounds } from "./bounds.ts";
import { sandboxMode } from "./sandbox.ts";
import type { TurnPorts } from "./turn-ports.ts";

const HOME = temporaryFolder();
afterAll(() => HOME[Symbol.dispose]());
const workspace = join(HOME.path, "workspace");
const { config } = await loadFiles({ "cortex.json": { agents: { main: { workspace } } } });
const WORK = session("work");
const ELSEWHERE = { kind: "suspend", waitKind: "other", detail: null } as const;

const PLAIN: TurnPorts["sandbox"] = {
  mode: () => sandboxMode("off", { problem: "none", hint: "none" }),
  sandbox: () => undefined,
  lookAgain: async () => {},
};

const BOUNDS = openBounds({ home: HOME.path, config: () => config, log: () => {} });

function settingsOf(fields: Partial<TurnPorts["settings"]> = {}): TurnPorts["settings"] {
  return {
    config: () => config,
    profile: (name) => ({ ...OFFLINE_PROFILE, name }),
    variable: () => undefined,
    ...fields,
  };
}

function partsOf(
  store: Store,
  model: Model,
  fields: Partial<TurnPorts> = {},
): TurnPorts & { settled: ItemId[] } {
  let minted = 0;
  const settled: ItemId[] = [];
  const { clock = (): number => Date.UTC(2026, 0, 1) } = fields;
  const agent = createLoopAgent({ model, clock, mintId: () => `m${++minted}` });
  return {
    store,
    settings: settingsOf(),
    clock,
    random: () => 1,
    coolDowns: new CoolDowns(clock),
    spans: new Spans(clock, () => ({ ms: clock(), cpuMs: 0 })),
    mintId: () => `c${++minted}`,
    home: HOME.path,
    environment: {},
    log: () => {},
    agentFor: async () => agent,
    features: {
      agentFor: () => undefined,
      situation: async () => undefined,
      sharedFolders: async () => [],
      readWait: async () => undefined,
      wants: () => false,
    },
    agentFolders: async () => [],
    live: { tell: () => {}, finished: () => {} },
    outcomes: { look: (items) => settled.push(...items) },
    tools: async () => [],
    windowOf: async () => undefined,
    sandbox: PLAIN,
    bounds: BOUNDS,
    redact: (text) => text,
    deliveriesOf: () => [],
    settled,
    ...fields,
  };
}

/** The store on a bad day: what the test says fails, and all else works. */
function withFaults(store: Store, faults: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name: keyof Store) {
      const value: unknown = faults[name] ?? target[name];
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

function running(claim: Claim, fields: Partial<Running> = {}): Running {
  const cut = new AbortController().signal;
  return { claim, cut, isStopping: () => false, claimNext: () => undefined, ...fields };
}

/** The store, with another answer to what waits. */
function withPending(store: Store, pending: Store["queue"]["pending"]): Store {
  const queue = new Proxy(store.queue, {
    get: (target, name: keyof Store["queue"]) => (name === "pending" ? pending : target[name]),
  });
  return withFaults(store, { queue });
}

async function begin(
  store: Store,
  name = "a",
  fields: Partial<NewEvent> = {},
  mode: QueueMode = "followup",
): Promise<Claim> {
  const work = { dispatch: dispatch(name, toSession("work"), { mode }), claim: alice };
  return (await store.events.accept(event(name, fields), work)).dispatched!.claim!;
}

async function queue(store: Store, name: string, fields: Partial<NewDispatch> = {}): Promise<void> {
  await store.events.accept(event(name), { dispatch: dispatch(name, toSession("work"), fields) });
}

/** Whatever is to be done next, for another holder. */
async function next(store: Store): Promise<Claim> {
  return (await store.queue.lease({ holder: "next", ttlMs: 30_000 }, 1))[0]!;
}

function toolsOf(...tools: readonly Tool[]): Partial<TurnPorts> {
  return { tools: async () => tools };
}

test("a turn is committed after the head of its session, with the answer in the ledger", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const first = await begin(store);
  await runTurn(running(first), partsOf(store, scriptedModel(says("one"))));
  const second = await begin(store, "b", { topic: "t" });
  const model = scriptedModel(says("two"));
  const parts = partsOf(store, model);
  await runTurn(running(second), parts);

  const turn = (await store.turns.read(second.turn))!;
  expect(turn.turn).toMatchObject({
    parent: first.turn,
    status: "completed",
    facts: { model: "scripted", costUsd: 0.5 },
  });
  expect(turn.messages.map(({ content }) => content)).toEqual(["message b", "two"]);
  expect(parts.settled).toEqual(["item-b"]);
  expect(model.questions[0]!.exchanges.map(({ messages }) => messages.map(({ content }) => content))).toEqual(
    [["message a", "one"], ["message b"]],
  );
  expect(await store.events.get(`cortex:${second.turn}` as never)).toMatchObject({
    direction: "sent",
    content: "two",
    sender: "main",
    place: "dm-1",
    topic: "t",
    replyTo: "test:b",
  });
});

test("the settling of a turn brings the next claim", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store);
  await queue(store, "b");
  const claimed = await runTurn(
    running(claim, { claimNext: () => alice }),
    partsOf(store, scriptedModel(says("one"))),
  );
  expect(claimed).toMatchObject({ parent: claim.turn, lease: { session: WORK } });
});

test("the history begins with what a compaction has kept, oldest first", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const first = await begin(store);
  await runTurn(running(first), partsOf(store, scriptedModel(says("one"))));
  const second = await begin(store, "b");
  await store.turns.compact({
    lease: second.lease,
    run: second.run,
    turn: "compaction-1" as never,
    facts: (await store.turns.get(first.turn))!.facts,
    summary: { id: "compaction-1" as never, role: "assistant", content: "so far", atMs: 0 },
    firstKept: first.turn,
  });
  await store.queue.release([second.lease]);
  const model = scriptedModel(says("two"));
  await runTurn(running(await next(store)), partsOf(store, model));

  expect(model.questions[0]!.exchanges.map(({ messages }) => messages.map(({ content }) => content))).toEqual(
    [[expect.stringContaining("so far?"), "so far"], ["message a", "one"], ["message b"]],
  );
});

test("a turn that was cut off goes on with the prompt, tools and profile that it was started with", async () => {
  await using opened = await openTestStore();
  const claim = await begin(opened.store);
  const tools = [testTool("A", async () => DONE), testTool("B", async () => DONE)];
  const stopped = new AbortController();
  const parts = partsOf(opened.store, scriptedModel(calls("A")), toolsOf(...tools));
  await runTurn(running(claim, { isStopping: () => tools[0]!.calls.length > 0, cut: stopped.signal }), parts);

  const store = await opened.crash();
  const { config: changed } = await loadFiles({
    "cortex.json": {
      agents: { main: { workspace, systemPrompt: "Another.", profile: "offline", tools: ["A", "C"] } },
    },
  });
  const model = scriptedModel(says("done"));
  const names: string[] = [];
  await runTurn(
    running(await next(store)),
    partsOf(store, model, {
      settings: {
        variable: () => undefined,
        config: () => changed,
        profile: (name) => (names.push(name), { ...OFFLINE_PROFILE, name }),
      },
      tools: async () => [...tools, testTool("C", async () => DONE)],
    }),
  );

  expect(model.questions[0]).toMatchObject({ profile: { name: "__active__" }, tools: [{ name: "A" }] });
  expect(model.questions[0]!.system).not.toContain("Another.");
  expect(names).toEqual(["__active__"]);
  expect(tools[0]!.calls).toHaveLength(1);
});

test("the profile is the message's, else the session's, else the agent's", async () => {
  const wished = async (fields: Partial<NewDispatch>, settings: Record<string, string>): Promise<string> => {
    await using opened = await openTestStore();
    const { store } = opened;
    await queue(store, "a", fields);
    await store.sessions.configure(WORK, settings);
    const model = scriptedModel(says("x"));
    await runTurn(running(await next(store)), partsOf(store, model));
    return model.questions[0]!.profile.name;
  };
  expect(await wished({ profile: "mine" }, { profile: "ours" })).toBe("mine");
  expect(await wished({}, { profile: "ours" })).toBe("ours");
  expect(await wished({}, {})).toBe("__active__");
});

test.each<[string, Partial<TurnPorts>, string]>([
  [
    "the agent",
    { settings: settingsOf({ config: (): Config => ({ ...config, agents: {} }) }) },
    "agent_unknown",
  ],
  [
    "the profile",
    {
      settings: settingsOf({
        profile() {
          throw new CortexError("profile_unknown", "No profile", { hint: "Look." });
        },
      }),
    },
    "profile_unknown",
  ],
])(
  "a message for which %s is gone from the config is a dead letter that says so",
  async (_, fields, code) => {
    await using opened = await openTestStore();
    const { store } = opened;
    const claim = await begin(store);
    await queue(store, "b");
    const parts = partsOf(store, scriptedModel(), fields);
    expect(await runTurn(running(claim, { claimNext: () => alice }), parts)).toMatchObject({ attempt: 1 });

    expect(parts.settled).toEqual(["item-a"]);
    expect((await store.queue.dead()).items).toMatchObject([
      { item: "item-a", error: expect.stringContaining(code) },
    ]);
  },
);

test("an error of any length is kept as one that can be read", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const model: Model = {
    ask: () => Promise.reject(new CortexError("model_failed", "x".repeat(1_000_000), { hint: "Wait." })),
  };
  await runTurn(running(await begin(store)), partsOf(store, model));
  expect((await store.queue.dead()).items[0]!.error.length).toBeLessThan(10_000);
});

test("a turn that was cut off too often without getting on is a dead letter", async () => {
  await using opened = await openTestStore();
  const claim = { ...(await begin(opened.store)), interruptions: config.broker.maxInterruptions };
  await runTurn(running(claim), partsOf(opened.store, scriptedModel()));
  expect((await opened.store.queue.dead()).items[0]!.error).toContain("turn_failed");
});

test("a turn whose session was reset meanwhile is tried again after the new head", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  await runTurn(running(await begin(store)), partsOf(store, scriptedModel(says("one"))));
  const claim = await begin(store, "b");
  const resetting = scriptedModel(async () => {
    await store.sessions.reset(WORK);
    return says("two");
  });
  await runTurn(running(claim), partsOf(store, resetting));
  const again = await next(store);
  expect(again).toMatchObject({ turn: claim.turn, attempt: 2, parent: undefined });
  await runTurn(running(again), partsOf(store, scriptedModel(says("two"))));
  expect((await store.turns.get(claim.turn))!.parent).toBeUndefined();
});

test("a run that has lost its lease settles nothing and disturbs nobody", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store);
  let other: Claim | undefined;
  const losing = scriptedModel(async () => {
    await store.queue.release([claim.lease]);
    other = await next(store);
    return says("too late");
  });
  expect(await runTurn(running(claim), partsOf(store, losing))).toBeUndefined();
  await runTurn(running(other!), partsOf(store, scriptedModel(says("in time"))));
  expect((await store.turns.read(claim.turn))!.messages.at(-1)!.content).toBe("in time");
});

test("a run that is cut off leaves everything for the next one", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const controller = new AbortController();
  const model = scriptedModel(() => {
    controller.abort();
    return says("half", { stop: "aborted" });
  });
  await runTurn(running(await begin(store), { cut: controller.signal }), partsOf(store, model));
  expect(await store.runs.active()).toMatchObject([{ state: "resumable", interruptions: 0 }]);
  expect((await store.counts()).turns).toBe(0);
});

test("an error while the run is cut off is not the turn's failure", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const controller = new AbortController();
  const model = scriptedModel(() => {
    controller.abort();
    throw new Error("connection reset");
  });
  await runTurn(running(await begin(store), { cut: controller.signal }), partsOf(store, model));
  expect(await store.runs.active()).toMatchObject([{ state: "resumable" }]);
});

test("an abort that is noted before the run begins, or while the model speaks, ends the turn", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const first = await begin(store);
  await store.runs.requestAbort(first.run, "enough");
  const waiting = (claim: Claim) =>
    scriptedModel(async ({ signal }) => {
      if (claim !== first) await store.runs.requestAbort(claim.run, "enough");
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return says("half", { stop: "aborted" });
    });
  await runTurn(running(first), partsOf(store, waiting(first)));
  expect((await store.turns.get(first.turn))!.status).toBe("aborted");

  const second = await begin(store, "b");
  await runTurn(running(second), partsOf(store, waiting(second)));
  const turn = (await store.turns.read(second.turn))!;
  expect(turn.turn).toMatchObject({ status: "aborted", parent: first.turn });
  expect(turn.messages.at(-1)!.content).toBe("half");
});

test("an abort of a turn that waits for its next attempt ends it at once", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store);
  const failing: Model = {
    ask: () =>
      Promise.reject(new CortexError("model_failed", "Overloaded", { hint: "Wait.", transient: true })),
  };
  await runTurn(running(claim), partsOf(store, failing));
  expect(await store.queue.lease(alice, 1)).toEqual([]);
  await store.runs.requestAbort(claim.run, "enough");
  await runTurn(running(await next(store)), partsOf(store, scriptedModel()));
  expect((await store.turns.get(claim.turn))!.status).toBe("aborted");
});

test("an abort that meets a turn just as it is suspended is not lost", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store);
  const ask = testTool("Ask", async () => {
    await store.runs.requestAbort(claim.run, "enough");
    return ELSEWHERE;
  });
  // The wake-up that says so comes too late.
  const deaf = withFaults(store, { onWake: () => () => {} });
  await runTurn(running(claim), partsOf(deaf, scriptedModel(calls("Ask")), toolsOf(ask)));
  const again = await next(store);
  expect(again).toMatchObject({ run: claim.run, abort: "enough" });
  await runTurn(running(again), partsOf(store, scriptedModel()));
  expect((await store.turns.read(claim.turn))!).toMatchObject({
    turn: { status: "aborted" },
    toolCalls: [{ status: "aborted" }],
  });
});

test("what is said after an abort has a turn of its own", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store);
  const model = scriptedModel();
  const agent = createLoopAgent({ model, clock: () => 0, mintId: () => "m1" });
  const run: typeof agent.run = (request) =>
    agent.run({
      ...request,
      async beforeModelCall() {
        await store.runs.requestAbort(claim.run, "enough");
        await queue(store, "b", { mode: "steer" });
        return request.beforeModelCall();
      },
    });
  await runTurn(running(claim), partsOf(store, model, { agentFor: async () => ({ ...agent, run }) }));

  expect((await store.turns.get(claim.turn))!.status).toBe("aborted");
  expect((await store.queue.pending(WORK)).map(({ id }) => id)).toEqual(["item-b"]);
});

test("a steered message is part of the turn, and one that was dropped just now does not fail it", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store);
  await queue(store, "b", { mode: "steer" });
  await queue(store, "c", { mode: "steer" });
  let looked = 0;
  const dropping = withPending(store, async (...query) => {
    const pending = await store.queue.pending(...query);
    if (looked++ === 0) void store.queue.drop(["item-b" as ItemId], "test");
    return pending;
  });
  const work = toolsOf(testTool("Work", async () => DONE));
  const parts = partsOf(dropping, scriptedModel(calls("Work"), says("done")), work);
  await runTurn(running(claim), parts);
  expect((await store.turns.read(claim.turn))!.messages.map(({ content }) => content)).toEqual([
    "message a",
    "",
    "message c",
    "done",
  ]);
  expect(parts.settled).toEqual(["item-a", "item-c"]);
  expect(await store.queue.outcome("item-c" as ItemId)).toMatchObject({ state: "merged", turn: claim.turn });
});

test("a dead letter that is tried again keeps its own turn, and steers no other", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const dead = await begin(store, "a", {}, "steer");
  const work = testTool("Work", async () => DONE);
  const failing = scriptedModel(calls("Work"), () => Promise.reject(new Error("broken")));
  await runTurn(running(dead), partsOf(store, failing, toolsOf(work)));
  expect((await store.queue.dead()).items).toHaveLength(1);

  const claim = await begin(store, "b");
  await store.queue.retryDead("item-a" as ItemId);
  await runTurn(running(claim), partsOf(store, scriptedModel(says("b"))));
  expect((await store.turns.read(claim.turn))!.messages).toHaveLength(2);
  const again = await next(store);
  expect(again.turn).toBe(dead.turn);
  await runTurn(running(again), partsOf(store, scriptedModel(says("a")), toolsOf(work)));
  expect(work.calls).toHaveLength(1);
});

test("several calls are answered from elsewhere one by one, and each answer reaches its call", async () => {
  await using opened = await openTestStore();
  const claim = await begin(opened.store);
  const ask = testTool("Ask", async () => ELSEWHERE);
  await runTurn(running(claim), partsOf(opened.store, scriptedModel(calls("Ask", "Ask")), toolsOf(ask)));

  for (const ordinal of [1, 0]) {
    const store = await opened.crash();
    const [run] = await store.runs.active();
    expect(run).toMatchObject({ state: "suspended" });
    const answered = await store.runs.resume(run!.id, run!.wait!.id, [
      { kind: "result", ordinal, status: "ok", result: { text: `answer ${ordinal}` }, completedAtMs: 1 },
    ]);
    expect(answered).toBe(true);
    const model = ordinal === 1 ? scriptedModel() : scriptedModel(says("thanks"));
    await runTurn(running(await next(store)), partsOf(store, model, toolsOf(ask)));
  }
  const { toolCalls, messages } = (await opened.store.turns.read(claim.turn))!;
  expect(toolCalls.map(({ result }) => result)).toEqual([{ text: "answer 0" }, { text: "answer 1" }]);
  expect(messages.at(-1)!.content).toBe("thanks");
  expect(ask.calls).toHaveLength(2);
});

test("a call that waits is not forgotten where the calls after it are cut off", async () => {
  await using opened = await openTestStore();
  const claim = await begin(opened.store);
  const ask = testTool("Ask", async () => ELSEWHERE);
  const work = testTool("Work", async () => DONE);
  const isStopping = (): boolean => ask.calls.length > 0;
  const model = scriptedModel(calls("Ask", "Work"));
  await runTurn(running(claim, { isStopping }), partsOf(opened.store, model, toolsOf(ask, work)));

  const store = await opened.crash();
  await runTurn(running(await next(store)), partsOf(store, scriptedModel(), toolsOf(ask, work)));
  expect(await store.runs.active()).toMatchObject([{ state: "suspended", wait: { kind: "other" } }]);
  expect([ask.calls.length, work.calls.length]).toEqual([1, 1]);
});

test("a turn whose failure cannot be written is somebody else's to settle", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store);
  const full = new CortexError("store_full", "No room", { hint: "Free some.", transient: true });
  const runs = { ...store.runs, fail: () => Promise.reject(full) };
  const broken = withFaults(store, { runs, turns: { ...store.turns, commit: () => Promise.reject(full) } });
  await expect(runTurn(running(claim), partsOf(broken, scriptedModel(says("x"))))).rejects.toBe(full);
});

test("a full disk that takes the note of the failure is tried later, not at once and not for ever in vain", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  const claim = await begin(store);
  const full = new CortexError("store_full", "No room", { hint: "Free some.", transient: true });
  const broken = withFaults(store, { turns: { ...store.turns, commit: () => Promise.reject(full) } });
  await runTurn(running(claim), partsOf(broken, scriptedModel(says("x"))));
  expect(await store.queue.lease(alice, 1)).toEqual([]);
  clock.advance(60_000);
  await runTurn(running(await next(store)), partsOf(store, scriptedModel(says("x"))));
  expect((await store.turns.get(claim.turn))!.status).toBe("completed");
});

test("an agent that takes no messages on the way is given none", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store);
  await queue(store, "b", { mode: "steer" });
  const model = scriptedModel(says("done"));
  const agent = createLoopAgent({ model, clock: () => 0, mintId: () => "m1" });
  const capabilities = { ...agent.capabilities, steer: false };
  await runTurn(
    running(claim),
    partsOf(store, model, { agentFor: async () => ({ ...agent, capabilities }) }),
  );
  expect(await store.queue.pending(WORK)).toHaveLength(1);
  expect((await store.turns.get(claim.turn))!.agent).toBe("main" as AgentId);
});

test("the time that a turn has worked counts over crashes, and ends it with an answer that says so", async () => {
  await using opened = await openTestStore();
  const { clock } = opened;
  const claim = await begin(opened.store);
  const slow = testTool("Slow", async () => (clock.advance(40 * MINUTE_MS), DONE));
  const fields = { ...toolsOf(slow), clock };
  const parts = partsOf(opened.store, scriptedModel(calls("Slow")), fields);
  await runTurn(running(claim, { isStopping: () => slow.calls.length > 0 }), parts);

  const store = await opened.crash();
  const model = scriptedModel(calls("Slow"));
  await runTurn(running(await next(store)), partsOf(store, model, fields));

  const answer = (await store.turns.read(claim.turn))!.messages.at(-1)!.content;
  expect(answer).toContain("I stopped here: this turn took 4800 s. (Limit `wallClockMs`: 3600000");
});

test("the time in which Cortex was down or a turn waited for an answer does not count", async () => {
  await using opened = await openTestStore();
  const { clock } = opened;
  const claim = await begin(opened.store);
  const ask = testTool("Ask", async () => (clock.advance(20 * MINUTE_MS), ELSEWHERE));
  const fields = { ...toolsOf(ask), clock };
  await runTurn(running(claim), partsOf(opened.store, scriptedModel(calls("Ask")), fields));

  clock.advance(500 * MINUTE_MS);
  const [run] = await opened.store.runs.active();
  await opened.store.runs.resume(run!.id, run!.wait!.id, [
    { kind: "result", ordinal: 0, status: "ok", result: { text: "yes" }, completedAtMs: clock() },
  ]);
  const store = await opened.crash();
  clock.advance(500 * MINUTE_MS);
  await runTurn(running(await next(store)), partsOf(store, scriptedModel(says("thanks")), fields));

  expect((await store.turns.read(claim.turn))!.messages.at(-1)!.content).toBe("thanks");
});

/** A process that dies at its n-th write: before it reaches the disk, or after. */
function dyingStore(store: Store, death: { readonly write: number; readonly isWritten: boolean }): Store {
  let writes = 0;
  const dying =
    <Arguments extends unknown[], Result>(write: (...args: Arguments) => Promise<Result>) =>
    async (...args: Arguments): Promise<Result> => {
      const place = ++writes;
      if (place < death.write) return write(...args);
      if (place === death.write && death.isWritten) await write(...args);
      throw new CortexError("store_writer_lost", "The process has died", { hint: "Start it again." });
    };
  const { runs, turns } = store;
  return withFaults(store, {
    runs: {
      ...runs,
      journal: dying((...args: Parameters<typeof runs.journal>) => runs.journal(...args)),
      fail: dying((...args: Parameters<typeof runs.fail>) => runs.fail(...args)),
    },
    turns: {
      ...turns,
      commit: dying((...args: Parameters<typeof turns.commit>) => turns.commit(...args)),
      compact: dying((...args: Parameters<typeof turns.compact>) => turns.compact(...args)),
    },
  });
}

test("a turn whose process dies at any write, any number of times, is made once, and so is each of its calls", async () => {
  const script = fc.array(fc.nat(2), { minLength: 1, maxLength: 3 });
  const deaths = fc.array(fc.record({ write: fc.integer({ min: 1, max: 10 }), isWritten: fc.boolean() }), {
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(script, deaths, async (steps, dying) => {
      await using opened = await openTestStore();
      const { turn, lease } = await begin(opened.store);
      await opened.store.queue.release([lease]);
      const made: string[] = [];
      const tools = [0, 1, 2].map((i) =>
        testTool(`Tool${i}`, async (_, { callKey }) => {
          made.push(callKey);
          return DONE;
        }),
      );
      for (const death of dying) {
        const store = dyingStore(opened.store, death);
        const [claim] = await opened.store.queue.lease(alice, 1);
        if (claim === undefined) break;
        await runTurn(running(claim), partsOf(store, attentiveModel(steps), toolsOf(...tools))).catch(
          () => {},
        );
        await opened.crash();
      }
      const [last] = await opened.store.queue.lease(alice, 1);
      if (last !== undefined)
        await runTurn(running(last), partsOf(opened.store, attentiveModel(steps), toolsOf(...tools)));

      const content = (await opened.store.turns.read(turn))!;
      const count = steps.reduce((sum, more) => sum + more + 1, 0);
      const done = content.toolCalls.filter(({ status }) => status === "ok");
      const unknown = content.toolCalls.filter(({ status }) => status === "unknown");
      expect(done.length + unknown.length).toBe(count);
      expect(new Set(made).size).toBe(made.length);
      expect(made).toEqual(expect.arrayContaining(done.map(({ ordinal }) => `${turn}-${ordinal}`)));
      expect(content.messages.map(({ role }) => role)).toEqual([
        "user",
        ...steps.map(() => "assistant"),
        "assistant",
      ]);
      expect((await opened.store.counts()).turns).toBe(1);
    }),
    { numRuns: 8 },
  );
});

const STUCK: Model = { ask: () => new Promise(() => {}) };

test("a run whose model falls silent, and does not even end when told to, is tried again", async () => {
  await using opened = await openTestStore();
  const claim = await begin(opened.store);
  const { config: impatient } = await loadFiles({
    "cortex.json": { agents: { main: { workspace, limits: { silenceMs: 1 } } } },
  });
  const parts = partsOf(opened.store, STUCK, {
    settings: settingsOf({ config: () => impatient }),
    graceMs: 1,
  });
  await runTurn(running(claim), parts);

  expect((await opened.store.runs.get(claim.run))!.error).toContain("made no progress");
  opened.clock.advance(60_000);
  expect(await next(opened.store)).toMatchObject({ turn: claim.turn, attempt: 2 });
});

test("a run that is aborted and whose agent does not end is aborted all the same", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store);
  const ended = runTurn(running(claim), partsOf(store, STUCK, { graceMs: 1 }));
  await store.runs.requestAbort(claim.run, "enough");
  await ended;
  expect((await store.turns.get(claim.turn))!.status).toBe("aborted");
});

/** Three turns that fill most of a window of 1,500 tokens. */
async function fillWindow(store: Store): Promise<void> {
  const long = says("word ".repeat(400), { usage: NO_USAGE });
  for (const name of ["a", "b", "c"])
    await runTurn(running(await begin(store, name)), partsOf(store, scriptedModel(long)));
}

test("a thread is compacted once, also where the process dies at any write", async () => {
  const model: Model = {
    window: async () => 1_500,
    ask: async ({ purpose, exchanges }) => {
      if (purpose === "summary") return says("in short");
      return exchanges.at(-1)!.messages.length === 1 ? calls("Once") : says("done");
    },
  };
  const deaths = [1, 2, 3, 4, 5, 6].flatMap((write) => [
    { write, isWritten: false },
    { write, isWritten: true },
  ]);
  for (const death of deaths) {
    await using opened = await openTestStore();
    await fillWindow(opened.store);
    const { turn, lease } = await begin(opened.store, "d");
    await opened.store.queue.release([lease]);
    const tools = toolsOf(testTool("Once", async () => DONE, { repeatable: true }));
    const claim = await next(opened.store);
    await runTurn(running(claim), partsOf(dyingStore(opened.store, death), model, tools)).catch(() => {});
    const store = await opened.crash();
    const [again] = await store.queue.lease(alice, 1);
    if (again !== undefined) await runTurn(running(again), partsOf(store, model, tools));

    const thread = await store.turns.thread(turn, { limit: 10 });
    expect(thread.map(({ type }) => type)).toEqual(["normal", "compaction", "normal", "normal", "normal"]);
    expect((await store.turns.read(turn))!.toolCalls).toMatchObject([{ tool: "Once", status: "ok" }]);
    expect((await store.counts()).turns).toBe(5);
  }
});

test("a run that dies after it has compacted its thread goes on after the compaction", async () => {
  await using opened = await openTestStore();
  await fillWindow(opened.store);
  const claim = await begin(opened.store, "d");
  const window = async (): Promise<number> => 1_500;
  const dying = { ...scriptedModel(says("in short")), window };
  const isStopping = (): boolean => dying.questions.length > 0;
  await runTurn(running(claim, { isStopping }), partsOf(opened.store, dying));
  const store = await opened.crash();
  const again = await next(store);
  expect(again).toMatchObject({ turn: claim.turn, attempt: 1, journalled: true });
  expect(await store.turns.get(again.parent!)).toMatchObject({ type: "compaction" });

  const model = { ...scriptedModel(says("done")), window };
  await runTurn(running(again), partsOf(store, model));
  expect((await store.turns.get(claim.turn))!.parent).toBe(again.parent);
  expect(model.questions).toHaveLength(1);
  expect(model.questions[0]!.exchanges[0]!.messages.at(-1)!.content).toBe("in short");
});

test("a session that is reset while its thread is summed up starts afresh", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  await fillWindow(store);
  const claim = await begin(store, "d");
  const resetting = scriptedModel(async () => {
    await store.sessions.reset(WORK);
    return says("in short");
  });
  await runTurn(running(claim), partsOf(store, { ...resetting, window: async () => 1_500 }));
  const again = await next(store);
  expect(again).toMatchObject({ turn: claim.turn, attempt: 2, parent: undefined });
});
