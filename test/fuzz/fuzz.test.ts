import { expect, test } from "vitest";

import { createRandom } from "../simulation/random.ts";
import { fuzz, TARGETS } from "./fuzz.ts";
import { makeText } from "./make-text.ts";

const CASES = 5_000;

test.each(TARGETS)("whatever it is given, the reader of %s ends well", async (name) => {
  expect(await fuzz(name, { from: 1, cases: CASES })).toBeUndefined();
});

test("a number makes the same text again", () => {
  const material = { samples: ["## a\n**Status:** ready\n"], pieces: ["**"] };
  const texts = new Set(Array.from({ length: 50 }, (_, seed) => makeText(material, createRandom(seed))));
  expect(texts.size).toBeGreaterThan(40);
  expect(makeText(material, createRandom(7))).toBe(makeText(material, createRandom(7)));
});
