import * as fc from "fast-check";
import { expect, test } from "vitest";

import { message, session, START_MS } from "../../test/support/sample.ts";
import { attentiveModel, calls, says, scriptedModel, spoken } from "../../test/support/scripted-model.ts";
import type { AgentId, TurnId } from "../model/ids.ts";
import {
  type AssistantBody,
  assistantBody,
  assistantMessage,
  type CallBlock,
  callsOf,
  type Message,
  type ToolCall,
} from "../model/message.ts";
import { OFFLINE_PROFILE } from "../model/profile.ts";
import type { AgentRequest, Continuation, Exchange, Model } from "./agent.ts";
import { createLoopAgent } from "./loop.ts";

const query = message("q", "user", "go");

/** A turn as whoever runs the agent sees it: what was written down, and what tools were called. */
function turn(fields: Partial<AgentRequest> = {}, before: Exchange = { messages: [query], toolCalls: [] }) {
  const messages = [...before.messages];
  const toolCalls = [...before.toolCalls];
  const made: string[] = [];
  const request: AgentRequest = {
    profile: OFFLINE_PROFILE,
    session: session("work"),
    turn: "turn-1" as TurnId,
    agent: "main" as AgentId,
    system: "You are.",
    history: [],
    current: { messages: [...messages], toolCalls: [...toolCalls] },
    tools: [],
    signal: new AbortController().signal,
    beforeModelCall: async () => ({ kind: "go", messages: [] }),
    async record(recorded) {
      messages.push(recorded);
    },
    async callTool(call, ordinal) {
      made.push(call.id);
      const finished = outcome(call, ordinal);
      toolCalls[ordinal] = finished;
      return { kind: "done", call: finished };
    },
    onDelta() {},
    ...fields,
  };
  return { request, messages, toolCalls, made };
}

function outcome(call: CallBlock, ordinal: number): ToolCall {
  const { id: callId, name: tool, arguments: params } = call;
  const result = { text: `${call.id} done` };
  return {
    ordinal,
    callId,
    tool,
    params,
    status: "ok",
    result,
    startedAtMs: START_MS,
    completedAtMs: START_MS,
  };
}

function agentOf(model: Model) {
  let minted = 0;
  return createLoopAgent({ model, clock: () => START_MS, mintId: () => `m${++minted}` });
}

test("an answer without calls ends the turn under the turn's id, and nothing is recorded", async () => {
  const { request, messages } = turn();
  const history = [{ messages: [message("old", "user", "before")], toolCalls: [] }];
  const model = scriptedModel(says("hello"));

  const result = await agentOf(model).run({ ...request, history });

  expect(result).toEqual({
    kind: "done",
    answer: assistantMessage("turn-1", says("hello"), START_MS),
  });
  expect(messages).toEqual([query]);
  expect(model.questions[0]!.exchanges).toEqual([history[0], { messages: [query], toolCalls: [] }]);
});

test("calls are made in order, each with its place in the turn, and the model reads what they led to", async () => {
  const { request, messages, made } = turn();
  const model = scriptedModel(calls("A", "B"), calls("C"), says("done"));

  const result = await agentOf(model).run(request);

  expect(result).toMatchObject({ kind: "done", answer: { content: "done" } });
  expect(made).toEqual(["A-0", "B-1", "C-0"]);
  expect(messages.map(({ id }) => id)).toEqual(["q", "m1", "m2"]);
  const last = model.questions[2]!.exchanges.at(-1)!;
  expect(last.messages).toEqual(messages);
  expect(last.toolCalls.map(({ ordinal, callId }) => [ordinal, callId])).toEqual([
    [0, "A-0"],
    [1, "B-1"],
    [2, "C-0"],
  ]);
});

test("no tool is called before the message that wants it is written down", async () => {
  const failing = turn({ record: () => Promise.reject(new Error("no room")) });
  await expect(agentOf(scriptedModel(calls("A"))).run(failing.request)).rejects.toThrow("no room");
  expect(failing.made).toEqual([]);
});

