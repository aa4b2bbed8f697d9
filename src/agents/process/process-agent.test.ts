import { afterAll, beforeAll, expect, test } from "vitest";

import { answerByScript } from "../../../test/support/model-script.ts";
import { startModelServer } from "../../../test/support/model-server.ts";
import { question, userMessage } from "../../../test/support/question.ts";
import {
  answerOf,
  type Journal,
  journalOf,
  openPool,
  processAgent,
  program,
  read,
  runTurn,
  type TestPool,
} from "../../../test/support/sub-agents.ts";
import { type AssistantBody, assistantBody, callsOf, type Message } from "../../model/message.ts";
import type { Profile } from "../../model/profile.ts";
import type { AgentRequest, Delta } from "../agent.ts";

/** Most tests share it, as turns do. */
let pool: TestPool;
beforeAll(() => void (pool = openPool()));
afterAll(() => pool[Symbol.asyncDispose]());

const THREE_FILES = [
  [
    { name: "Read", args: { path: "a" } },
    { name: "Read", args: { path: "b" } },
  ],
  [{ name: "Read", args: { path: "c" } }],
];
const SCRIPTED = `Read three files\nCALLS ${JSON.stringify(THREE_FILES)}`;
const STEPS = `Read three files\n${JSON.stringify(THREE_FILES.map((step) => step.map(({ name, args }) => [name, args])))}`;

const served = (url: string, more: Partial<Profile> = {}): Profile =>
  question({ provider: "openai-compatible", baseUrl: url, model: "scripted", ...more }).profile;

const spentOn = (message: Message): Pick<AssistantBody, "usage" | "costUsd"> =>
  assistantBody(message) as AssistantBody;

/** What was said to the turn while it is at work, once. */
function steering(journal: Journal, text: string): Pick<AgentRequest, "beforeModelCall"> {
  let asked = 0;
  return {
    async beforeModelCall() {
      const messages = ++asked === 2 ? [userMessage(text)] : [];
      journal.messages.push(...messages);
      return { kind: "go", messages };
    },
  };
}

test("the offline model answers from a child, and is heard while it speaks", async () => {
  const deltas: Delta[] = [];
  const journal = journalOf("hello");
  const result = await runTurn(processAgent(pool), journal, { onDelta: (delta) => deltas.push(delta) });

  const answer = answerOf(result);
  expect(answer).toMatchObject({ id: "turn-1", role: "assistant" });
  expect(answer.content).toContain("offline model");
  expect(deltas.map(({ text }) => text).join("")).toBe(answer.content);
  expect(spentOn(answer).usage.output).toBeGreaterThan(0);
});

test("a child asks a model with the key it was sent, and its calls are made by the parent", async () => {
  await using server = await startModelServer({ answer: answerByScript, strict: true });
  const journal = journalOf(SCRIPTED);
  const agent = processAgent(pool, { credentials: async () => ({ SOME_KEY: "sk-of-the-child" }) });
  const result = await runTurn(agent, journal, {
    profile: served(server.openaiUrl, { apiKeyEnv: "SOME_KEY" }),
    system: "Be a reader.",
  });

  expect(answerOf(result).content).toContain("done: Read three files");
  expect(journal.toolCalls.map(({ ordinal, params }) => [ordinal, params])).toEqual([
    [0, { path: "a" }],
    [1, { path: "b" }],
    [2, { path: "c" }],
  ]);
  expect(journal.messages.map(({ role }) => role)).toEqual(["user", "assistant", "assistant"]);
  expect(new Set(journal.messages.map(({ id }) => id)).size).toBe(3);
  expect(server.requests[0]!.headers.authorization).toBe("Bearer sk-of-the-child");
  expect(server.requests[0]!.messages[0]).toMatchObject({ role: "system", text: "Be a reader." });
  expect(server.requests[2]!.messages.slice(2).map(({ role, text }) => [role, text])).toEqual([
    ["assistant", ""],
    ["tool", "content of a"],
    ["tool", "content of b"],
    ["assistant", ""],
    ["tool", "content of c"],
  ]);
  expect(server.problems).toEqual([]);
});

