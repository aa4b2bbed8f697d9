/** Scripts between the steps of a relay: real programs, which the test writes. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { always, openStage, relayConfig, type Stage } from "../../../test/support/played-relays.ts";
import { finish } from "../record/ending.ts";
import { updateRelay } from "../record/kept-relay.ts";
import type { RelayRecord } from "../record/record.ts";
import type { ScriptContext } from "../record/script-context.ts";

const path = ({ steps }: RelayRecord) => steps.map(({ agentSlotId, kind }) => `${kind} ${agentSlotId}`);
type Id = Parameters<Stage["read"]>[0];

/** Appends what it is told to a file, and answers what the test says. */
const TELLS = `
const fs = require("node:fs");
const told = JSON.parse(fs.readFileSync(0, "utf8"));
fs.appendFileSync("told.jsonl", JSON.stringify(told) + "\\n");
process.stdout.write(process.argv[2] ?? "");
`;
const tells = (answer?: object, rest: object = {}) => ({
  command: "node tell.cjs",
  ...(answer === undefined ? {} : { args: [JSON.stringify(answer)] }),
  ...rest,
});

function toldIn(home: string): ScriptContext[] {
  const file = join(home, "told.jsonl");
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as ScriptContext);
}

const config = (hooks: object) => relayConfig([always("a", "d"), always("d", "b")], { hooks });
const files = { "tell.cjs": TELLS };
const done = () => ({});

async function cancel(stage: Stage, id: Id): Promise<boolean> {
  const record = await updateRelay(id, stage.store, (relay) => {
    const ended = finish(relay.record, { stopReason: "cancelled" }, stage.clock());
    return ended === relay.record ? undefined : { record: ended, stop: "cancelled" };
  });
  if (record !== undefined) stage.engine.interrupt(id);
  return record !== undefined;
}

test("scripts are told where the relay stands, each at its moment and once", async () => {
  const hooks = { onStart: tells(), onTransition: tells(), onEnd: tells() };
  await using stage = await openStage(config(hooks), ({ name }) => ({ writes: `${name}\n` }), { files });
  const record = await stage.ended(await stage.run());
  const told = toldIn(stage.home);
  expect(told.map(({ phase, activeAgent, previousAgent }) => [phase, activeAgent, previousAgent])).toEqual([
    ["start", "a", null],
    ["transition", "d", "a"],
    ["transition", "b", "d"],
    ["end", "b", "b"],
  ]);
  expect(told[0]).toMatchObject({
    threadId: record.id,
    templateName: "test",
    steps: [],
    artifactContent: "",
    userMessage: "Do it",
    totalCostUsd: 0,
  });
  expect(told[3]).toMatchObject({ artifactContent: "a\nd\nb\n", stopReason: "no_matching_transition" });
  expect(told[3]!.steps).toHaveLength(3);
  expect(record.steps).toHaveLength(3);
});

test("a script can insert an agent, and the relay then goes on", async () => {
  const answer = { insertAgent: true, prompt: "Clean up", profile: "claude-haiku", directive: "You clean." };
  await using stage = await openStage(config({ onTransition: tells(answer) }), done, { files });
  const record = await stage.ended(await stage.run());
  expect(path(record)).toEqual([
    "agent a",
    "inserted hook-transition",
    "agent d",
    "inserted hook-transition",
    "agent b",
  ]);
  expect(stage.asked[1]).toEqual({
    step: 1,
    name: "hook-transition",
    prompt: "You clean.\n\nClean up",
    session: `thr:${record.id}:hook-transition:1`,
  });
  const worker = (await stage.store.sessions.get(stage.asked[1]!.session as never))?.worker;
  expect(worker).toMatchObject({ profile: "claude-haiku" });
  expect(record.agents).not.toHaveProperty("hook-transition");
});

test("a script can send an agent a message in its session", async () => {
  const answer = { targetAgent: "d", insertAgent: true, prompt: "Look again" };
  await using stage = await openStage(config({ onEnd: tells(answer) }), done, { files });
  const record = await stage.ended(await stage.run());
  expect(path(record)).toEqual(["agent a", "agent d", "agent b", "inserted d"]);
  expect(stage.asked.at(-1)).toMatchObject({ prompt: "Look again", session: `thr:${record.id}:d` });
  expect(record).toMatchObject({ status: "completed", stopReason: "no_matching_transition" });
});

