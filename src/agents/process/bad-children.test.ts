/** What children do that they should not, and what becomes of them and of the turn. */
import { expect, test } from "vitest";

import {
  answerOf,
  isRunning,
  type Journal,
  journalOf,
  openPool,
  processAgent,
  program,
  runTurn,
} from "../../../test/support/sub-agents.ts";
import type { CortexError } from "../../model/errors.ts";
import { type AssistantBody, assistantBody } from "../../model/message.ts";
import { PASSED_ON } from "../../programs/environment.ts";
import type { AgentRequest, AgentResult } from "../agent.ts";
import { MAX_LINE_BYTES } from "./lines.ts";
import type { ChildTimes } from "./child.ts";
import { MAX_STDERR_BYTES, StderrTail } from "./child.ts";
import { PassThrough } from "node:stream";

interface Circumstances extends Partial<AgentRequest> {
  readonly times?: Partial<ChildTimes>;
  readonly silenceMs?: number;
  readonly timeoutMs?: number;
}

/** Runs a turn with one of them. Nothing of it is left when this resolves. */
async function runBad(
  kind: string,
  { times = {}, silenceMs = 60_000, timeoutMs, ...more }: Circumstances = {},
  journal: Journal = journalOf("hello"),
): Promise<AgentResult> {
  await using pool = openPool({ times });
  const worker = { command: program("bad.mjs", kind), timeoutMs };
  return await runTurn(processAgent(pool, { worker, silenceMs }), journal, more);
}

async function failureOf(
  kind: string,
  circumstances?: Circumstances,
  journal?: Journal,
): Promise<CortexError> {
  const error: unknown = await runBad(kind, circumstances, journal).then(
    (result) => new Error(`It ended as ${JSON.stringify(result)}`),
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ code: "sub_agent_failed", hint: expect.stringMatching(/\w/) });
  return error as CortexError;
}

test.each([
  ["prints garbage", "(not JSON): Loading the model … done"],
  ["says that it is late", "(not JSON): late"],
  ["prints no object", "(not an object): [1, 2]"],
  ["prints garbage when it is at work", '(not JSON): {"type":"chunk"'],
  ["prints a line without end", `more than ${MAX_LINE_BYTES} bytes`],
  ["prints what is not UTF-8", "line: not UTF-8"],
  ["is ready as somebody else", 'sent the id "agent:other:main"'],
  ["is done as somebody else", 'sent the id "agent:other:main"'],
  ["speaks a newer version", "speaks protocol version 3"],
  ["is done before it is ready", 'sent "done" before it was ready'],
  ["is ready twice", "sent ready twice"],
  ["ends without an answer", "ended without an answer"],
  ["ends while a call is open", "ended before it had the results"],
  ["requests another call than it announced", 'requested a different call than announced as "a"'],
  ["requests a call twice", 'requested the call "a" twice'],
  ["says too much", `sent chunks of more than ${MAX_LINE_BYTES} characters`],
  ["announces nothing", "sent a message without calls"],
])("a child that %s has failed for good", async (kind, message) => {
  const error = await failureOf(kind);
  expect(error.message).toContain(message);
  expect(error.transient).toBe(false);
});

test.each<[string, string, Circumstances]>([
  ["prints nothing", "was not ready within 0.5 s", { times: { readyMs: 500 } }],
  ["falls silent", "sent nothing for 0.5 s", { silenceMs: 500 }],
  ["exits at once", "exited with code 3 before it was done. Standard error: there is no model here", {}],
  ["prints half a line", "line: incomplete", {}],
  ["exits when it has begun", "exited with code 4 before it was done", {}],
  ["dies of a signal", "was killed by SIGKILL before it was done", {}],
  ["closes its output", "closed its output before it was done", { times: { killMs: 100 } }],
])("a turn whose child %s can be tried again", async (kind, message, circumstances) => {
  const error = await failureOf(kind, circumstances);
  expect(error.message).toContain(message);
  expect(error.transient).toBe(true);
});

test("a child that says much and never ends is ended when its time is over", async () => {
  const error = await failureOf("chatters for ever", { timeoutMs: 300 });
  expect(error.message).toContain("worked for more than 0.3 s");
  expect(error.transient).toBe(false);
});

