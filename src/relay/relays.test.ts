/** Relays through all of Cortex: real steps, real scripts, and a model that plays what the test says. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";

import { DONE, openTestCortex, testTool, writeHome } from "../../test/support/home.ts";
import { SEED_FILES } from "../../test/support/relay-home.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import { answerTo, entry, holdTool, plays } from "../../test/support/workers.ts";
import type { RelayId, TurnId } from "../model/ids.ts";
import { MAIN_SESSION } from "../model/session-key.ts";
import type { Tool } from "../model/tool.ts";
import { INTERRUPTED } from "./record/ending.ts";
import type { RelayRecord } from "./record/record.ts";
import { KEPT_MS } from "./engine/retention.ts";
import type { Cortex, CortexOptions } from "../runtime/cortex.ts";
import { readRelayView } from "./surface/views.ts";

const NEVER = new AbortController().signal;
const PATIENT = { timeout: 90_000 };

interface Home extends Disposable {
  readonly path: string;
  open(options?: Partial<CortexOptions>): Promise<Cortex>;
}

interface HomeParts {
  readonly script: readonly string[];
  readonly templates?: unknown;
  readonly files?: Readonly<Record<string, unknown>>;
  readonly cortex?: object;
  readonly profiles?: unknown;
}

function makeHome({ script, templates = TWO, files = {}, cortex = {}, profiles }: HomeParts): Home {
  const folder = temporaryFolder();
  writeHome(folder.path, {
    script: script.join(""),
    cortex,
    ...(profiles === undefined ? {} : { profiles }),
  });
  for (const [path, content] of Object.entries({ "config/thread-templates.json": templates, ...files })) {
    const file = join(folder.path, path);
    mkdirSync(path.endsWith("/") ? file : dirname(file), { recursive: true });
    if (!path.endsWith("/"))
      writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  }
  return {
    path: folder.path,
    open: (options = {}) => openTestCortex({}, { ...options, home: folder.path }),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

async function end({ relays }: Cortex, id: string): Promise<RelayRecord> {
  return (await relays.ended(id as RelayId, NEVER))!;
}

const agent = (promptTemplate: string, fields: object = {}) => ({
  profile: "__active__",
  persistSession: false,
  promptTemplate,
  ...fields,
});

const TWO = {
  agents: {
    planner: agent("Plan {{input}}"),
    coder: agent("Code {{input}}"),
    critic: agent("Judge {{input}}"),
  },
  templates: {
    two: {
      description: "Two agents",
      agents: ["planner", "coder"],
      transitions: [{ from: "planner", to: "coder", condition: { type: "always" } }],
      entryAgent: "planner",
      maxTotalSteps: 5,
    },
  },
};

const writes = (content: string) => [["Write", { path: "artifact.md", content }]] as const;
const PLAYS = [
  entry("Plan", "planner", plays(writes("the plan\n"), "planned")),
  entry("Code", "coder", plays(writes("the plan\nthe code\n"), "coded")),
  entry("Judge", "critic", plays([], "judged")),
];
const outputs = ({ steps }: RelayRecord) => steps.map(({ agentSlotId, output }) => [agentSlotId, output]);

test("a template runs to its end, each step a turn of its own session", async () => {
  using home = makeHome({ script: PLAYS });
  await using cortex = await home.open();
  const { id } = await cortex.relays.run({ name: "two", message: "a house" });
  const record = await end(cortex, id);
  expect(record).toMatchObject({ status: "completed", stopReason: "no_matching_transition" });
  expect(outputs(record)).toEqual([
    ["planner", "planned"],
    ["coder", "coded"],
  ]);
  expect(await cortex.relays.artifact(id)).toBe("the plan\nthe code\n");
  expect(await cortex.relays.artifact(id, 1)).toBe("the plan\n");
  const turn = (await cortex.store.turns.get(record.steps[1]!.executionId as TurnId))!;
  expect(turn).toMatchObject({ session: `thr:${id}:coder:1`, agent: "coder", persona: "atlas" });
  expect(turn.facts.role).toBe("worker");
});

test("the example of the original runs as it is written", async () => {
  const profiles = {
    defaultProfile: "claude-sonnet",
    profiles: { "claude-sonnet": { backend: "offline", script: "script.yaml" } },
  };
  const files = {
    ...SEED_FILES,
    "hooks/post-task-hook.mjs": `
      import { appendFileSync, readFileSync } from "node:fs";
      const { threadId, phase, steps } = JSON.parse(readFileSync(0, "utf8"));
      appendFileSync("ended.txt", [threadId, phase, steps.length].join(" ") + "\\n");
      console.log(JSON.stringify({ targetAgent: "coder", prompt: "Write down what you have learnt." }));`,
  };
  const script = [
    entry("Plan: ", "planner", plays([], "the plan")),
    entry("You are implementing", "coder", plays(writes("code\n"), "implemented")),
    entry("You are reviewing", "coder", plays([], "looked at")),
    entry("Write down", "coder", plays([], "written down")),
    entry("Review ", "reviewer", plays([], "fine")),
  ];
  using home = makeHome({ script, files, profiles, templates: SEED_FILES["config/thread-templates.json"] });
  await using cortex = await home.open();
  const { id } = await cortex.relays.run({ name: "coder-review", message: "Implement user authentication" });
  const record = await end(cortex, id);
  expect(record.steps.map(({ agentSlotId, stage, output }) => [agentSlotId, stage, output])).toEqual([
    ["planner", null, "the plan"],
    ["coder", "implement", "implemented"],
    ["coder", "review", "looked at"],
    ["reviewer", null, "fine"],
    ["coder", null, "written down"],
  ]);
  expect(record.steps[0]!.input).toMatch(/^You are a research planner\./);
  expect(record.steps[2]!.input).toMatch(/^You are reviewing the code/);
  expect(record.steps[4]!.sessionId).toBe(`thr:${id}:coder`);
  expect(readFileSync(join(home.path, "ended.txt"), "utf8")).toBe(`${id} end 4\n`);
  const planner = await cortex.store.turns.read(record.steps[0]!.executionId as TurnId);
  const { granted } = planner!.turn.facts.permissions as unknown as {
    granted: { tools: { allow: string[][] } };
  };
  expect(granted.tools.allow.at(-1)).toContain("relay_abort");
});

test("a single agent runs by itself, in a session and folder of its choice", async () => {
  using home = makeHome({ script: PLAYS });
  await using cortex = await home.open();
  const dir = join(home.path, "workspaces", "elsewhere");
  mkdirSync(dir, { recursive: true });
  const { id } = await cortex.relays.run({
    name: "planner",
    message: "a house",
    dir,
    metadata: { trigger: "user" },
  });
  const record = await end(cortex, id);
  expect(record).toMatchObject({ templateName: null, status: "completed", metadata: { trigger: "user" } });
  expect(readFileSync(join(dir, "artifact.md"), "utf8")).toBe("the plan\n");
  expect(await cortex.relays.artifact(id)).toBe("");
});

test("a name that nobody has is told apart", async () => {
  using home = makeHome({ script: [] });
  await using cortex = await home.open();
  const run = cortex.relays.run({ name: "three", message: "x" });
  await expect(run).rejects.toMatchObject({
    code: "template_unknown",
    message: expect.stringContaining("three"),
  });
  await expect(cortex.relays.cancel("thr_00000000" as RelayId)).rejects.toMatchObject({
    code: "relay_unknown",
  });
  await expect(cortex.relays.resume("thr_00000000" as RelayId)).rejects.toMatchObject({
    code: "relay_unknown",
  });
  expect(await cortex.relays.get("thr_00000000" as RelayId)).toBeUndefined();
  const wrong = cortex.relays.run({ name: "two", message: "x", profile: "nothing" });
  await expect(wrong).rejects.toMatchObject({ code: "profile_unknown" });
});

test("the same key again is the same relay", async () => {
  using home = makeHome({ script: PLAYS });
  await using cortex = await home.open();
  const request = { name: "two", message: "a house", idempotencyKey: "k1" };
  const [one, two] = await Promise.all([cortex.relays.run(request), cortex.relays.run(request)]);
  expect(two.id).toBe(one.id);
  expect((await cortex.relays.run({ ...request, idempotencyKey: "k2" })).id).not.toBe(one.id);
  expect((await cortex.relays.list()).items).toHaveLength(2);
});

test.each([
  ["message", { message: "a boat" }],
  ["template", { name: "planner" }],
])("the same key with another %s is a conflict", async (_, other) => {
  using home = makeHome({ script: PLAYS });
  await using cortex = await home.open();
  const request = { name: "two", message: "a house", idempotencyKey: "k1" };
  await cortex.relays.run(request);
  await expect(cortex.relays.run({ ...request, ...other })).rejects.toMatchObject({
    code: "idempotency_conflict",
  });
  expect((await cortex.relays.list()).items).toHaveLength(1);
});

test("the slots of a record are in the order of the template", async () => {
  using home = makeHome({ script: PLAYS });
  await using cortex = await home.open();
  const { id } = await cortex.relays.run({ name: "two", message: "a house" });
  expect(Object.keys((await end(cortex, id)).agents)).toEqual(["planner", "coder"]);
  await cortex.relays.add({ id: id, agent: "critic" });
  expect(Object.keys((await end(cortex, id)).agents)).toEqual(["planner", "coder", "critic"]);
});

test("a step that waits for a child makes its relay wait", async () => {
  const asks = plays([["relay_start", { agent: "critic", message: "it", wait: true }]], "planned");
  const held = entry("Judge", "critic", plays([["Hold", {}]], "judged"));
  using home = makeHome({ script: [entry("Plan", "planner", asks), held, PLAYS[1]!] });
  const { tool, release } = holdTool();
  await using cortex = await home.open({ tools: [tool] });
  const { id } = await cortex.relays.run({ name: "two", message: "a house" });
  const status = async () => (await cortex.relays.get(id))?.status;
  await expect.poll(status, PATIENT).toBe("waiting");
  expect((await readRelayView(id, cortex.store))?.status).toBe("waiting");
  await expect.poll(() => tool.calls.length, PATIENT).toBe(1);
  release();
  expect(await end(cortex, id)).toMatchObject({ status: "completed" });
});

describe("the owner is told at the place that the configuration names", () => {
  const admin = { channel: "webhook", place: "ops" };

  async function told({ store }: Cortex): Promise<string[]> {
    const { items } = await store.outbox.list();
    return items.filter(({ turn }) => turn === undefined).map(({ content }) => content);
  }

  test("when templates have changed, for good or for bad", async () => {
    using home = makeHome({ script: PLAYS, cortex: { admin } });
    const logged: string[] = [];
    await using cortex = await home.open({ log: (line) => logged.push(line) });
    await cortex.relays.config();
    const file = join(home.path, "config/thread-templates.json");
    writeFileSync(file, "{");
    await expect.poll(async () => (await told(cortex)).length, PATIENT).toBe(1);
    writeFileSync(file, JSON.stringify({ ...TWO, templates: {} }));
    await expect.poll(async () => (await told(cortex)).length, PATIENT).toBe(2);
    const [good, bad] = await told(cortex);
    expect(good).toBe("thread-templates.json hot-reloaded");
    expect(bad).toMatch(/^thread-templates.json has a problem; the previous version stays in use\n/);
    expect(logged).toEqual(expect.arrayContaining([good, bad]));
    const { items } = await cortex.store.outbox.list();
    expect(items[0]).toMatchObject({ target: { channel: "webhook", place: "ops" } });
  });

  test("when they change before anybody has needed them", async () => {
    using home = makeHome({ script: PLAYS, cortex: { admin } });
    await using cortex = await home.open();
    const file = join(home.path, "config/thread-templates.json");
    writeFileSync(file, JSON.stringify({ ...TWO, templates: {} }));
    await expect.poll(() => told(cortex), PATIENT).toEqual(["thread-templates.json hot-reloaded"]);
    writeFileSync(file, "[]");
    await expect.poll(async () => (await told(cortex)).length, PATIENT).toBe(2);
    expect([...(await cortex.relays.config()).agents.keys()]).toEqual(["planner", "coder", "critic"]);
  });

  test("when they are wrong to begin with, and so is whoever names what is missing", async () => {
    const templates = { ...TWO, templates: { two: { ...TWO.templates.two, maxTotalSteps: 0 } } };
    using home = makeHome({ script: PLAYS, cortex: { admin }, templates });
    await using cortex = await home.open();
    await expect(cortex.relays.run({ name: "two", message: "x" })).rejects.toMatchObject({
      code: "template_unknown",
      hint: expect.stringMatching(/The relay files have a problem; run `cortex relay validate`\.$/),
    });
    await expect(cortex.say({ content: "!thread two x" })).rejects.toMatchObject({
      hint: expect.stringContaining("run `cortex relay validate`"),
    });
    await expect
      .poll(() => told(cortex), PATIENT)
      .toEqual([
        expect.stringMatching(/^thread-templates.json has a problem; only its valid entries are in use\n/),
      ]);
  });

  test("when a profile is gone that an agent names", async () => {
    const profiles = (names: readonly string[]) => ({
      defaultProfile: "one",
      profiles: Object.fromEntries(
        names.map((name) => [name, { backend: "offline", script: "script.yaml" }]),
      ),
    });
    const agents = { planner: agent("Plan {{input}}", { profile: "other" }) };
    using home = makeHome({
      script: PLAYS,
      cortex: { admin },
      templates: { agents },
      profiles: profiles(["one", "other"]),
    });
    await using cortex = await home.open();
    expect((await cortex.relays.config()).problems).toEqual([]);
    writeFileSync(join(home.path, "config/profiles.json"), JSON.stringify(profiles(["one"])));
    await expect
      .poll(() => told(cortex), PATIENT)
      .toEqual([expect.stringContaining("agents.planner.profile")]);
  });
});

test("an agent is added to a relay that is over, with what came before it", async () => {
  using home = makeHome({ script: PLAYS });
  await using cortex = await home.open();
  const { id } = await cortex.relays.run({ name: "two", message: "a house" });
  const add = () => cortex.relays.add({ id: id, agent: "critic", message: "Be strict" });
  await end(cortex, id);
  await add();
  const record = await end(cortex, id);
  expect(outputs(record).at(-1)).toEqual(["critic", "judged"]);
  expect(record.steps[2]!.input).toContain("Previous agent output:\n\ncoded\n\n---\n\nJudge Be strict");
  expect(record.userMessage).toBe("a house");
  const unknown = cortex.relays.add({ id: id, agent: "nobody" });
  await expect(unknown).rejects.toMatchObject({ code: "agent_unknown" });
});

test("what comes with an agent that is added reaches it, also where its prompt does not ask for it", async () => {
  const agents = { ...TWO.agents, critic: agent("Judge {{artifactPath}}") };
  using home = makeHome({ script: PLAYS, templates: { ...TWO, agents } });
  await using cortex = await home.open();
  const { id } = await cortex.relays.run({ name: "two", message: "a house" });
  const inputAfter = async (name: string) => {
    await end(cortex, id);
    await cortex.relays.add({ id: id, agent: name, message: "Mind the roof" });
    return (await end(cortex, id)).steps.at(-1)!.input;
  };
  for (const name of ["critic", "coder"])
    expect(await inputAfter(name)).toMatch(/\n\n---\n\nUser replies \(1 buffered\):\n\nMind the roof$/);
});

test("an agent that is added to a turn makes a relay of it, with a workspace", async () => {
  using home = makeHome({ script: [entry("Hello", "main", plays([], "good day")), ...PLAYS] });
  await using cortex = await home.open();
  const { item } = await cortex.send({ content: "Hello" });
  expect(await answerTo(cortex, item)).toBe("good day");
  const turn = (await cortex.store.sessions.head(MAIN_SESSION))!;
  const { id } = await cortex.relays.add({ turn, agent: "critic", message: "What of it?" });
  const record = await end(cortex, id);
  expect(record).toMatchObject({ templateName: "default", status: "completed", channel: MAIN_SESSION });
  expect(outputs(record)).toEqual([
    ["main", "good day"],
    ["critic", "judged"],
  ]);
  expect(record.artifactPath).toBe(join(home.path, "tmp", "threads", id, "artifact.md"));
});

describe("while a step is under way", () => {
  const HELD = [entry("Plan", "planner", plays([["Hold", {}]], "planned")), ...PLAYS.slice(1)];

  async function open(home: Home, tool: Tool): Promise<{ cortex: Cortex; id: RelayId }> {
    const cortex = await home.open({ tools: [tool] });
    const { id } = await cortex.relays.run({ name: "two", message: "a house" });
    return { cortex, id: id };
  }

  test("messages wait for the next step, and too many are counted", async () => {
    using home = makeHome({ script: HELD });
    const { tool, release } = holdTool();
    const opened = await open(home, tool);
    await using cortex = opened.cortex;
    const { id } = opened;
    await expect.poll(() => tool.calls.length, PATIENT).toBe(1);
    for (let at = 1; at <= 11; at++) await cortex.relays.say(id, `reply ${at}`);
    expect(await cortex.relays.say(id, "reply 12")).toEqual({ buffered: 10, dropped: 2, answered: null });
    const added = cortex.relays.add({ id, agent: "critic" });
    await expect(added).rejects.toMatchObject({ code: "state_conflict" });
    release();
    const record = await end(cortex, id);
    expect(record.steps[1]!.input).toContain(
      "User replies (last 10, 2 earlier dropped):\n\nreply 3\n\nreply 4",
    );
    await expect(cortex.relays.say(id, "late")).rejects.toMatchObject({ code: "state_conflict" });
  });

  test("it can be cancelled, which ends its turn, and resumed after that", async () => {
    using home = makeHome({ script: HELD });
    const hold = holdTool();
    const opened = await open(home, hold.tool);
    await using cortex = opened.cortex;
    const { id } = opened;
    await expect.poll(() => hold.tool.calls.length, PATIENT).toBe(1);
    expect(await cortex.relays.cancel(id)).toBe(true);
    expect(await end(cortex, id)).toMatchObject({
      status: "cancelled",
      stopReason: "cancelled",
      error: null,
    });
    expect(hold.aborted).toBe(1);
    expect(await cortex.relays.cancel(id)).toBe(false);
    hold.release();
    expect(await cortex.relays.resume(id)).toMatchObject({ status: "running" });
    const record = await end(cortex, id);
    expect(record).toMatchObject({ status: "completed", stopReason: "no_matching_transition" });
    expect(record.steps.map(({ agentSlotId, status }) => [agentSlotId, status])).toEqual([
      ["planner", "failed"],
      ["planner", "completed"],
      ["coder", "completed"],
    ]);
  });

  test.each([
    ["resume", "completed", null],
    ["fail", "failed", INTERRUPTED],
  ])("Cortex can be stopped: with %s it is then %s", async (onRestart, status, error) => {
    using home = makeHome({ script: HELD, cortex: { relay: { onRestart }, broker: { shutdownMs: 0 } } });
    const hold = holdTool();
    const { cortex, id } = await open(home, hold.tool);
    await expect.poll(() => hold.tool.calls.length, PATIENT).toBe(1);
    await cortex.stop();
    await using again = await home.open({ tools: [testTool("Hold", async () => DONE)] });
    const record = await end(again, id);
    expect(record).toMatchObject({ status, error });
    if (status === "completed") return;
    expect(await again.relays.resume(id)).toMatchObject({ status: "running", error: null });
    expect(await end(again, id)).toMatchObject({ status: "completed" });
  });
});

test("a step that asks a person waits, and goes on with what is said to the relay", async () => {
  const asks = plays([["AskUser", { question: "Which colour?" }]], "planned");
  using home = makeHome({ script: [entry("Plan", "planner", asks), ...PLAYS.slice(1)] });
  await using cortex = await home.open();
  const { id } = await cortex.relays.run({ name: "two", message: "a house" });
  await expect.poll(async () => (await cortex.relays.get(id))?.status, PATIENT).toBe("waiting");
  expect(await cortex.relays.say(id, "red")).toMatchObject({
    buffered: 0,
    answered: expect.any(String),
  });
  const record = await end(cortex, id);
  expect(record).toMatchObject({ status: "completed" });
  const turn = await cortex.store.turns.read(record.steps[0]!.executionId as TurnId);
  expect(JSON.stringify(turn!.toolCalls[0]!.result)).toContain("red");
});

test("a relay that waits for a person waits on after a restart, also where those at work fail", async () => {
  const asks = plays([["AskUser", { question: "Which colour?" }]], "planned");
  using home = makeHome({ script: [entry("Plan", "planner", asks), ...PLAYS.slice(1)] });
  const before = await home.open();
  const { id } = await before.relays.run({ name: "two", message: "a house" });
  await expect.poll(async () => (await before.relays.get(id))?.status, PATIENT).toBe("waiting");
  await before.stop();
  await using cortex = await home.open();
  expect(await cortex.relays.get(id)).toMatchObject({ status: "waiting", error: null });
  await cortex.relays.say(id, "red");
  expect(await end(cortex, id)).toMatchObject({ status: "completed" });
});

test("a relay that an agent waits for ends with the turn that waits", async () => {
  const starts = plays([["relay_start", { template: "two", message: "a house", wait: true }]], "built");
  const held = entry("Plan", "planner", plays([["Hold", {}]], "planned"));
  using home = makeHome({ script: [entry("Build", "main", starts), held, ...PLAYS.slice(1)] });
  const { tool, release } = holdTool();
  await using cortex = await home.open({ tools: [tool] });
  await cortex.send({ content: "Build" });
  await expect.poll(() => tool.calls.length, PATIENT).toBe(1);
  const [relay] = (await cortex.relays.list()).items;
  expect(await cortex.abort(MAIN_SESSION)).toBe(true);
  expect(await end(cortex, relay!.id)).toMatchObject({ status: "cancelled" });
  release();
  await cortex.relays.resume(relay!.id);
  expect(await end(cortex, relay!.id)).toMatchObject({ status: "completed" });
});

test("a relay that nobody waits for tells whoever started it of its end", async () => {
  const starts = plays([["relay_start", { template: "two", message: "a house", wait: false }]], "begun");
  const told = entry("Thread complete", "main", plays([], "heard"));
  using home = makeHome({ script: [entry("^Build", "main", starts), told, ...PLAYS] });
  await using cortex = await home.open();
  const { item } = await cortex.send({ content: "Build" });
  expect(await answerTo(cortex, item)).toBe("begun");
  await expect
    .poll(async () => {
      const head = await cortex.store.sessions.head(MAIN_SESSION);
      return (await cortex.store.turns.read(head!))!.messages.at(-1)!.content;
    }, PATIENT)
    .toBe("heard");
});

test("a relay keeps the templates that it was started with", async () => {
  using home = makeHome({
    script: [entry("Plan", "planner", plays([["Hold", {}]], "planned")), ...PLAYS.slice(1)],
  });
  const { tool, release } = holdTool();
  await using cortex = await home.open({ tools: [tool] });
  const { id } = await cortex.relays.run({ name: "two", message: "a house" });
  await expect.poll(() => tool.calls.length, PATIENT).toBe(1);
  const { two } = TWO.templates;
  const changed = { ...TWO, templates: { two: { ...two, transitions: [] } } };
  writeFileSync(join(home.path, "config/thread-templates.json"), JSON.stringify(changed));
  await expect
    .poll(async () => (await cortex.relays.config()).templates.get("two")?.transitions.length, PATIENT)
    .toBe(0);
  release();
  expect((await end(cortex, id)).steps).toHaveLength(2);
});

test("the caller's own scripts run too, from the first moment on", async () => {
  using home = makeHome({ script: PLAYS });
  await using cortex = await home.open();
  const note = 'note() { echo "$1" >> moments.txt; }; note';
  const extraHooks = {
    onStart: { command: note, args: ["start"], timeout: 20_000 },
    onTransition: { command: note, args: ["transition"] },
    onEnd: { command: "echo end >> moments.txt; true" },
  };
  const { id } = await cortex.relays.run({ name: "two", message: "a house", extraHooks });
  const { steps } = await end(cortex, id);
  expect(steps.map(({ error }) => error)).toEqual([null, null]);
  expect(readFileSync(join(home.path, "moments.txt"), "utf8")).toBe("start\ntransition\nend\n");
});

test.each([
  [{ onEnd: { command: "true", timeoutMs: 5 } }, "extraHooks.onEnd.timeoutMs: "],
  [{ onEnd: { command: "true", timeout: 0 } }, "extraHooks.onEnd.timeout: "],
  [{ onFinish: { command: "true" } }, "extraHooks.onFinish: "],
])("extra hooks that no template could have are refused: %j", async (extraHooks, where) => {
  using home = makeHome({ script: PLAYS });
  await using cortex = await home.open();
  const started = cortex.relays.run({ name: "two", message: "a house", extraHooks: extraHooks as never });
  await expect(started).rejects.toMatchObject({
    code: "request_invalid",
    message: expect.stringContaining(where),
  });
  expect((await cortex.relays.list()).items).toEqual([]);
});

test("a dry run says which way a relay takes, and leaves nothing behind", async () => {
  const hooks = { onEnd: { command: "touch was-here" } };
  const { two } = TWO.templates;
  const templates = { ...TWO, templates: { two: { ...two, hooks } } };
  using home = makeHome({ script: PLAYS, templates });
  await using cortex = await home.open();
  const dry = await cortex.relays.dryRun({ name: "two", message: "a house" });
  expect(dry).toMatchObject({ template: "two", stopReason: "no_matching_transition" });
  expect(dry.steps.map((step) => step.agent)).toEqual(["planner", "coder"]);
  expect(dry.steps[0]!.prompt).toMatch(/Plan a house$/);
  expect((await cortex.relays.list()).items).toEqual([]);
});

test("relays that are over for long leave the lists, and their workspaces go", async () => {
  using home = makeHome({ script: PLAYS });
  let nowMs = Date.now();
  const clock = (): number => nowMs;
  const before = await home.open({ clock });
  const { id } = await before.relays.run({ name: "two", message: "a house" });
  await end(before, id);
  await before.stop();
  nowMs += KEPT_MS + 1;
  await using cortex = await home.open({ clock });
  expect((await cortex.relays.list()).items).toEqual([]);
  expect(await cortex.relays.get(id)).toMatchObject({ id, status: "completed" });
  expect(await cortex.relays.artifact(id)).toBeUndefined();
  expect(await cortex.relays.artifact(id, 1)).toBeUndefined();

  await cortex.relays.add({ id: id, agent: "planner" }); // it is wanted again, in a new folder
  expect(await end(cortex, id)).toMatchObject({ status: "completed" });
  expect(await cortex.relays.artifact(id)).toBe("the plan\nthe code\n");
  expect((await cortex.relays.list()).items).toMatchObject([{ id }]);
});

test("what is in threads.json is taken over once", async () => {
  const thread = {
    id: "thr_a1b2c3d4",
    templateName: "coder-review",
    status: "running",
    channel: "C1",
    userMessage: "Do it",
    activeAgent: "coder",
    steps: [
      {
        stepIndex: 0,
        agentSlotId: "planner",
        output: "planned",
        costUsd: 0.5,
        endedAt: "2026-01-01T00:00:00Z",
      },
    ],
    totalCostUsd: 0.5,
    createdAt: "2026-01-01T00:00:00.000Z",
  };
  const text = JSON.stringify({ thr_a1b2c3d4: thread, broken: { id: "x" } });
  const nowMs = Date.parse("2026-01-02T00:00:00Z");
  using home = makeHome({ script: [], files: { "data/threads.json": text } });
  for (let opened = 0; opened < 2; opened++) {
    await using cortex = await home.open({ clock: () => nowMs });
    const { items } = await cortex.relays.list({ channel: "C1" });
    expect(items).toMatchObject([
      { id: "thr_a1b2c3d4", status: "failed", error: INTERRUPTED, totalCostUsd: 0.5 },
    ]);
    expect(items[0]!.steps).toMatchObject([{ agentSlotId: "planner", output: "planned" }]);
  }
  expect(readFileSync(join(home.path, "data/threads.json"), "utf8")).toBe(text);
  await using cortex = await home.open({ clock: () => nowMs });
  await cortex.relays.resume("thr_a1b2c3d4" as RelayId);
  expect(await end(cortex, "thr_a1b2c3d4")).toMatchObject({
    status: "failed",
    error: expect.stringContaining("coder"),
  });
});
