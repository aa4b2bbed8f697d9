import { expect, test } from "vitest";

import type { Agent, AgentRequest } from "../agents/agent.ts";
import type { Config } from "../config/config.ts";
import { CortexError } from "../model/errors.ts";
import { assistantMessage } from "../model/message.ts";
import type { Profile } from "../model/profile.ts";
import { NO_USAGE } from "../model/usage.ts";
import { createHookLlm, MAX_LLM_PROMPT_LENGTH } from "./services.ts";

const { signal } = new AbortController();

/** Hooks whose model gives these answers, one after the other; an error is thrown. */
function openLlm(
  answers: readonly (string | Error)[],
  { spentUsd = 0, costUsd = 0.4 }: { spentUsd?: number; costUsd?: number | null } = {},
) {
  const asked: AgentRequest[] = [];
  const agent: Agent = {
    capabilities: { steer: false, replay: false, suspend: false },
    async run(request) {
      const answer = answers[asked.push(request) - 1]!;
      if (answer instanceof Error) throw answer;
      const body = {
        blocks: [{ type: "text", text: answer }],
        stop: "stop",
        provider: "p",
        model: "m",
        usage: NO_USAGE,
        costUsd,
      } as const;
      return { kind: "done", answer: assistantMessage(request.turn, body, 0) };
    },
  };
  let ids = 0;
  let dayMs = 0;
  const llm = createHookLlm({
    agentFor: async () => agent,
    settings: {
      profile: (name): Profile => ({
        name,
        backend: "offline",
        fallback: name === "first" ? ["second"] : [],
      }),
      config: () => ({ timezone: "UTC", hooks: { profile: "first", llmUsdPerDay: 1 } }) as Config,
    },
    store: {
      hooks: { spentUsd: async (sinceMs) => (sinceMs === 0 ? spentUsd : 0), countUsage: async () => {} },
      turns: { usedSince: async () => [] },
    },
    clock: () => dayMs,
    mintId: () => String(++ids),
  });
  return { llm, asked, nextDay: () => void (dayMs = 86_400_000) };
}

test("a question is asked with its system prompt and its limit, and answered with what it cost", async () => {
  const { llm, asked } = openLlm(["yes"]);
  expect(await llm("Is it?", { system: "Be brief.", max_tokens: 5 }, signal)).toEqual({
    text: "yes",
    costUsd: 0.4,
  });
  expect(asked[0]).toMatchObject({
    system: "Be brief.",
    profile: { name: "first", maxTokens: 5 },
    tools: [],
  });
});

test.each([
  ['{"a":1}', '{"a":1}'],
  ["```json\n[1, 2]\n```", "[1, 2]"],
  ['Sure! {"a": {"b": 2}} There you are.', '{"a": {"b": 2}}'],
  [" true ", "true"],
])("in JSON mode, %j is %j", async (said, text) => {
  const { llm, asked } = openLlm([said]);
  expect(await llm("x", { json: true }, signal)).toMatchObject({ text });
  expect(asked[0]!.system).toContain("single JSON value");
});

test("a model that does not answer with JSON is asked once more, and both are paid for", async () => {
  expect(await openLlm(["well", "{}"]).llm("x", { json: true }, signal)).toEqual({
    text: "{}",
    costUsd: 0.8,
  });
  await expect(openLlm(["well", "hm"]).llm("x", { json: true }, signal)).rejects.toThrow(
    "returned invalid JSON: hm",
  );
});

test("what may be spent in a day is not exceeded by more than one question, and is there again the next day", async () => {
  const { llm, asked, nextDay } = openLlm(["a", "b", "c", "d"], { spentUsd: 0.3 });
  await llm("1", {}, signal);
  await llm("2", {}, signal);
  await expect(llm("3", {}, signal)).rejects.toMatchObject({
    code: "hook_failed",
    message: expect.stringContaining("1 USD"),
  });
  expect(asked).toHaveLength(2);
  nextDay();
  await llm("4", {}, signal);
  expect(asked).toHaveLength(3);
});

test("a price that nobody knows is told as such", async () => {
  expect(await openLlm(["a"], { costUsd: null }).llm("x", {}, signal)).toEqual({ text: "a", costUsd: null });
});

test("where the profile fails, its fallback is asked", async () => {
  const failed = new CortexError("model_failed", "down", { hint: "" });
  const { llm, asked } = openLlm([failed, "yes"]);
  expect(await llm("x", {}, signal)).toMatchObject({ text: "yes" });
  expect(asked.map(({ profile }) => profile.name)).toEqual(["first", "second"]);
  await expect(openLlm([failed, failed]).llm("x", {}, signal)).rejects.toThrow("down");
});

test.each<[unknown, unknown]>([
  ["", {}],
  [7, {}],
  ["x".repeat(MAX_LLM_PROMPT_LENGTH + 1), {}],
  ["x", { system: 1 }],
  ["x", { maxTokens: 0 }],
])("llm(%j, %j) is refused", async (prompt, options) => {
  const { llm, asked } = openLlm(["a"]);
  await expect(llm(prompt as string, options, signal)).rejects.toMatchObject({ code: "hook_failed" });
  expect(asked).toEqual([]);
});
