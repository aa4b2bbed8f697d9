import * as fc from "fast-check";
import { RE2JS } from "re2js";
import { expect, test } from "vitest";

import { MAX_COMPILED_PATTERNS, MAX_PROGRAM_SIZE, MAX_STEPS } from "./compile.ts";
import { Matcher, MAX_INLINE_STEPS, MAX_WAITING_MATCHES, programBound } from "./matcher.ts";

const LIMITS = { lines: 10, searched: 100, shown: 10 };
/** A pattern within the limits on which the engine is busy for seconds, with a text of that kind. */
const SLOW = { pattern: "a.{0,900}(?:b.{0,240}){4}[x-z]", text: noise(40_000) };

function noise(length: number): string {
  let state = 1;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state < 2 ** 30 ? "a" : "b";
  }).join("");
}

test("patterns are found in texts, near and far", async () => {
  const matcher = new Matcher();
  const texts = ["abc", "xyz", "c".repeat(MAX_INLINE_STEPS)];
  expect(await matcher.test(["b", "c$"], texts.slice(0, 2))).toEqual([
    [true, true],
    [false, false],
  ]);
  expect(matcher.isRunning).toBe(false); // small work needs no thread
  expect(await matcher.test(["b", "c$"], texts)).toEqual([
    [true, true],
    [false, false],
    [false, true],
  ]);
  expect(matcher.isRunning).toBe(true);
});

test("the first pattern that occurs is given with its groups", async () => {
  const matcher = new Matcher();
  for (const text of ["pay 12 EUR", `pay 12 EUR${" ".repeat(MAX_INLINE_STEPS)}`]) {
    const patterns = ["refund (.*)", String.raw`(pay) (\d+)( now)?`, "pay"];
    expect(await matcher.find(patterns, text)).toEqual({ index: 1, groups: ["pay 12", "pay", "12", ""] });
    expect(await matcher.find(["no", "none"], text)).toBeUndefined();
  }
});

test("lines are given with their number, cut to what is shown, up to a count", async () => {
  const matcher = new Matcher();
  const text = `one\r\n${"x".repeat(99)}yz\nmy last line\ny`;
  const find = (pattern: string, limits = LIMITS) => matcher.lines(pattern, Buffer.from(text), limits);
  expect(await find("y$")).toEqual({
    lines: [
      { number: 2, text: `${"x".repeat(10)}…` },
      { number: 4, text: "y" },
    ],
    cut: 1,
  });
  expect(await find("z")).toEqual({ lines: [], cut: 1 });
  expect(await find("one$")).toEqual({ lines: [{ number: 1, text: "one" }], cut: 1 });
  expect((await find("y", { ...LIMITS, lines: 1 })).lines).toHaveLength(1);
});

test.each(["(a", "(?=a)", String.raw`(a)\1`, "a{1001}", "[z-a]"])(
  "the pattern %s is refused with a reason",
  async (pattern) => {
    const matcher = new Matcher();
    const refusal = { code: "pattern_refused", message: expect.stringMatching(/^Invalid pattern ".*": /) };
    await expect(matcher.check([pattern])).rejects.toMatchObject(refusal);
    await expect(matcher.lines(pattern, Buffer.from("x"), LIMITS)).rejects.toMatchObject(refusal);
  },
);

test.each(["(a*)*$", "(a|a)*b", "(.*)(.*)(.*)(.*)(.*)x", "a?".repeat(128) + "a".repeat(100)])(
  "the pattern %s, on which other engines hang, is matched",
  async (pattern) => {
    expect(typeof (await new Matcher().test([pattern], ["a".repeat(5000)]))[0]![0]).toBe("boolean");
  },
);

test("a pattern that compiles to too large a program is refused", async () => {
  const matcher = new Matcher();
  const repeat = (count: number): string => `a{${Math.floor(count / 10)}}`.repeat(10);
  await matcher.check([repeat(MAX_PROGRAM_SIZE - 10)]);
  await expect(matcher.check([repeat(MAX_PROGRAM_SIZE + 10)])).rejects.toMatchObject({
    code: "pattern_refused",
    message: expect.stringContaining("is too complex: it compiles to"),
  });
});

