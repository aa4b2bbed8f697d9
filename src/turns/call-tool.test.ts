import { tmpdir } from "node:os";

import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import { DONE, testTool } from "../../test/support/home.ts";
import { openTestStore } from "../../test/support/open-store.ts";
import { alice, dispatch, event, message, session, START_MS, toSession } from "../../test/support/sample.ts";
import { calls, spoken, type Wish } from "../../test/support/scripted-model.ts";
import { EVERYTHING } from "../../test/support/tool-context.ts";
import type { CallOutcome } from "../agents/agent.ts";
import { CortexError } from "../model/errors.ts";
import type { AgentId, PersonaId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { type CallBlock, callsOf } from "../model/message.ts";
import { OFFLINE_PROFILE } from "../model/profile.ts";
import { OWNER_PRINCIPAL, personPrincipal, type Principal } from "../model/principal.ts";
import { FileLabels } from "../personas/file-labels.ts";
import { lookUp } from "../personas/lookup.ts";
import { openBounds } from "./bounds.ts";
import { sandboxMode } from "./sandbox.ts";
import type { Tool, ToolOutcome, ToolResult } from "../model/tool.ts";
import { NO_TOOL_HOOKS } from "../model/tool-hook.ts";
import type { Claim, Store } from "../store/store.ts";
import { type CallingRun, callTool, MAX_OPEN_REQUESTS } from "./call-tool.ts";
import { LabelAtChoice } from "./chosen-words.ts";
import { type Suspension, TurnJournal } from "./journal.ts";
import { WorkLabels } from "./run-labels.ts";

const pinned = { system: "", tools: [], profile: "fast" };
const QUESTION: ToolOutcome = { kind: "suspend", waitKind: "question", detail: { text: "Well?" } };

/** Nothing is recorded of any file. */
const NO_LABELS = new WorkLabels(
  new FileLabels({
    labels: {
      ofFile: async () => [],
      under: async () => [],
      labelsUnder: async () => [],
      commands: async () => [],
      areEmpty: async () => true,
      willWrite: async () => {},
      hasWritten: async () => {},
      beginCommand: async () => {},
      endCommand: async () => {},
    },
    foreign: [],
  }),
  { principal: OWNER_PRINCIPAL, audience: OWNER_PRINCIPAL, turn: "turn-1" as TurnId },
);

const { config } = await loadFiles({});
const bounds = openBounds({ home: tmpdir(), config: () => config, log: () => {} });
const setup = lookUp(config, "main" as AgentId, "atlas" as PersonaId);
let minted = 0;

/** A turn whose model has just asked for these calls. */
async function begin(store: Store, ...tools: readonly Wish[]) {
  const work = { dispatch: dispatch("a", toSession("work")), claim: alice };
  const claim = (await store.events.accept(event("a"), work)).dispatched!.claim!;
  const journal = new TurnJournal({
    store,
    claim,
    pinned,
    messages: [message("q", "user", "go")],
    toolCalls: [],
    written: 0,
  });
  const asked = spoken("m1", calls(...tools));
  await journal.addMessages([asked]);
  return { claim, journal, calls: callsOf(asked) };
}

/** The same turn after whoever worked on it is gone. */
async function takeUp(store: Store): Promise<{ claim: Claim; journal: TurnJournal }> {
  const [claim] = await store.queue.lease({ ...alice, holder: "next" }, 1);
  const before = await store.runs.readJournal(claim!.run);
  return {
    claim: claim!,
    journal: new TurnJournal({
      store,
      claim: claim!,
      ...before,
      written: before.messages.length,
      pinned: before.pinned as never,
    }),
  };
}

interface Fields extends Partial<Omit<CallingRun, "work" | "ports">> {
  readonly permissions?: CallingRun["work"]["permissions"];
  readonly readWait?: CallingRun["ports"]["features"]["readWait"];
}

function parts(
  { claim, journal }: { claim: Claim; journal: TurnJournal },
  tools: readonly Tool[],
  { permissions = () => EVERYTHING, readWait = async () => undefined, ...fields }: Fields = {},
): CallingRun {
  return {
    work: {
      claim,
      setup,
      journal,
      tools: new Map(tools.map((tool) => [tool.name, tool])),
      permissions,
      delegable: () => EVERYTHING,
      folders: { workspace: "/", roots: [], hidden: [], reserved: [], outputFolder: "/" },
      skills: [],
      items: [],
      attachedBefore: [],
      labels: NO_LABELS,
      thread: { compaction: undefined, turns: [] },
    },
    ports: {
      clock: () => START_MS,
      mintId: () => `asked-${minted++}`,
      redact: (text) => text,
      environment: {},
      deliveriesOf: () => [],
      settings: { config: () => config, profile: () => OFFLINE_PROFILE, variable: () => undefined },
      sandbox: {
        mode: () => sandboxMode("off", { problem: "none", hint: "none" }),
        sandbox: () => undefined,
        lookAgain: async () => {},
      },
      bounds,
      // No trust is known, and none is noted.
      store: {
        sessions: { get: async () => undefined, configure: async () => {} },
        queue: { itemsOf: async () => [] },
        approvals: { get: async () => undefined, use: async () => true, countOpen: async () => 0 },
      },
      features: { readWait },
    },
    hooks: () => NO_TOOL_HOOKS,
    signal: new AbortController().signal,
    isStopping: () => false,
    hasSteering: async () => false,
    suspensions: [],
    labelAtChoice: new LabelAtChoice(),
    ...fields,
  };
}

const untilAborted: Tool["run"] = (_, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));

