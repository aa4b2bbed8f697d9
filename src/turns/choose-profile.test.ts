import { expect, test } from "vitest";

import { OFFLINE_PROFILE, type Profile } from "../model/profile.ts";
import { alternativeTo, chooseProfile, fallbackChain, type ProfileHealth } from "./choose-profile.ts";

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
  const alone = [profile("c")];
  expect(alternativeTo("c", alone, health({ cooling: "c" }))).toBe("later");
  expect(alternativeTo("c", alone, health({ refused: "c" }))).toBe("none");
});
