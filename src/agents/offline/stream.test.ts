import * as fc from "fast-check";
import { expect, test } from "vitest";

import type { Delta } from "../agent.ts";
import { chunks, MAX_CHUNKS, say } from "./stream.ts";

test("the pieces of any text make the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 2000 }), (text) => {
      const pieces = [...chunks(text)];
      expect(pieces.join("")).toBe(text);
      expect(pieces.every((piece) => piece !== "" && piece.isWellFormed())).toBe(true);
    }),
  );
});

test("a piece ends after a word", () => {
  expect([...chunks("The quick brown fox jumps over the lazy dog.")]).toEqual([
    "The quick brown fox jumps ",
    "over the lazy dog.",
  ]);
});

test("a text of megabytes has no more pieces than are allowed", () => {
  const count = [...chunks("word ".repeat(1_000_000))].length;
  expect(count).toBeGreaterThan(MAX_CHUNKS / 2);
  expect(count).toBeLessThanOrEqual(MAX_CHUNKS);
});

test("nothing is said after the signal, and what was said is given back", () => {
  const aborter = new AbortController();
  const heard: string[] = [];
  const onDelta = (delta: Delta): void => {
    heard.push(delta.text);
    if (heard.length === 2) aborter.abort();
  };
  const said = say("one two three four five ".repeat(10), { onDelta, signal: aborter.signal });
  expect(heard).toHaveLength(2);
  expect(said).toBe(heard.join(""));
});
