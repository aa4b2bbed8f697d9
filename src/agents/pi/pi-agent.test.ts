import { expect, test } from "vitest";

import { answerByScript } from "../../../test/support/model-script.ts";
import { type ModelServer, startModelServer } from "../../../test/support/model-server.ts";
import { question, READ_TOOL, toolCall, userMessage } from "../../../test/support/question.ts";
import type { AgentId, TurnId } from "../../model/ids.ts";
import { type CallBlock, callsOf, type Message, type ToolCall } from "../../model/message.ts";
import type { AgentRequest, AgentResult, Exchange } from "../agent.ts";
import { createLoopAgent } from "../loop.ts";
import { createPiModel } from "./pi-model.ts";

const CALLS = [
  [
    { name: "Read", args: { path: "a" } },
    { name: "Read", args: { path: "b" } },
  ],
  [{ name: "Read", args: { path: "c" } }],
];
const QUERY = userMessage(`Read three files\nCALLS ${JSON.stringify(CALLS)}`);
const ANSWER = "done: Read three files\nCALLS ";

/** All that is kept of a turn, and what was done for it. */
interface Journal {
  readonly messages: Message[];
  readonly toolCalls: ToolCall[];
  readonly made: string[];
}

test("a turn of two steps asks, calls, asks and answers", async () => {
  await using server = await startModelServer({ answer: answerByScript });
  const journal: Journal = { messages: [QUERY], toolCalls: [], made: [] };

  const result = await run(server, journal);

  expect(answerOf(result)).toContain(ANSWER);
  expect(journal.made).toEqual(["a", "b", "c"]);
  expect(server.requests.length).toBe(3);
  expect(server.requests[2]!.messages.map(({ role, text }) => [role, text]).slice(2)).toEqual([
    ["assistant", ""],
    ["tool", "content of a"],
    ["tool", "content of b"],
    ["assistant", ""],
    ["tool", "content of c"],
  ]);
});

test("a turn that was cut off between two calls goes on with the second", async () => {
  await using server = await startModelServer({ answer: answerByScript });
  const whole: Journal = { messages: [QUERY], toolCalls: [], made: [] };
  await run(server, whole);
  const askedAtFirst = server.requests.length;
  const cut: Journal = {
    messages: whole.messages.slice(0, 2),
    toolCalls: [whole.toolCalls[0]!, toolCall(1, { status: "started" })],
    made: [],
  };

  const result = await run(server, cut);

  expect(answerOf(result)).toContain(ANSWER);
  expect(cut.made).toEqual(["b", "c"]);
  expect(server.requests.length - askedAtFirst).toBe(2);
  expect(server.requests.at(-1)!.messages).toEqual(server.requests[2]!.messages);
});

test("a turn that is aborted while the model speaks keeps what was said", async () => {
  const never = Promise.withResolvers<void>();
  await using server = await startModelServer({
    answer: () => ({ text: "Once upon a time", gate: never.promise, gateAt: "middle" }),
  });
  const abort = new AbortController();
  const journal: Journal = { messages: [QUERY], toolCalls: [], made: [] };

  const result = await run(server, journal, { signal: abort.signal, onDelta: () => abort.abort() });

  expect(result).toMatchObject({ kind: "aborted", partial: { content: "Once upo" } });
});

/** Runs a turn with tools that do as they are told, and a journal that keeps what the agent gives it. */
function run(server: ModelServer, journal: Journal, more: Partial<AgentRequest> = {}): Promise<AgentResult> {
  const { messages, toolCalls, made } = journal;
  let minted = 0;
  const agent = createLoopAgent({
    model: createPiModel({ environment: () => undefined, clock: () => 0 }),
    clock: () => 0,
    mintId: () => `minted-${++minted}`,
  });
  const { profile, system, session, signal } = question({
    provider: "openai-compatible",
    baseUrl: server.openaiUrl,
    model: "scripted",
  });
  const current: Exchange = { messages: [...messages], toolCalls: [...toolCalls] };
  return agent.run({
    profile,
    system,
    session,
    signal,
    onDelta: () => {},
    agent: "main" as AgentId,
    turn: "turn-1" as TurnId,
    history: [],
    current,
    tools: [READ_TOOL],
    beforeModelCall: async () => ({ kind: "go", messages: [] }),
    record: async (message) => {
      expect(callsOf(message).length).toBeGreaterThan(0);
      messages.push(message);
    },
    callTool: async ({ id, arguments: args }: CallBlock, ordinal) => {
      const { path } = args as { path: string };
      made.push(path);
      const call = toolCall(ordinal, { callId: id, result: { text: `content of ${path}` } });
      toolCalls.push(call);
      return { kind: "done", call };
    },
    ...more,
  });
}

function answerOf(result: AgentResult): string {
  expect(result.kind).toBe("done");
  return (result as Extract<AgentResult, { kind: "done" }>).answer.content;
}
