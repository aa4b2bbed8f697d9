import { expect, test } from "vitest";
import { OFFLINE_PROFILE, type Profile } from "../model/profile.ts";
import {
  alternativeTo,
  type Candidates,
  chooseProfile,
  CoolDowns,
  fallbackChain,
  FIRST_COOL_DOWN_MS,
  MAX_COOL_DOWN_MS,
  MAX_TURNS_REMEMBERED,
  noteFailure,
  type ProfileHealth,
} from "./choose-profile.ts";
import { testClock } from "../../test/support/sample.ts";
import { CortexError, type ErrorCode } from "../model/errors.ts";
import type { TurnId } from "../model/ids.ts";

const PROFILES: Readonly<Record<string, readonly string[]>> = { a: ["b", "d"], b: ["c"], c: [], d: ["a"] };

function profile(name: string): Profile {
  return { ...OFFLINE_PROFILE, name, fallback: PROFILES[name]! };
}

const chain = fallbackChain(profile("a"), profile);

function health({ cooling = "", refused = "" }): ProfileHealth {
  return { isCooling: (name) => cooling.includes(name), hasRefused: (name) => refused.includes(name) };
}

test("fallbacks are tried in order, each with its own right after it, and none twice", () => {
  expect(chain.map(({ name }) => name)).toEqual(["a", "b", "c", "d"]);
});

test.each([
  ["nothing is wrong", {}, "a"],
  ["it has just failed", { cooling: "a" }, "b"],
  ["its first fallback has failed too", { cooling: "ab" }, "c"],
  ["all have just failed", { cooling: "abcd" }, "a"],
  ["it refuses the turn", { refused: "a" }, "b"],
  ["it refuses the turn and all others have just failed", { refused: "a", cooling: "bcd" }, "b"],
  ["all refuse the turn", { refused: "abcd" }, "a"],
])("where %s, %o, the turn runs on %s", (_, wrong, chosen) => {
  expect(chooseProfile(chain, health(wrong)).name).toBe(chosen);
});

test.each([
  ["another one is well", "a", { cooling: "a" }, "now"],
  ["only the one that failed is left", "a", { cooling: "abcd" }, "later"],
  ["another one may be well later", "a", { refused: "a", cooling: "bcd" }, "later"],
  ["all have refused", "d", { refused: "abcd" }, "none"],
])("where %s, a turn that failed on %s with %o has an alternative: %s", (_, failed, wrong, alternative) => {
  expect(alternativeTo(failed, chain, health(wrong))).toBe(alternative);
});

test("a profile without fallbacks has itself, later, or nothing", () => {
  const alone = [profile("c")] as const;
  expect(alternativeTo("c", alone, health({ cooling: "c" }))).toBe("later");
  expect(alternativeTo("c", alone, health({ refused: "c" }))).toBe("none");
});

const turn = "turn-1" as TurnId;
const FAILING = { ...OFFLINE_PROFILE, name: "a" };
const candidates: Candidates = [FAILING, { ...OFFLINE_PROFILE, name: "b" }];

function failure(code: ErrorCode, transient: boolean): CortexError {
  return new CortexError(code, "It failed", { hint: "Wait.", transient });
}

function note(error: unknown) {
  const coolDowns = new CoolDowns(testClock());
  const alternative = noteFailure(error, { turn, profile: FAILING, candidates }, coolDowns);
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

const turnNamed = (id: number | string): TurnId => `turn-${id}` as TurnId;

/** How long a profile is left alone from now on. */
function pauseOf(coolDowns: CoolDowns, clock: ReturnType<typeof testClock>, profile = "a"): number {
  let ms = 0;
  for (; coolDowns.isCooling(profile); ms += 1_000) clock.advance(1_000);
  return ms;
}

test("a profile that fails is left alone for a while, and no other one is", () => {
  const clock = testClock();
  const coolDowns = new CoolDowns(clock);
  expect(coolDowns.isCooling("a")).toBe(false);
  coolDowns.failed("a");

  expect([coolDowns.isCooling("a"), coolDowns.isCooling("b")]).toEqual([true, false]);
  expect(pauseOf(coolDowns, clock)).toBe(FIRST_COOL_DOWN_MS);
});

test("each failure in a row makes the pause longer, up to a limit; an answer ends it", () => {
  const clock = testClock();
  const coolDowns = new CoolDowns(clock);
  const pauses = Array.from({ length: 12 }, () => {
    coolDowns.failed("a");
    return pauseOf(coolDowns, clock);
  });
  expect(pauses.slice(0, 3)).toEqual([1, 2, 4].map((times) => times * FIRST_COOL_DOWN_MS));
  expect(pauses.at(-1)).toBe(MAX_COOL_DOWN_MS);

  coolDowns.failed("a");
  coolDowns.answered("a");
  expect(coolDowns.isCooling("a")).toBe(false);
  coolDowns.failed("a");
  expect(pauseOf(coolDowns, clock)).toBe(FIRST_COOL_DOWN_MS);
});

test("a provider that asks for more time is given it, up to a limit", () => {
  const clock = testClock();
  const coolDowns = new CoolDowns(clock);
  coolDowns.failed("a", 60_000);
  expect(pauseOf(coolDowns, clock)).toBe(60_000);
  coolDowns.failed("b", 24 * 3_600_000);
  expect(pauseOf(coolDowns, clock, "b")).toBe(MAX_COOL_DOWN_MS);
});

test("a profile that refuses a turn is kept from that turn and from no other", () => {
  const coolDowns = new CoolDowns(testClock());
  coolDowns.refused("a", turnNamed(1));
  expect(coolDowns.hasRefused("a", turnNamed(1))).toBe(true);
  expect([coolDowns.hasRefused("a", turnNamed(2)), coolDowns.hasRefused("b", turnNamed(1))]).toEqual([
    false,
    false,
  ]);
  expect(coolDowns.isCooling("a")).toBe(false);

  coolDowns.forget(turnNamed(1));
  expect(coolDowns.hasRefused("a", turnNamed(1))).toBe(false);
});

test("what it remembers of turns has an end", () => {
  const coolDowns = new CoolDowns(testClock());
  for (let i = 0; i <= MAX_TURNS_REMEMBERED; i++) coolDowns.refused("a", turnNamed(i));
  expect(coolDowns.hasRefused("a", turnNamed(0))).toBe(false);
  expect(coolDowns.hasRefused("a", turnNamed(1))).toBe(true);
});

test("what is told of a failure holds no secret, and only its first line", () => {
  const coolDowns = new CoolDowns(testClock(), (text) => text.replaceAll("sk-1", "***"));
  coolDowns.failed("b", 0, "429 for sk-1\nand more");
  coolDowns.failed("a", 0, "x".repeat(1_000));
  expect(coolDowns.list()).toMatchObject([
    { profile: "a", failures: 1, error: "x".repeat(200) },
    { profile: "b", failures: 1, error: "429 for ***" },
  ]);
});
