import { expect, test } from "vitest";

import { testClock } from "../../test/support/sample.ts";
import type { TurnId } from "../model/ids.ts";
import { CoolDowns, FIRST_COOL_DOWN_MS, MAX_COOL_DOWN_MS, MAX_TURNS_REMEMBERED } from "./cool-downs.ts";

const turn = (id: number | string): TurnId => `turn-${id}` as TurnId;

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
  coolDowns.refused("a", turn(1));
  expect(coolDowns.hasRefused("a", turn(1))).toBe(true);
  expect([coolDowns.hasRefused("a", turn(2)), coolDowns.hasRefused("b", turn(1))]).toEqual([false, false]);
  expect(coolDowns.isCooling("a")).toBe(false);

  coolDowns.forget(turn(1));
  expect(coolDowns.hasRefused("a", turn(1))).toBe(false);
});

test("what it remembers of turns has an end", () => {
  const coolDowns = new CoolDowns(testClock());
  for (let i = 0; i <= MAX_TURNS_REMEMBERED; i++) coolDowns.refused("a", turn(i));
  expect(coolDowns.hasRefused("a", turn(0))).toBe(false);
  expect(coolDowns.hasRefused("a", turn(1))).toBe(true);
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
