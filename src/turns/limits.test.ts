import { expect, test } from "vitest";

import { calls, says, spoken } from "../../test/support/scripted-model.ts";
import { message } from "../../test/support/sample.ts";
import type { AssistantBody } from "../model/message.ts";
import { limitReached, type TurnLimits } from "./limits.ts";

const WIDE: TurnLimits = { modelCalls: 100, costUsd: 100, wallClockMs: 1e9, repeatedCalls: 100 };

function reached(
  limits: Partial<TurnLimits>,
  bodies: readonly AssistantBody[],
  workedMs = 0,
): string | undefined {
  const answers = bodies.map((body, i) => spoken(`m${i}`, body));
  const messages = [message("q", "user", "go"), ...answers];
  return limitReached({ ...WIDE, ...limits }, { messages, workedMs });
}

test("a turn goes on below every limit", () => {
  expect(reached({}, [])).toBeUndefined();
  expect(reached({}, [calls("A"), calls("A"), says("x")], 1_000)).toBeUndefined();
});

test.each<[keyof TurnLimits, number, readonly AssistantBody[], number, RegExp]>([
  ["modelCalls", 2, [calls("A"), calls("B")], 0, /asked 2 times/],
  ["costUsd", 1, [calls("A"), calls("B")], 0, /cost 1\.0000 USD/],
  ["wallClockMs", 5_000, [], 5_000, /taken 5 s/],
  ["repeatedCalls", 2, [calls("A"), calls("A")], 0, /same call was made 2 times/],
])("%s ends the turn with an answer that names the limit", (limit, value, bodies, workedMs, text) => {
  const answer = reached({ [limit]: value }, bodies, workedMs);
  expect(answer).toMatch(text);
  expect(answer).toContain(`\`${limit}\`: ${value}`);
  expect(reached({ [limit]: value }, bodies.slice(1), workedMs - 1)).toBeUndefined();
});

test("repeated is only what is the same to the letter and in a row", () => {
  const limit = { repeatedCalls: 2 };
  expect(reached(limit, [calls("A"), calls("B"), calls("A")])).toBeUndefined();
  expect(reached(limit, [calls(["A", { x: 1 }]), calls(["A", { x: 2 }])])).toBeUndefined();
  expect(reached(limit, [calls(["A", { x: 1, y: 2 }]), calls(["A", { y: 2, x: 1 }])])).toBeDefined();
  expect(reached(limit, [calls("A", "A")])).toBeDefined();
});

test("a model whose price is not known, or is nothing, does not reach the limit on cost", () => {
  expect(reached({ costUsd: 0 }, [says("x", { costUsd: null }), says("x", { costUsd: 0 })])).toBeUndefined();
});
