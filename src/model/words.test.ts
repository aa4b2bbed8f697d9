import * as fc from "fast-check";
import { expect, test } from "vitest";

import { MAX_QUERY_LENGTH, MAX_QUERY_WORDS, MAX_WORD_LENGTH, readQuery, words } from "./words.ts";

const textsOf = (text: string): string[] => words(text).map((word) => word.text);

test("words have no case, no accents and no signs around them", () => {
  expect(textsOf("Hello, WORLD! don't e-mail 42%")).toEqual([
    "hello",
    "world",
    "don",
    "t",
    "e",
    "mail",
    "42",
  ]);
  expect(textsOf("Ünïcödé ﬁne Ⅳ Ёлка İstanbul")).toEqual(["unicode", "fine", "iv", "елка", "istanbul"]);
  expect(textsOf("ΟΔΟΣ οδός")).toEqual(["οδοσ", "οδοσ"]);
  expect(textsOf("हिन्दी की कि")).toEqual(["हिन्दी", "की", "कि"]);
  expect(textsOf("")).toEqual([]);
});

test("scripts without spaces are cut into characters, with their marks", () => {
  expect(textsOf("東京タワー、foo")).toEqual(["東", "京", "タ", "ワ", "ー", "foo"]);
  expect(textsOf("か\u3099き")).toEqual(["が", "き"]);
  expect(textsOf("학교")).toEqual(["학", "교"]);
  expect(textsOf("ที่")).toEqual(["ที่"]);
  expect(textsOf("a㈠ ŉ")).toEqual(["a", "一", "ʼn"]);
});

test("emoji are words of their own", () => {
  expect(textsOf("done🎉❤️ok")).toEqual(["done", "🎉", "❤", "ok"]);
});

test("a word knows its place in the text", () => {
  const text = "Ada—é東 b";
  expect(words(text).map(({ at, dense }) => [text.slice(at, at + 1), dense])).toEqual([
    ["A", false],
    ["é", false],
    ["東", true],
    ["b", false],
  ]);
});

test("of a very long word, the beginning counts", () => {
  expect(textsOf(`${"x".repeat(1_000)} ${"é".repeat(1_000)}`).map((word) => word.length)).toEqual([
    MAX_WORD_LENGTH,
    MAX_WORD_LENGTH,
  ]);
});

test("a query wants what stood between spaces as it stood there, and knows its parts", () => {
  const { phrases, terms } = readQuery("the ada@example.com THE 東京都 晴 c++");
  expect(phrases).toEqual(["the", "ada example com", "東 京 都", "晴", "c"]);
  expect(terms).toEqual([
    { text: "the", begins: true },
    { text: "ada", begins: true },
    { text: "example", begins: true },
    { text: "com", begins: true },
    { text: "東 京", begins: false },
    { text: "京 都", begins: false },
    { text: "晴", begins: false },
    { text: "c", begins: false },
  ]);
});

test("a query has a length and a number of words", () => {
  const many = Array.from({ length: 100 }, (_, i) => `w${i}`).join(" ");
  expect(readQuery(many).terms).toHaveLength(MAX_QUERY_WORDS);
  expect(readQuery(many).phrases).toHaveLength(MAX_QUERY_WORDS);
  const row = Array.from({ length: 100 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join("");
  expect(readQuery(row)).toMatchObject({ phrases: [], terms: { length: MAX_QUERY_WORDS } });
  expect(readQuery(`${" ".repeat(MAX_QUERY_LENGTH)}late`).terms).toEqual([]);
});

test("a word never holds anything but letters, digits, their marks and emoji", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      for (const word of words(text)) {
        expect(word.text).toMatch(/^(\p{Extended_Pictographic}|[\p{L}\p{N}\p{M}]+)$/u);
        expect(text.slice(word.at)).not.toBe("");
      }
    }),
  );
});

test("folding a word again changes nothing", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const once = textsOf(text).join(" ");
      expect(textsOf(once).join(" ")).toBe(once);
    }),
    { examples: [["ŉ"], ["a㈠"], ["ﷺ"], ["ǅ½"]] },
  );
});
