import { expect, test } from "vitest";

import { calls, says, spoken } from "../../test/support/scripted-model.ts";
import { message } from "../../test/support/sample.ts";
import type { AssistantBody } from "../model/message.ts";
import { NO_USAGE } from "../model/usage.ts";
import { turnFacts } from "./facts.ts";

function facts(...bodies: readonly AssistantBody[]) {
  const answers = bodies.map((body, i) => spoken(`m${i}`, body));
  return turnFacts([message("q", "user", "hello"), ...answers], { role: "worker", profile: "fast" });
}

test("tokens and cost are summed over all that the model was asked", () => {
  expect(facts(calls("A"), says("done", { model: "second" }))).toEqual({
    role: "worker",
    profile: "fast",
    provider: "test",
    model: "second",
    usage: { input: 2, output: 4, cacheRead: 6, cacheWrite: 8, reasoning: 0 },
    costUsd: 1,
  });
});

test("where one price is not known, the sum is not known", () => {
  expect(facts(says("a"), says("b", { costUsd: null })).costUsd).toBeNull();
});

test("what Cortex says in the model's place is not the model's", () => {
  const own = says("I stopped here.", { provider: "cortex", model: "cortex", usage: NO_USAGE, costUsd: 0 });
  expect(facts(calls("A"), own)).toMatchObject({ provider: "test", model: "scripted", costUsd: 0.5 });
});

test("a turn in which no model was asked costs nothing", () => {
  expect(facts()).toMatchObject({ provider: "none", model: "none", usage: NO_USAGE, costUsd: 0 });
});

test("an answer without a body has a price that is not known", () => {
  const answer = message("a", "assistant", "hello");
  expect(turnFacts([answer], { role: "manager", profile: "x" })).toMatchObject({
    usage: NO_USAGE,
    costUsd: null,
  });
});