test("messages that arrive between two steps are read by the model", async () => {
  const arriving = message("s", "user", "stop");
  const continuations: Continuation[] = [
    { kind: "go", messages: [] },
    { kind: "go", messages: [arriving] },
  ];
  const { request } = turn({ beforeModelCall: async () => continuations.shift()! });
  const model = scriptedModel(calls("A"), says("stopped"));
  await agentOf(model).run(request);
  expect(model.questions[1]!.exchanges.at(-1)!.messages.at(-1)).toEqual(arriving);
});

test("a limit ends the turn with an answer that is not the model's", async () => {
  const { request } = turn({ beforeModelCall: async () => ({ kind: "stop", text: "Enough." }) });
  const result = await agentOf(scriptedModel()).run(request);
  expect(result).toMatchObject({
    kind: "done",
    answer: { id: "turn-1", content: "Enough.", body: { provider: "cortex", costUsd: 0 } },
  });
});

test.each<[string, Partial<AgentRequest>]>([
  ["before the model is asked", { beforeModelCall: async () => ({ kind: "park" }) }],
  ["at a call", { callTool: async () => ({ kind: "park" }) }],
])("a turn can be left %s", async (_, fields) => {
  const { request } = turn(fields);
  expect(await agentOf(scriptedModel(calls("A"))).run(request)).toEqual({ kind: "parked" });
});

test("the calls after one that suspends are still made, then the turn waits", async () => {
  const made: string[] = [];
  const { request } = turn({
    async callTool(call, ordinal) {
      made.push(call.name);
      return call.name === "Ask" ? { kind: "suspended" } : { kind: "done", call: outcome(call, ordinal) };
    },
  });
  const model = scriptedModel(calls("Ask", "B"));
  expect(await agentOf(model).run(request)).toEqual({ kind: "suspended" });
  expect(made).toEqual(["Ask", "B"]);
  expect(model.questions).toHaveLength(1);
});

test("a call that had begun is handed over again, one that has ended is not", async () => {
  const asked: Message = { ...message("m1", "assistant", ""), body: calls("A", "B") };
  const [a, b] = assistantBody(asked).blocks as CallBlock[];
  const started: ToolCall = { ...outcome(b!, 1), status: "started" };
  const { request, made } = turn({}, { messages: [query, asked], toolCalls: [outcome(a!, 0), started] });
  await agentOf(scriptedModel(says("done"))).run(request);
  expect(made).toEqual(["B-1"]);
});

test("an abort while the model speaks keeps what it has said, without calls that were never made", async () => {
  const partial: AssistantBody = { ...says("half"), stop: "aborted" };
  const { request } = turn();
  const blocks = [...partial.blocks, ...calls("A").blocks];
  expect(await agentOf(scriptedModel({ ...partial, blocks })).run(request)).toMatchObject({
    kind: "aborted",
    partial: { id: "turn-1", content: "half", body: { blocks: [{ type: "text" }] } },
  });
});

test("an abort before the model has said anything leaves no empty answer", async () => {
  const { request } = turn();
  for (const said of [calls("A"), says(" \n")]) {
    const silent: AssistantBody = { ...said, stop: "aborted" };
    expect(await agentOf(scriptedModel(silent)).run(request)).toEqual({
      kind: "aborted",
      partial: undefined,
    });
  }
});

test("an answer of nothing is a failure that can be tried again", async () => {
  for (const nothing of [
    says(""),
    says(" \n"),
    { ...says(""), blocks: [{ type: "thinking", thinking: "hm" } as const] },
  ]) {
    const { request } = turn();
    await expect(agentOf(scriptedModel(nothing)).run(request)).rejects.toMatchObject({
      code: "model_failed",
      transient: true,
    });
  }
});

