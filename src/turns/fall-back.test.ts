import { expect, test } from "vitest";

import { testClock } from "../../test/support/sample.ts";
import { CortexError, type ErrorCode } from "../model/errors.ts";
import type { TurnId } from "../model/ids.ts";
import { OFFLINE_PROFILE } from "../model/profile.ts";
import { CoolDowns } from "./cool-downs.ts";
import { noteFailure } from "./fall-back.ts";

const turn = "turn-1" as TurnId;
const profile = { ...OFFLINE_PROFILE, name: "a" };
const candidates = [profile, { ...OFFLINE_PROFILE, name: "b" }];

function failure(code: ErrorCode, transient: boolean): CortexError {
  return new CortexError(code, "It failed", { hint: "Wait.", transient });
}

function note(error: unknown) {
  const coolDowns = new CoolDowns(testClock());
  const alternative = noteFailure(error, { turn, profile, candidates }, coolDowns);
  return [alternative, coolDowns.isCooling("a"), coolDowns.hasRefused("a", turn)];
}

test("a model that may do better later is left alone by all turns", () => {
  expect(note(failure("model_failed", true))).toEqual(["now", true, false]);
});

test.each(["model_failed", "model_unconfigured", "script_invalid"] as const)(
  "a profile that fails for good with %s is left alone by this turn",
  (code) => {
    expect(note(failure(code, false))).toEqual(["now", false, true]);
  },
);

test.each([
  ["the store", failure("store_full", true)],
  ["a conversation that is too long", failure("context_overflow", false)],
  ["a mistake of ours", new TypeError("x is not a function")],
])("%s says nothing about a profile", (_, error) => {
  expect(note(error)).toEqual([undefined, false, false]);
});