test("what is said to a turn reaches the child before it asks its model again", async () => {
  await using server = await startModelServer({ answer: answerByScript, strict: true });
  const journal = journalOf(SCRIPTED);
  const result = await runTurn(processAgent(pool), journal, {
    profile: served(server.openaiUrl),
    ...steering(journal, "Stop reading"),
  });

  expect(answerOf(result).content).toBe("done: Stop reading");
  expect(server.requests[1]!.messages.slice(2).map(({ role, text }) => [role, text])).toEqual([
    ["assistant", ""],
    ["tool", "content of a"],
    ["tool", "content of b"],
    ["user", "Stop reading"],
  ]);
});

test("a turn that waits has no child, and another one goes on with it", async () => {
  await using server = await startModelServer({ answer: answerByScript, strict: true });
  const journal = journalOf(SCRIPTED);
  const profile = served(server.openaiUrl);
  const agent = processAgent(pool);
  const suspended = await runTurn(agent, journal, {
    profile,
    callTool: async (call, ordinal) =>
      ordinal === 1 ? { kind: "suspended" } : { kind: "done", call: read(journal, call, ordinal) },
  });
  expect(suspended).toEqual({ kind: "suspended" });
  await expect.poll(() => pool.pool.counts.busy).toBe(0);

  const result = await runTurn(agent, journal, { profile });

  expect(answerOf(result).content).toContain("done: Read three files");
  expect(journal.toolCalls.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2]);
  expect(server.requests.length).toBe(3);
});

test("a turn that still waits is not given a child", async () => {
  const journal = journalOf("hello");
  const call = { type: "toolCall", id: "x", name: "Read", arguments: {} };
  journal.messages.push({ ...userMessage("x"), role: "assistant", body: { blocks: [call] } });
  const agent = processAgent(pool, { worker: { command: ["/there/is/no/such/program"] } });
  expect(await runTurn(agent, journal, { callTool: async () => ({ kind: "suspended" }) })).toEqual({
    kind: "suspended",
  });
});

test("a turn that is aborted while the model speaks keeps what was said", async () => {
  const never = Promise.withResolvers<void>();
  await using server = await startModelServer({
    answer: () => ({ text: "Once upon a time", gate: never.promise, gateAt: "middle" }),
  });
  const abort = new AbortController();
  const result = await runTurn(processAgent(pool), journalOf("Tell"), {
    profile: served(server.openaiUrl),
    signal: abort.signal,
    onDelta: () => abort.abort(),
  });
  expect(result).toMatchObject({ kind: "aborted", partial: { content: "Once upo" } });
});

test("a limit of the turn ends it, whatever the child wants", async () => {
  await using server = await startModelServer({ answer: answerByScript });
  let asked = 0;
  const result = await runTurn(processAgent(pool), journalOf(SCRIPTED), {
    profile: served(server.openaiUrl),
    beforeModelCall: async () =>
      ++asked > 1 ? { kind: "stop", text: "Enough." } : { kind: "go", messages: [] },
  });
  expect(answerOf(result).content).toBe("Enough.");
  expect(server.requests.length).toBe(1);
});

test("a child ends by itself at the number of turns that it has", async () => {
  await using server = await startModelServer({ answer: answerByScript });
  const agent = processAgent(pool, { worker: { maxTurns: 2 } });
  const result = await runTurn(agent, journalOf(SCRIPTED), { profile: served(server.openaiUrl) });
  expect(answerOf(result).content).toContain("made 2 model calls");
  expect(server.requests.length).toBe(2);
});

test("a model that fails is told as what it is, so that the turn is tried again or elsewhere", async () => {
  await using server = await startModelServer({
    answer: () => ({ fault: { status: 429, headers: { "retry-after": "7" }, body: "slow down" } }),
  });
  await expect(
    runTurn(processAgent(pool), journalOf("x"), { profile: served(server.openaiUrl) }),
  ).rejects.toMatchObject({ code: "model_failed", transient: true, retryAfterMs: 7000 });
  await expect(
    runTurn(processAgent(pool), journalOf("x"), {
      profile: served(server.openaiUrl, { apiKeyEnv: "NOT_SENT" }),
    }),
  ).rejects.toMatchObject({ code: "model_unconfigured", transient: false });
});