test.each([
  ["an agent that a script inserts", { insertAgent: true }, 1],
  ["an agent that a script writes to", { targetAgent: "d" }, -1],
])("the variables of prompts are filled in for %s", async (_, who, step) => {
  const named =
    "{{userMessage}}|{{input}}|{{previousOutput}}|{{artifactPath}}|{{currentDateTime}}|{{modifiedFiles}}";
  const answer = {
    ...who,
    prompt: `${named}|{{#if input}}yes{{/if}}|{{theirs}}`,
    directive: "In {{artifactPath}}.",
  };
  const hooks = step === 1 ? { onTransition: tells(answer) } : { onEnd: tells(answer) };
  await using stage = await openStage(
    config(hooks),
    ({ name, session }) => {
      const path = `${session.split(":")[1]!}.txt`;
      const calls = [{ tool: "Write", params: { path, content: "x" } }];
      return { says: `done by ${name}`, calls };
    },
    { files },
  );
  const record = await stage.ended(await stage.run());
  const path = record.artifactPath;
  const before = step === 1 ? "done by a" : "done by b";
  const written = join(record.workspacePath, `${record.id}.txt`);
  expect(stage.asked.at(step)!.prompt).toMatch(
    new RegExp(
      `In ${path}\\.\n\nDo it\\|${before}\\|${before}\\|${path}\\|\\d{4}-[^|]+\\|- ${written}\\|yes\\|\\{\\{theirs\\}\\}$`,
    ),
  );
});

test("an inserted step counts for the cost, not for the number of steps", async () => {
  const two = relayConfig([always("a", "b")], {
    maxTotalSteps: 2,
    hooks: { onTransition: tells({ insertAgent: true, prompt: "x" }) },
  });
  await using stage = await openStage(two, () => ({ costUsd: 0.25 }), { files });
  const record = await stage.ended(await stage.run());
  expect(record).toMatchObject({ totalCostUsd: 0.75, steps: { length: 3 } });
});

test("the caller's scripts come after the template's", async () => {
  const extraScripts = {
    onEnd: {
      command: "node tell.cjs",
      args: [JSON.stringify({ insertAgent: true, prompt: "extra" })],
      timeoutMs: 9000,
    },
  };
  const hooks = { onEnd: tells({ insertAgent: true, prompt: "own" }) };
  await using stage = await openStage(config(hooks), done, { files, extraScripts });
  await stage.ended(await stage.run());
  expect(stage.asked.slice(-2).map(({ prompt }) => prompt)).toEqual(["own", "extra"]);
});

test.each([
  ["fails", "echo oh no >&2; exit 3", /^Exit code 3\noh no$/],
  ["answers nonsense", "echo hello", /not a single JSON value/],
  ["names an agent that is not there", `echo '{"targetAgent":"nobody","prompt":"x"}'`, /nobody/],
  ["does not exist", "no-such-program", /^Exit code 127/],
])("a script that %s fails nothing, and is recorded", async (_name, command, error) => {
  await using stage = await openStage(config({ onTransition: { command } }), done);
  const record = await stage.ended(await stage.run());
  expect(record.status).toBe("completed");
  const [, script] = record.steps;
  expect(script).toMatchObject({ kind: "script", agentSlotId: "hook-transition", status: "failed" });
  expect(script!.error).toMatch(error);
});

test("a script that hangs is ended, and the relay goes on", async () => {
  await using stage = await openStage(config({ onStart: { command: "sleep 600", timeout: 50 } }), done);
  const record = await stage.ended(await stage.run());
  expect(record.status).toBe("completed");
  expect(record.steps[0]!.error).toMatch(/^Timed out after 50 ms/);
});

test("a relay is cancelled during a script, once, and its end is told", async () => {
  const hooks = { onStart: { command: "touch begun; sleep 600 #" }, onEnd: tells() };
  await using stage = await openStage(config(hooks), done, { files });
  const id = await stage.run();
  await expect.poll(() => existsSync(join(stage.home, "begun"))).toBe(true);
  expect(await cancel(stage, id)).toBe(true);
  expect(await cancel(stage, id)).toBe(false);
  const record = await stage.ended(id);
  expect(record).toMatchObject({ status: "cancelled", stopReason: "cancelled", steps: [] });
  expect(toldIn(stage.home).map(({ phase, stopReason }) => [phase, stopReason])).toEqual([
    ["end", "cancelled"],
  ]);
});

test("a relay is cancelled during a step, which is ended first", async () => {
  await using stage = await openStage(config({ onEnd: tells() }), () => ({ holds: true }), { files });
  const id = await stage.run();
  await stage.reached(1);
  expect(await cancel(stage, id)).toBe(true);
  const record = await stage.ended(id);
  expect(record).toMatchObject({ status: "cancelled", error: null });
  expect(record.steps).toMatchObject([{ status: "failed", error: "Its turn was aborted" }]);
  expect(toldIn(stage.home)).toMatchObject([{ phase: "end", steps: [{ error: "Its turn was aborted" }] }]);
  expect(await cancel(stage, id)).toBe(false);
});

test.each([
  ["aborted", () => ({ writes: "[ABORT: x]\n" })],
  ["failed", () => ({ fails: "no" })],
  ["completed", done],
])("the scripts for the end are told once of a relay that is %s", async (status, cast) => {
  await using stage = await openStage(config({ onEnd: tells() }), cast, { files });
  expect((await stage.ended(await stage.run())).status).toBe(status);
  expect(toldIn(stage.home)).toHaveLength(1);
});

