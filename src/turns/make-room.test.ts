import { expect, test } from "vitest";

import { calls, says, spoken } from "../../test/support/scripted-model.ts";
import { message } from "../../test/support/sample.ts";
import { toolCall } from "../../test/support/question.ts";
import type { Exchange } from "../agents/agent.ts";
import { OLD_RESULT_LENGTH, shortenResults } from "./make-room.ts";

function lengths({ toolCalls }: Exchange): number[] {
  return toolCalls.map(({ result }) => (result as { text: string }).text.split("\n")[0]!.length);
}

const long = (ordinal: number) => toolCall(ordinal, { result: { text: "x".repeat(10_000) } });
const query = message("q", "user", "go");

test("of what the model has worked with a little is left, of what is new as much as there is room for", () => {
  const messages = [query, spoken("m1", calls("A", "B")), spoken("m2", calls("C", "D"))];
  const turn = { messages, toolCalls: [long(0), long(1), long(2), long(3)] };

  const short = shortenResults(turn, 4_000);
  expect(lengths(short)).toEqual([OLD_RESULT_LENGTH, OLD_RESULT_LENGTH, 2_000, 2_000]);
  expect(short.toolCalls[0]!.result).toMatchObject({ text: expect.stringContaining("Truncated") });
  expect(short.messages).toBe(messages);
});

test("what is short stays as it is, and so does a call without a result", () => {
  const { result: _, ...open } = toolCall(1);
  const toolCalls = [toolCall(0, { result: { text: "short" } }), open];
  const turn = { messages: [query, spoken("m1", calls("A", "B"))], toolCalls };
  expect(shortenResults(turn, 4_000).toolCalls).toEqual(toolCalls);
});

test("a turn without calls stays as it is", () => {
  const turn = { messages: [query, spoken("m1", says("well"))], toolCalls: [] };
  expect(shortenResults(turn, 10)).toEqual(turn);
});