test("calls with the same id are told apart, also over several answers", async () => {
  const call = { type: "toolCall", id: "call", name: "A", arguments: {} } as const;
  const twice: AssistantBody = { ...calls("A"), blocks: [call, call] };
  const { request, messages } = turn();
  await agentOf(scriptedModel(twice, twice, says("done"))).run(request);
  const ids = messages.flatMap(callsOf).map(({ id }) => id);
  expect(ids).toEqual(["call", "call_2", "call_3", "call_4"]);
});

test.each(["beforeModelCall", "callTool"] as const)(
  "an abort during %s ends the turn there",
  async (step) => {
    const controller = new AbortController();
    const { request } = turn({ signal: controller.signal });
    const model = scriptedModel(calls("A"), says("never"));
    const aborting: AgentRequest = {
      ...request,
      [step]: (call: CallBlock, ordinal: number) => {
        controller.abort();
        return step === "callTool" ? request.callTool(call, ordinal) : request.beforeModelCall();
      },
    };
    expect(await agentOf(model).run(aborting)).toEqual({ kind: "aborted", partial: undefined });
    expect(model.questions.length).toBe(step === "callTool" ? 1 : 0);
  },
);

test("what a model fails with is not caught", async () => {
  const { request } = turn();
  const model: Model = { ask: () => Promise.reject(new Error("overloaded")) };
  await expect(agentOf(model).run(request)).rejects.toThrow("overloaded");
});

test("a turn that is cut off anywhere, any number of times, ends as if it had not been, each call made once", async () => {
  const script = fc.array(fc.nat(3), { maxLength: 4 });
  const cuts = fc.array(fc.nat(8), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(script, cuts, async (steps, cutPoints) => {
      const whole = turn();
      const expected = await agentOf(attentiveModel(steps)).run(whole.request);

      let before: Exchange = { messages: [query], toolCalls: [] };
      const made: string[] = [];
      for (const budget of [...cutPoints, Infinity]) {
        let left = budget;
        const cutOff = async <T>(act: () => Promise<T>): Promise<T> => {
          if (left-- <= 0) throw new Error("cut off");
          return act();
        };
        const attempt = turn({}, before);
        const inner = attempt.request;
        const request: AgentRequest = {
          ...inner,
          record: (recorded) => cutOff(() => inner.record(recorded)),
          callTool: (call, ordinal) => cutOff(() => inner.callTool(call, ordinal)),
          beforeModelCall: () => cutOff(() => inner.beforeModelCall()),
        };
        const result = await agentOf(attentiveModel(steps))
          .run(request)
          .catch(() => undefined);
        made.push(...attempt.made);
        before = { messages: attempt.messages, toolCalls: attempt.toolCalls };
        if (result === undefined) continue;
        expect(result).toEqual(expected);
        break;
      }
      expect(before.messages.map(({ body }) => body)).toEqual(whole.messages.map(({ body }) => body));
      expect(before.toolCalls).toEqual(whole.toolCalls);
      expect(made).toEqual(whole.made);
    }),
  );
});

test("a model whose window is known can be asked for a summary, without tools", async () => {
  const model = { ...scriptedModel(says("in short")), window: async () => 8_000 };
  const agent = agentOf(model);
  const { request } = turn({ tools: [{ name: "A", description: "", parameters: {} }] });

  expect(await agent.context!.window(OFFLINE_PROFILE)).toBe(8_000);
  const exchanges = [request.current];
  expect(await agent.context!.summarize({ ...request, exchanges })).toEqual(says("in short"));
  expect(model.questions[0]).toMatchObject({ tools: [], purpose: "summary", exchanges });
});

test("a model whose window nobody knows is left to itself", () => {
  expect(agentOf(scriptedModel()).context).toBeUndefined();
});

test("a call never has the id of one in the turns before", async () => {
  const before = { messages: [spoken("m0", calls("A"))], toolCalls: [] };
  const attempt = turn({ history: [before] });
  await agentOf(scriptedModel(calls("A"), says("done"))).run(attempt.request);
  expect(attempt.made).toEqual(["A-0_2"]);
});