test("a conversation of ten megabytes reaches the child whole", async () => {
  const earlier = userMessage("y".repeat(10_000_000));
  const result = await runTurn(processAgent(pool), journalOf("What did I say?"), {
    history: [{ messages: [earlier], toolCalls: [] }],
  });
  expect(answerOf(result).content).not.toBe("");
});

test("a conversation that is longer than a line may be is refused", async () => {
  const earlier = userMessage("y".repeat(33 * 1024 * 1024));
  await expect(
    runTurn(processAgent(pool), journalOf("x"), { history: [{ messages: [earlier], toolCalls: [] }] }),
  ).rejects.toMatchObject({ code: "sub_agent_failed", transient: false });
});

test.each([
  ["only requests calls", [], 0, 0.25],
  ["announces its calls", ["says"], 0.05, 0.15],
])("somebody else's program that %s is a sub-agent too", async (_, args, perStep, last) => {
  const journal = journalOf(STEPS);
  const agent = processAgent(pool, { worker: { command: program("program.mjs", "2", ...args) } });
  const result = await runTurn(agent, journal, steering(journal, "Hurry"));

  const answer = answerOf(result);
  expect(answer.content).toBe("ok content of a; heard Hurry; ok content of b; ok content of c");
  expect(journal.toolCalls.map(({ params }) => params)).toEqual([
    { path: "a" },
    { path: "b" },
    { path: "c" },
  ]);
  const made = journal.messages.filter(({ role }) => role === "assistant");
  expect(made.map((message) => callsOf(message).length)).toEqual([2, 1]);
  expect(made.map((message) => spentOn(message).costUsd)).toEqual([perStep, perStep]);
  expect(spentOn(answer).costUsd).toBeCloseTo(last);
});

test("a program that knows only the first version of the protocol is one as well", async () => {
  const agent = processAgent(pool, { worker: { command: program("program.mjs", "1") } });
  const answer = answerOf(await runTurn(agent, journalOf("[]")));
  expect(answer.content).toBe("nothing");
  expect(spentOn(answer)).toMatchObject({ usage: { input: 100, output: 50 }, costUsd: 0.25 });
});

test.each([
  ["only requests calls", []],
  ["announces its calls", ["says"]],
])("a program that %s begins again, and is told what is known already", async (_, args) => {
  const journal = journalOf(STEPS);
  const agent = processAgent(pool, { worker: { command: program("program.mjs", "2", ...args) } });
  const suspended = await runTurn(agent, journal, {
    ...steering(journal, "Hurry"),
    callTool: async (call, ordinal) =>
      ordinal === 2 ? { kind: "suspended" } : { kind: "done", call: read(journal, call, ordinal) },
  });
  expect(suspended.kind).toBe("suspended");

  const answer = answerOf(await runTurn(agent, journal));

  expect(answer.content).toBe("ok content of a; heard Hurry; ok content of b; ok content of c");
  expect(journal.toolCalls.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2]);
  expect(spentOn(answer).costUsd).toBe(0.25);
});

test("a program that does something else the second time has its new calls made", async () => {
  const journal = journalOf(STEPS);
  const command = program("program.mjs");
  await runTurn(processAgent(pool, { worker: { command } }), journal);
  const other = JSON.stringify([[["Read", { path: "a" }]], [["Read", { path: "other" }]]]);
  journal.messages[0] = userMessage(other);

  const answer = answerOf(await runTurn(processAgent(pool, { worker: { command } }), journal));

  expect(answer.content).toBe("ok content of a; ok content of other");
  expect(journal.toolCalls.at(-1)).toMatchObject({ ordinal: 3, params: { path: "other" } });
});