test("a pattern that is too large for the length of the text is refused", async () => {
  const matcher = new Matcher();
  const pattern = `^a{${MAX_PROGRAM_SIZE / 5 - 10}}b`;
  const fitting = Math.floor(MAX_STEPS / RE2JS.compile(pattern).programSize());
  expect(await matcher.test([pattern], ["x".repeat(fitting)])).toEqual([[false]]);
  await expect(matcher.test([pattern], ["x".repeat(fitting + 1)])).rejects.toMatchObject({
    code: "pattern_refused",
    message: expect.stringContaining(`too complex for a text of ${fitting + 1} characters`),
  });
});

test("a search that takes too long is ended, and the next one is answered", async () => {
  const matcher = new Matcher({ timeoutMs: 1_000 });
  const slow = matcher.test([SLOW.pattern], [SLOW.text]);
  const next = matcher.lines("b", Buffer.from("b"), LIMITS);
  await expect(slow).rejects.toMatchObject({
    code: "pattern_refused",
    message: expect.stringContaining("timed out after 1 s"),
  });
  await expect(next).resolves.toMatchObject({ lines: [{ number: 1, text: "b" }] });
});

test("a search that nobody waits for any more is ended, and the next one is answered", async () => {
  const matcher = new Matcher({ timeoutMs: 60_000 });
  const stop = new AbortController();
  const slow = matcher.test([SLOW.pattern], [SLOW.text], stop.signal);
  const waiting = matcher.test([SLOW.pattern], [SLOW.text], stop.signal);
  const next = matcher.lines("b", Buffer.from("b"), LIMITS);
  stop.abort(new Error("enough"));
  await expect(slow).rejects.toThrow("enough");
  await expect(waiting).rejects.toThrow("enough");
  await expect(next).resolves.toMatchObject({ cut: 0 });
});

test("so many searches wait, and no more", async () => {
  const matcher = new Matcher();
  const ask = () => matcher.lines("a", Buffer.from("a"), LIMITS);
  const asked = Array.from({ length: MAX_WAITING_MATCHES + 1 }, ask); // one of them is under way
  await expect(ask()).rejects.toMatchObject({ code: "pattern_refused" });
  expect(await Promise.all(asked)).toHaveLength(MAX_WAITING_MATCHES + 1);
});

test("the thread ends when there is nothing to do, and starts again", async () => {
  const matcher = new Matcher({ idleMs: 1 });
  for (let round = 0; round < 2; round++) {
    await matcher.lines("a", Buffer.from("a"), LIMITS);
    await expect.poll(() => matcher.isRunning).toBe(false);
  }
});

test("more patterns than are kept are compiled again", async () => {
  const patterns = Array.from({ length: MAX_COMPILED_PATTERNS + 1 }, (_, at) => `^${at}$`);
  const matcher = new Matcher();
  const [found] = await matcher.test(patterns, ["7"]);
  expect(found!.flatMap((is, at) => (is ? [at] : []))).toEqual([7]);
  expect(await matcher.test(["^7$"], ["7".repeat(MAX_INLINE_STEPS), "7"])).toEqual([[false], [true]]);
});

test("a pattern without counted repetitions compiles to no more than its length suggests", () => {
  const unit = fc.constantFrom(
    ..."a b 0 ( ) (?: (?i) | * + ? ^ $ . [ab] [^a-z] \\d \\b \\w () (|) K é ſ".split(" "),
  );
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 40 }), (units) => {
      const pattern = units.join("");
      let size: number;
      try {
        size = RE2JS.compile(pattern).programSize();
      } catch {
        return; // it is not one
      }
      expect(size).toBeLessThanOrEqual(programBound(pattern));
    }),
    { numRuns: 5_000 },
  );
});