test("a script that had begun when the process ended is not begun again", async () => {
  const hooks = { onTransition: tells() };
  await using stage = await openStage(config(hooks), done, { files });
  stage.crashAt(3, "before"); // the one that records what the first script has answered
  const id = await stage.run();
  await stage.crashed;
  expect(toldIn(stage.home)).toHaveLength(1);
  await stage.reopen("resume");
  const record = await stage.ended(id);
  expect(path(record)).toEqual(["agent a", "script hook-transition", "agent d", "agent b"]);
  expect(record.steps[1]!.error).toMatch(/its effects are unknown/);
  expect(toldIn(stage.home)).toHaveLength(2);
});

test("what an inserted agent writes can abort the relay", async () => {
  const hooks = { onTransition: tells({ insertAgent: true, prompt: "x" }) };
  await using stage = await openStage(
    config(hooks),
    ({ name, session }) => {
      if (name !== "hook-transition") return {};
      const id = session.split(":")[1]!;
      appendFileSync(join(stage.home, "tmp", "threads", id, "artifact.md"), "[ABORT: stop]\n");
      return {};
    },
    { files },
  );
  expect(await stage.ended(await stage.run())).toMatchObject({ status: "aborted", abortReason: "stop" });
});

/** The agent d, with more to it. */
function configWith(agent: object, template: object) {
  const made = relayConfig([always("a", "d")], template) as { agents: Record<string, object> };
  return { ...made, agents: { ...made.agents, d: { ...made.agents["d"], ...agent } } };
}

const workerIn = async (stage: Stage, session: string) =>
  (await stage.store.sessions.get(session as never))?.worker;

test("an agent that a script sends a message to is told first who it is, and stays that", async () => {
  const answer = { targetAgent: "d", prompt: "Look out" };
  const hooks = { onStart: tells(answer), onEnd: tells(answer) };
  const d = { directive: "You are d.", systemPrompt: "Be d." };
  await using stage = await openStage(configWith(d, { hooks }), done, { files });
  const workers: unknown[] = [];
  const id = await stage.run();
  for (const steps of [1, 3, 4]) {
    await stage.reached(steps);
    workers.push(await workerIn(stage, `thr:${id}:d`));
  }
  await stage.ended(id);
  const [first, , own, last] = stage.asked;
  expect(first!.prompt).toMatch(/^You are d\.\n\n\[Cortex Thread Protocol\][^]*\n\nLook out$/);
  expect(own!.prompt).toMatch(/^Work in /);
  expect(last!.prompt).toBe("Look out");
  expect(workers).toMatchObject([
    { systemPrompt: "Be d." },
    { systemPrompt: "Be d." },
    { systemPrompt: "Be d." },
  ]);
});

test("what a script asks for may cost what is left, and is refused where nothing is", async () => {
  const hooks = { onTransition: tells({ insertAgent: true, prompt: "x" }) };
  const limited = relayConfig([always("a", "b"), always("b", "c")], { maxTotalCostUsd: 1, hooks });
  await using stage = await openStage(limited, () => ({ costUsd: 0.4 }), { files });
  const record = await stage.ended(await stage.run());
  expect(record.stopReason).toBe("cost_limit");
  expect(path(record)).toEqual(["agent a", "inserted hook-transition", "agent b"]);
  const worker = (await workerIn(stage, stage.asked[1]!.session)) as { costUsd: number };
  expect(worker.costUsd).toBeCloseTo(0.6);
});

test("at the end, too, nothing is begun that there is no money for", async () => {
  const hooks = { onEnd: tells({ insertAgent: true, prompt: "x" }) };
  await using stage = await openStage(config(hooks), () => ({ costUsd: 0.4 }), { files, usdPerDay: 0.7 });
  const record = await stage.ended(await stage.run());
  expect(record).toMatchObject({ status: "completed", stopReason: "cost_limit" });
  expect(record.steps.at(-1)).toMatchObject({
    kind: "script",
    error: expect.stringMatching(/the budget is used up/),
  });
});

test("a prompt of a script that is too long for a message fails nothing, and is recorded", async () => {
  const command = `node -e 'console.log(JSON.stringify({targetAgent: "d", prompt: "x".repeat(1048500)}))'`;
  await using stage = await openStage(config({ onTransition: { command } }), done);
  const record = await stage.ended(await stage.run());
  expect(record.status).toBe("completed");
  expect(record.steps[1]).toMatchObject({ kind: "script", error: expect.stringMatching(/bytes/) });
  expect(stage.problems).toEqual([]);
});

test("a relay that is cancelled right before its script begins does not wait for it", async () => {
  const hooks = { onStart: { command: "touch begun; sleep 600 #" } };
  let cancelled: Promise<boolean> | undefined;
  await using stage = await openStage(config(hooks), done, {
    async onSaved(save) {
      if (save === 1) await (cancelled = cancel(stage, id));
    },
  });
  const id = await stage.run();
  expect(await stage.ended(id)).toMatchObject({ status: "cancelled" });
  expect(await cancelled).toBe(true);
  expect(existsSync(join(stage.home, "begun"))).toBe(false);
});
