import { expect, test } from "vitest";

import { bestMatch, keywords, MAX_READ_LENGTH } from "./recall.ts";

test("keywords are what a text is about, in any case and number", () => {
  expect([...keywords("What are my favourite COLOURS, please? Colour!")]).toEqual(["favourite", "colour"]);
  expect([...keywords("Wo ist der Schlüssel? 3号机")]).toContain("schlüssel");
  expect([...keywords("What did I say before?")]).toEqual([]);
});

test("only the beginning of a long text is looked at", () => {
  expect(keywords(`${"a ".repeat(MAX_READ_LENGTH / 2)}late`).size).toBe(0);
});

test.each([
  ["favourite colour", ["My favourite colour is teal.", "The sky is blue."], 0],
  ["favourite colour", ["My favourite colour is teal.", "My favourite colour is now red."], 1],
  ["favourite colour", ["My favourite colour is teal.", "What is my favourite colour?"], 0],
  ["favourite colour", ["What is my favourite colour?"], 0],
  ["budget launch party", ["The launch is on Monday."], undefined],
  ["colour", [], undefined],
])("asked about %j, of %j the best is number %j", (question, texts, expected) => {
  const items = texts.map((text, at) => ({ text, at }));
  expect(bestMatch(keywords(question), items)?.at).toBe(expected);
});