test("the intent is on disk before the tool begins, and the result right after it has ended", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const turn = await begin(store, ["Work", { x: 1 }]);
  const seen: Json[] = [];
  const tool = testTool("Work", async (params, { callId, callKey }) => {
    const { toolCalls } = await store.runs.readJournal(turn.claim.run);
    seen.push([params, callId, callKey, toolCalls[0]?.status ?? null]);
    return DONE;
  });

  const outcome = await callTool(turn.calls[0]!, 0, parts(turn, [tool]));

  expect(seen).toEqual([[{ x: 1 }, "Work-0", `${turn.claim.turn}-0`, "started"]]);
  expect(outcome).toMatchObject({
    kind: "done",
    call: { ordinal: 0, status: "ok", result: { text: "done" } },
  });
  expect((await store.runs.readJournal(turn.claim.run)).toolCalls).toMatchObject([{ status: "ok" }]);
});

test.each<[string, Tool["run"], RegExp]>([
  ["says that it failed", async () => ({ kind: "done", result: { text: "no", isError: true } }), /^no$/],
  [
    "throws one of our errors",
    async () => {
      throw new CortexError("tool_failed", "No file", { hint: "Look." });
    },
    /^No file\. Look\.$/,
  ],
  [
    "throws any error",
    async () => {
      throw new TypeError("boom");
    },
    /^The tool failed: boom$/,
  ],
  [
    "throws before it has begun to wait",
    () => {
      throw new Error("early");
    },
    /early/,
  ],
  [
    "throws something that is no error",
    async () => {
      const anything: unknown = "text";
      throw anything;
    },
    /^The tool failed: text$/,
  ],
])("a tool that %s tells the model, and the turn goes on", async (_, run, text) => {
  await using opened = await openTestStore();
  const turn = await begin(opened.store, "Work");
  const outcome = await callTool(turn.calls[0]!, 0, parts(turn, [testTool("Work", run)]));
  expect(outcome).toMatchObject({
    kind: "done",
    call: { status: "error", result: { text: expect.stringMatching(text), isError: true } },
  });
});

test("a tool that takes too long is stopped, and the model is told", async () => {
  await using opened = await openTestStore();
  const turn = await begin(opened.store, "Slow");
  const slow = testTool("Slow", untilAborted, { timeoutMs: 1 });
  expect(await callTool(turn.calls[0]!, 0, parts(turn, [slow]))).toMatchObject({
    kind: "done",
    call: { status: "error", result: { text: expect.stringContaining("timed out after 0.001 s") } },
  });
});

test("a tool that does not stop when told keeps nobody waiting for ever", async () => {
  await using opened = await openTestStore();
  const turn = await begin(opened.store, "Deaf");
  const deaf = testTool("Deaf", () => new Promise<never>(() => {}), { timeoutMs: 1 });
  expect(await callTool(turn.calls[0]!, 0, parts(turn, [deaf], { graceMs: 1 }))).toMatchObject({
    kind: "done",
    call: { status: "error", result: { text: expect.stringContaining("may still be running") } },
  });
});

test("an abort leaves a call open, also one whose tool is deaf", async () => {
  await using opened = await openTestStore();
  const turn = await begin(opened.store, "Slow", "Deaf", "Never");
  const controller = new AbortController();
  const abortThen =
    (run: Tool["run"]): Tool["run"] =>
    (params, context) => {
      queueMicrotask(() => controller.abort());
      return run(params, context);
    };
  const never = testTool("Never", async () => DONE);
  const slow = testTool("Slow", abortThen(untilAborted));
  const given = parts(turn, [slow, never], { signal: controller.signal });
  expect(await callTool(turn.calls[0]!, 0, given)).toEqual({ kind: "park" });
  expect(turn.journal.toolCalls).toMatchObject([{ status: "started" }]);
  expect(await callTool(turn.calls[2]!, 2, given)).toEqual({ kind: "park" });
  expect(never.calls).toEqual([]);

  const second = new AbortController();
  const deaf = testTool("Deaf", () => {
    second.abort();
    return new Promise<never>(() => {});
  });
  expect(
    await callTool(turn.calls[1]!, 1, parts(turn, [deaf], { signal: second.signal, graceMs: 1 })),
  ).toEqual({
    kind: "park",
  });
});

