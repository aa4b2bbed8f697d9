import { expect, test } from "vitest";
import * as fc from "fast-check";
import { calls, says, spoken } from "../../test/support/scripted-model.ts";
import { message } from "../../test/support/sample.ts";
import type { AssistantBody } from "../model/message.ts";
import { NO_USAGE } from "../model/usage.ts";
import { nextAttempt, turnFacts } from "./settle.ts";
import { CortexError, type ErrorCode } from "../model/errors.ts";
import type { Alternative } from "./choose-profile.ts";

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

const NOW = 1_000_000;

function failure(code: ErrorCode, transient: boolean, retryAfterMs?: number): CortexError {
  return new CortexError(code, "It failed", { hint: "Wait.", transient, retryAfterMs });
}

function next(error: unknown, attempt: number, random = 1, alternative?: Alternative) {
  return nextAttempt(error, {
    attempt,
    maxAttempts: 5,
    firstDelayMs: 1_000,
    nowMs: NOW,
    random,
    alternative,
  });
}

test.each([
  [1, 1_000],
  [2, 2_000],
  [4, 8_000],
])("after attempt %i, what may succeed later is tried again in %i ms", (attempt, ms) => {
  expect(next(failure("model_failed", true), attempt)).toEqual({ kind: "retry", atMs: NOW + ms });
  expect(next(failure("model_failed", true), attempt, 0)).toEqual({ kind: "retry", atMs: NOW + ms / 2 });
});

test("the delay has an end, and who refused may ask for a longer one", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempt, random) => {
        const outcome = nextAttempt(failure("model_failed", true), {
          attempt,
          maxAttempts: 200,
          firstDelayMs: 1_000,
          nowMs: NOW,
          random,
        });
        const delayMs = outcome.kind === "retry" ? outcome.atMs - NOW : Infinity;
        expect(delayMs).toBeLessThanOrEqual(60_000);
      },
    ),
  );
  expect(next(failure("model_failed", true, 90_000), 1)).toEqual({ kind: "retry", atMs: NOW + 90_000 });
});

test.each([
  ["fails for good", failure("model_failed", false), 1],
  ["was tried often enough", failure("model_failed", true), 5],
  ["failed by a mistake of ours", new TypeError("x is not a function"), 1],
  ["finds that the head has moved once too often", failure("head_moved", false), 5],
])("a turn that %s is a dead letter", (_, error, attempt) => {
  expect(next(error, attempt)).toEqual({ kind: "dead" });
});

test("a turn whose session points elsewhere now is tried again at once", () => {
  expect(next(failure("head_moved", false), 1)).toEqual({ kind: "retry", atMs: NOW });
});

test("a disk that is full kills no message, however long it takes", () => {
  expect(next(failure("store_full", true), 99)).toMatchObject({ kind: "retry" });
  expect(next(failure("store_corrupt", false), 1)).toEqual({ kind: "dead" });
});

test.each([
  ["at once where another profile is well", true, "now", { kind: "retry", atMs: NOW }],
  ["at once also where its own has failed for good", false, "now", { kind: "retry", atMs: NOW }],
  ["later where another one may be well then", false, "later", { kind: "retry", atMs: NOW + 1_000 }],
  ["later where there is only its own", true, "later", { kind: "retry", atMs: NOW + 1_000 }],
  ["never where all have failed for good", false, "none", { kind: "dead" }],
] as const)("a turn whose model failed is tried again %s", (_, transient, alternative, outcome) => {
  expect(next(failure("model_failed", transient), 1, 1, alternative)).toEqual(outcome);
});

test("another profile does not give a turn attempts without end", () => {
  expect(next(failure("model_failed", true), 5, 1, "now")).toEqual({ kind: "dead" });
});