test("a child that has nothing to say is asked whether it lives before it is given up", async () => {
  const result = await runBad("speaks only when it is asked whether it lives", { silenceMs: 4_000 });
  expect(answerOf(result).content).toBe("done");
});

test("a program that is not there has failed for good", async () => {
  await using pool = openPool();
  const agent = processAgent(pool, { worker: { command: ["/there/is/no/such/program"] } });
  await expect(runTurn(agent, journalOf("x"))).rejects.toMatchObject({
    code: "sub_agent_failed",
    message: expect.stringContaining("/there/is/no/such/program"),
    transient: false,
  });
  expect(pool.pool.counts).toEqual({ busy: 0, kept: 0, waiting: 0 });
});

test("a child that ignores being told to end is killed", async () => {
  const abort = new AbortController();
  const result = await runBad("ignores SIGTERM", {
    times: { cancelMs: 100, termMs: 100 },
    signal: abort.signal,
    onDelta: () => abort.abort(),
  });
  expect(result).toMatchObject({ kind: "aborted", partial: { content: "Never. " } });
});

test("a child that complains without end is heard to the end", async () => {
  expect(answerOf(await runBad("floods its standard error")).content).toBe("done");
});

test("of what a child complains of, only the last is kept", () => {
  const stderr = new PassThrough();
  const tail = new StderrTail(stderr);
  for (let i = 0; i < 100; i++) stderr.emit("data", Buffer.alloc(10_000, "e"));
  stderr.emit("data", Buffer.from("the reason"));
  expect(tail.bytes).toBe(MAX_STDERR_BYTES);
  expect(tail.described).toMatch(/^\. Standard error: …e{1990}the reason$/);
});

test("a grandchild that stays is gone when its turn is over", async () => {
  const pid = Number(answerOf(await runBad("leaves a grandchild")).content);
  expect(pid).toBeGreaterThan(1);
  await expect.poll(() => isRunning(pid)).toBe(false);
});

test("a tool that the child does not have is refused by the turn, and the child is told", async () => {
  await using pool = openPool();
  const agent = processAgent(pool, { worker: { command: program("program.mjs") } });
  const journal = journalOf(JSON.stringify([[["Nuke", {}]]]));
  expect(answerOf(await runTurn(agent, journal)).content).toBe("error Unknown tool Nuke");
});

test("a child that wants more turns than it has is ended with what the limit says", async () => {
  const journal = journalOf("x");
  const result = await runBad(
    "asks for ever",
    {
      times: { cancelMs: 100 },
      beforeModelCall: async () =>
        journal.toolCalls.length >= 3
          ? { kind: "stop", text: "I stopped here." }
          : { kind: "go", messages: [] },
    },
    journal,
  );
  expect(answerOf(result).content).toBe("I stopped here.");
  expect(journal.toolCalls).toHaveLength(3);
});

test.each([
  ["fails", "The sub-agent failed: the disk is full", true],
  ["does not succeed", "The sub-agent failed: no luck", false],
])("what a child that %s has cost is counted", async (kind, message, transient) => {
  const journal = journalOf("x");
  const error = await failureOf(kind, {}, journal);
  expect(error).toMatchObject({ message, transient });
  const noted = assistantBody(journal.messages.at(-1)!) as AssistantBody;
  expect(noted).toMatchObject({ blocks: [], usage: { input: 9, output: 3 }, costUsd: 0.5 });
});

test("a turn that is tried again does not tell the model of an attempt that has only cost", async () => {
  const journal = journalOf("hello");
  await failureOf("fails", {}, journal);
  await using pool = openPool();
  const answer = answerOf(await runTurn(processAgent(pool), journal));
  expect(answer.content).toContain("Hello!");
});

test("a child sees nothing of our environment that could be a secret", async () => {
  const { names } = JSON.parse(answerOf(await runBad("tells its environment")).content) as {
    names: string[];
  };
  const known = new Set([...PASSED_ON, "NODE_COMPILE_CACHE", "NODE_EXTRA_CA_CERTS"]);
  expect(names.filter((name) => !known.has(name))).toEqual([]);
  expect(names).toContain("PATH");
});