test("a call is not made when the abort comes while its intent is written", async () => {
  await using opened = await openTestStore();
  const turn = await begin(opened.store, "Never");
  const controller = new AbortController();
  const never = testTool("Never", async () => DONE);
  const given = parts(turn, [never], {
    signal: controller.signal,
    hasSteering: async () => {
      setImmediate(() => controller.abort()); // the write takes longer than this
      return false;
    },
  });
  expect(await callTool(turn.calls[0]!, 0, given)).toEqual({ kind: "park" });
  expect(never.calls).toEqual([]);
});

test("a tool that does not exist is an answer that lists those that do", async () => {
  await using opened = await openTestStore();
  const turn = await begin(opened.store, "Nope", "Nope");
  expect(await callTool(turn.calls[0]!, 0, parts(turn, [testTool("A", async () => DONE)]))).toMatchObject({
    kind: "done",
    call: { status: "error", result: { text: 'Unknown tool "Nope". Available tools: A.' } },
  });
  expect(await callTool(turn.calls[1]!, 1, parts(turn, []))).toMatchObject({
    call: { result: { text: expect.stringContaining("none") } },
  });
});

test("a call is skipped where a message waits that is to come first", async () => {
  await using opened = await openTestStore();
  const turn = await begin(opened.store, "Work");
  const tool = testTool("Work", async () => DONE);
  const outcome = await callTool(turn.calls[0]!, 0, parts(turn, [tool], { hasSteering: async () => true }));
  expect(outcome).toMatchObject({ kind: "done", call: { status: "skipped", result: { isError: true } } });
  expect(tool.calls).toEqual([]);
});

test("a call is left for the next process where this one ends", async () => {
  await using opened = await openTestStore();
  const turn = await begin(opened.store, "Work");
  const tool = testTool("Work", async () => DONE);
  expect(await callTool(turn.calls[0]!, 0, parts(turn, [tool], { isStopping: () => true }))).toEqual({
    kind: "park",
  });
  expect(turn.journal.toolCalls).toEqual([]);
});

test.each([
  { repeatable: true, made: 1, status: "ok" },
  { repeatable: false, made: 0, status: "unknown" },
])(
  "a call that was cut off is $status where repeatable is $repeatable",
  async ({ repeatable, made, status }) => {
    await using opened = await openTestStore();
    const {
      journal,
      calls: [call],
    } = await begin(opened.store, "Work");
    await journal.startCall(call!, 0, START_MS);
    const next = await takeUp(await opened.crash());
    const tool = testTool("Work", async () => DONE, { repeatable });

    const outcome = await callTool(
      call as CallBlock,
      0,
      parts(next, [tool], { hasSteering: async () => true }),
    );

    expect(tool.calls).toHaveLength(made);
    expect(outcome).toMatchObject({ kind: "done", call: { status } });
  },
);

test("a call that was cut off and whose tool is gone has an outcome that nobody knows", async () => {
  await using opened = await openTestStore();
  const {
    journal,
    calls: [call],
  } = await begin(opened.store, "Work");
  await journal.startCall(call!, 0, START_MS);
  const next = await takeUp(await opened.crash());
  expect(await callTool(call!, 0, parts(next, []))).toMatchObject({ call: { status: "unknown" } });
});

test("a call that needs an answer from elsewhere suspends, and stays open", async () => {
  await using opened = await openTestStore();
  const turn = await begin(opened.store, "Ask");
  const given = parts(turn, [testTool("Ask", async () => QUESTION)]);
  expect(await callTool(turn.calls[0]!, 0, given)).toEqual({ kind: "suspended" });
  expect(given.suspensions).toEqual([
    {
      ordinal: 0,
      callId: "Ask-0",
      kind: "question",
      detail: expect.objectContaining({ request: { text: "Well?" }, expiresAtMs: null }),
    },
  ]);
  expect(turn.journal.toolCalls).toMatchObject([{ status: "started" }]);
});

test("a call that still waits for its answer is neither made again nor given up", async () => {
  await using opened = await openTestStore();
  const turn = await begin(opened.store, "Ask");
  const ask = testTool("Ask", async () => QUESTION);
  const first = parts(turn, [ask]);
  await callTool(turn.calls[0]!, 0, first);

  const next = await takeUp(await opened.crash());
  const second = parts(next, [ask]);
  expect(await callTool(turn.calls[0]!, 0, second)).toEqual({ kind: "suspended" });
  expect(second.suspensions).toEqual(first.suspensions);
  expect(ask.calls).toHaveLength(1);
});

