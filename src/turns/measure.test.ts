import { expect, test } from "vitest";

import { message } from "../../test/support/sample.ts";
import { says, spoken } from "../../test/support/scripted-model.ts";
import { compactionTurn, spokenTurn, turnContent } from "../../test/support/thread.ts";
import { NO_USAGE } from "../model/usage.ts";
import type { Context } from "../store/store.ts";
import { measure } from "./measure.ts";

const current = { messages: [message("q", "user", "12345678")], toolCalls: [] };
const usage = { ...NO_USAGE, input: 1_000, output: 20, cacheRead: 300, cacheWrite: 4, reasoning: 10 };
const counted = turnContent(5, [message("q5", "user", "go"), spoken("turn-5", says("well", { usage }))]);

function load(thread: Partial<Context>) {
  return measure({ system: "", tools: [], thread: { compaction: undefined, turns: [], ...thread }, current });
}

test("what the provider has counted is right; what came since is estimated", () => {
  expect(load({ turns: [counted] })).toEqual({ tokens: 1_324 + 2, estimated: (8 + 2 + 4) / 4 + 0.5 });
});

test("system prompt and tools are part of what is estimated", () => {
  const tools = [{ name: "Read", description: "Reads.", parameters: {} }];
  const thread = { compaction: undefined, turns: [] };
  expect(measure({ system: "1234", tools, thread, current }).tokens).toBe((4 + 4 + 6 + 2 + 8) / 4);
});

test.each<[string, Partial<Context>]>([
  ["no turn came before", {}],
  ["nobody has counted", { turns: [spokenTurn(5, "go", "well")] }],
  ["the last turn was aborted", { turns: [{ ...counted, turn: { ...counted.turn, status: "aborted" } }] }],
  ["it was compacted since", { compaction: compactionTurn(6, "so far"), turns: [counted] }],
])("where %s, characters are counted", (_, thread) => {
  const { tokens, estimated } = load(thread);
  expect(tokens).toBe(estimated);
});

test("what was counted after a compaction counts", () => {
  expect(load({ compaction: compactionTurn(4, "so far"), turns: [counted] }).tokens).toBe(1_326);
});
