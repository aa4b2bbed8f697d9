import { expect, test } from "vitest";

import { styleText } from "node:util";
import {
  count,
  duration,
  firstLine,
  harmless,
  harmlessWithColors,
  indent,
  shorten,
  size,
  table,
} from "./text.ts";

test("nothing that a terminal would obey is left of a text", () => {
  expect(harmless("a\u001b[31mred\u001b[0m\u0007\u009b2Jb\r\nc\td\re\u001b]0;title\u0007f")).toBe(
    "aredb\nc\tdef",
  );
  expect(harmless("rm \u202Etxt.a\u202C \u2066b\u2069")).toBe("rm txt.a b");
});

test("of a text in colour the colours stay, and nothing else that a terminal would obey", () => {
  const own = styleText(["bold", "yellow"], "id", { validateStream: false });
  expect(own).not.toBe("id");
  const theirs = "\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u009b31mx\u001b[8mhidden\u001b]0;a\u001b[0mb\u001b\\";
  expect(harmlessWithColors(`${own} ${theirs}`)).toBe(`${own} xhidden;a\u001b[0mb\\`);
});

test("the first line is the first that says something, cut where it is long", () => {
  expect(firstLine("\n  \n  hello\tthere \nmore", 80)).toBe("hello there");
  expect(firstLine("x".repeat(100), 10)).toBe(`${"x".repeat(9)}…`);
  expect(firstLine("", 10)).toBe("");
});

test("a text is never cut within a character", () => {
  expect(shorten("ab😀cd", 4).isWellFormed()).toBe(true);
});

test("cells stand under each other, and nothing trails", () => {
  expect(
    table([
      ["a", "long", "x"],
      ["bcd", "e", ""],
    ]),
  ).toBe("a    long  x\nbcd  e");
  expect(table([])).toBe("");
});

test("a cell in colour is as wide as one without", () => {
  const red = "\u001b[31m-\u001b[39m";
  expect(
    table([
      ["abc", "x"],
      [red, "y"],
    ]),
  ).toBe(`abc  x\n${red}    y`);
});

test("empty lines are not indented", () => {
  expect(indent("a\n\nb")).toBe("  a\n\n  b");
});

test("durations, sizes and counts read as a person says them", () => {
  expect([duration(12.3), duration(1_250), duration(125_000)]).toEqual(["12 ms", "1.3 s", "2 min 5 s"]);
  expect(duration(119_700)).toBe("2 min 0 s");
  expect([size(1), size(2_048), size(3.5 * 1_024 ** 2), size(2 * 1_024 ** 3)]).toEqual([
    "1 byte",
    "2 KiB",
    "3.5 MiB",
    "2.0 GiB",
  ]);
  expect([count(0, "turn"), count(1, "turn"), count(2, "turn")]).toEqual(["0 turns", "1 turn", "2 turns"]);
});