test("a turn asks people about so many calls at once, and no more", async () => {
  await using opened = await openTestStore();
  const wishes = Array.from({ length: MAX_OPEN_REQUESTS + 1 }, (): Wish => ["Pay", {}]);
  const turn = await begin(opened.store, ...wishes);
  const given = parts(turn, [testTool("Pay", async () => DONE)], {
    permissions: () => ({ ...EVERYTHING, ask: ["Pay"] }),
  });
  const outcomes = [];
  for (const [ordinal, call] of turn.calls.entries()) outcomes.push(await callTool(call, ordinal, given));
  expect(outcomes.slice(0, -1).every(({ kind }) => kind === "suspended")).toBe(true);
  expect(outcomes.at(-1)).toMatchObject({ kind: "done", call: { status: "error" } });
});

test.each([
  ["approvals", DONE, ["Pay"]],
  ["answers", QUESTION, []],
])(
  "the work of a person asks for so many %s over all turns; that of the owner is not counted",
  async (...[, does, ask]) => {
    const askingFor = async (principal: Principal): Promise<CallOutcome> => {
      await using opened = await openTestStore();
      const turn = await begin(opened.store, ["Pay", {}]);
      const given = parts(turn, [testTool("Pay", async () => does)], {
        permissions: () => ({ ...EVERYTHING, ask }),
      });
      const labels = new WorkLabels(NO_LABELS.files, { ...NO_LABELS.writer, principal });
      const store = {
        ...given.ports.store,
        approvals: { ...given.ports.store.approvals, countOpen: async () => config.people.openApprovals },
      };
      return await callTool(turn.calls[0]!, 0, {
        ...given,
        work: { ...given.work, labels },
        ports: { ...given.ports, store },
      });
    };
    expect(await askingFor(personPrincipal("ada"))).toMatchObject({
      kind: "done",
      call: { status: "error", result: { text: expect.stringContaining("`people.openApprovals`") } },
    });
    expect(await askingFor(OWNER_PRINCIPAL)).toMatchObject({ kind: "suspended" });
  },
);

const CHILD: ToolOutcome = { kind: "suspend", waitKind: "child", detail: { delegation: "d1" } };
const WORKER = session("agent:coder:subagent:01");

test("a call that has given work away waits until it is over, and has the outcome as its result", async () => {
  await using opened = await openTestStore();
  const turn = await begin(opened.store, "Give");
  const give = testTool("Give", async () => CHILD, { repeatable: true });
  const asked: unknown[] = [];
  let result: ToolResult | undefined;
  const readWait: Fields["readWait"] = async (detail) => {
    asked.push(detail);
    return result;
  };
  const suspensions: Suspension[] = [];
  const again = () => callTool(turn.calls[0]!, 0, parts(turn, [give], { readWait, suspensions }));
  expect(await again()).toEqual({ kind: "suspended" });
  expect(suspensions).toMatchObject([{ kind: "child", detail: { delegation: "d1" } }]);
  expect(await again()).toEqual({ kind: "suspended" });

  result = { text: "the result", childSession: WORKER };
  expect(await again()).toMatchObject({
    kind: "done",
    call: { status: "ok", result: { text: "the result" }, childSession: WORKER },
  });
  expect(asked).toEqual([{ delegation: "d1" }, { delegation: "d1" }]);
  expect(give.calls).toHaveLength(1);
  const { toolCalls } = await opened.store.runs.readJournal(turn.claim.run);
  expect(toolCalls).toMatchObject([{ result: { text: "the result" }, childSession: WORKER }]);
});

test("work that failed is an error, also for whoever takes the turn up after a crash", async () => {
  await using opened = await openTestStore();
  const turn = await begin(opened.store, "Give");
  const give = testTool("Give", async () => CHILD, { repeatable: true });
  await callTool(turn.calls[0]!, 0, parts(turn, [give]));
  const next = await takeUp(await opened.crash());
  const readWait = async (): Promise<ToolResult> => ({ text: "It has failed.", isError: true });
  expect(await callTool(turn.calls[0]!, 0, parts(next, [give], { readWait }))).toMatchObject({
    kind: "done",
    call: { status: "error", result: { text: "It has failed.", isError: true } },
  });
  expect(give.calls).toHaveLength(1);
});

test("workers that are waited for do not count among what people are asked", async () => {
  await using opened = await openTestStore();
  const names = Array.from({ length: MAX_OPEN_REQUESTS + 1 }, () => "Give");
  const turn = await begin(opened.store, ...names, "Ask");
  const permissions = () => ({ ...EVERYTHING, ask: ["Ask"] });
  const tools = [testTool("Give", async () => CHILD), testTool("Ask", async () => DONE)];
  const given = parts(turn, tools, { permissions, suspensions: [] });
  for (const [ordinal, call] of turn.calls.entries()) {
    expect(await callTool(call, ordinal, given)).toEqual({ kind: "suspended" });
  }
});
