import * as fc from "fast-check";
import { expect, test } from "vitest";

import { type Editor, entered, type Key, MAX_HISTORY, newEditor, press, withText } from "./editor.ts";
import { graphemes } from "../model/text-width.ts";

const LEFT: Key = { name: "left" };
const UP: Key = { name: "up" };
const DOWN: Key = { name: "down" };
const ENTER: Key = { name: "return", sequence: "\r" };
const control = (name: string): Key => ({ name, ctrl: true });
const meta = (name: string): Key => ({ name, meta: true });

function play(editor: Editor, ...keys: readonly (Key | string)[]): Editor {
  for (const key of keys) {
    const pressed = typeof key === "string" ? Array.from(key, (sequence) => ({ sequence })) : [key];
    for (const one of pressed) editor = press(editor, one).editor;
  }
  return editor;
}

/** The text with a bar where the cursor is. */
function shown({ text, at }: Editor): string {
  return `${text.slice(0, at)}|${text.slice(at)}`;
}

const after = (...keys: readonly (Key | string)[]): string => shown(play(newEditor([]), ...keys));

test("keys type, move and delete, a whole character at a time", () => {
  expect(after("abc", LEFT, "x")).toBe("abx|c");
  expect(after("a👩‍💻", LEFT)).toBe("a|👩‍💻");
  expect(after("ae\u0301", { name: "backspace" })).toBe("a|");
  expect(after("日本", LEFT, { name: "delete" })).toBe("日|");
  expect(after("abc", control("a"), control("d"), control("e"))).toBe("bc|");
  expect(after({ sequence: "\x1b[99~", name: "undefined" })).toBe("|");
});

test("the cursor goes up and down by columns, never into a character", () => {
  expect(after("👩‍💻", meta("return"), "a", control("p"))).toBe("👩‍💻|\na");
  expect(after("ab", meta("return"), "👩‍💻c", UP)).toBe("ab|\n👩‍💻c");
  expect(after("👩‍💻b", meta("return"), "c", UP, LEFT, LEFT, DOWN)).toBe("👩‍💻b\n|c");
});

test("keys for words and lines, and what they cut comes back", () => {
  expect(after("one two", control("w"))).toBe("one |");
  expect(after("one two", meta("b"), "x")).toBe("one x|two");
  expect(after("one two", control("a"), meta("f"), control("k"))).toBe("one|");
  expect(after("one two", control("u"), "x", control("y"))).toBe("xone two|");
  expect(after("one", meta("enter"), "two", control("u"), { name: "backspace" })).toBe("one|");
  expect(after("one", meta("return"), "two", UP, control("k"))).toBe("one|two");
});

test("a backslash before Enter, and Alt-Enter, begin a new line, and Enter alone asks to send", () => {
  expect(after("a\\", ENTER, "b")).toBe("a\nb|");
  expect(after("a", meta("return"), "b", meta("enter"), "c")).toBe("a\nb\nc|");
  expect(press(play(newEditor([]), "a"), { name: "enter", sequence: "\n" }).asks).toBe("enter");
  expect(press(play(newEditor([]), "a"), ENTER)).toMatchObject({ asks: "enter", editor: { text: "a" } });
});

test("nothing that is pasted is a command, and nothing of it moves the cursor", () => {
  const paste = [
    { name: "paste-start" },
    "/quit\r\nrm\t-x\u001b",
    ENTER,
    control("c"),
    { name: "paste-end" },
  ];
  expect(after("a", ...paste, "b")).toBe("a/quit\nrm    -x\nb|");
});

test("up and down go through the lines first, and then through what was entered before", () => {
  const editor = newEditor(["first", "second\nline"]);
  const at = (...keys: readonly (Key | string)[]): string => shown(play(editor, ...keys));
  expect(at("typed", UP)).toBe("second\nline|");
  expect(at("typed", UP, UP)).toBe("seco|nd\nline");
  expect(at("typed", UP, UP, UP)).toBe("first|");
  expect(at("typed", UP, UP, UP, UP)).toBe("first|");
  expect(at("typed", UP, UP, UP, DOWN, DOWN)).toBe("typed|");
  expect(at("typed", DOWN)).toBe("typed|");
});

test("what was entered is in the history once, and the history is bounded", () => {
  const twice = entered(withText(entered(withText(newEditor([]), "a ")), "a"));
  expect(twice).toMatchObject({ text: "", history: ["a"] });
  const many = Array.from({ length: MAX_HISTORY + 5 }, (_, at) => String(at));
  expect(newEditor(many).history).toHaveLength(MAX_HISTORY);
  expect(entered(withText(newEditor(many), "x")).history.slice(-2)).toEqual([String(MAX_HISTORY + 4), "x"]);
});

test("Ctrl-C empties a line that is not empty, and asks to stop where it is", () => {
  expect(press(withText(newEditor([]), "x"), control("c"))).toMatchObject({ editor: { text: "" } });
  expect(press(newEditor([]), control("c")).asks).toBe("interrupt");
  expect(press(newEditor([]), control("d")).asks).toBe("leave");
  expect(press(withText(newEditor([]), "x"), control("d")).asks).toBeUndefined();
});

test("whatever is pressed, the cursor stands between two characters of the text", () => {
  const key = fc.oneof(
    fc.constantFrom<Key>(LEFT, UP, DOWN, ENTER, { name: "right" }, { name: "backspace" }, { name: "delete" }),
    fc.constantFrom("a", "b", "e", "f", "h", "k", "n", "p", "u", "w", "y").map(control),
    fc.constantFrom("b", "f", "d", "return", "backspace").map(meta),
    fc.constantFrom("a", " ", "日", "👩‍💻", "\\").map((sequence): Key => ({ sequence })),
  );
  fc.assert(
    fc.property(fc.array(key, { maxLength: 60 }), (keys) => {
      const { text, at } = play(newEditor(["old", "two\nlines"]), ...keys);
      expect(graphemes(text.slice(0, at)).length + graphemes(text.slice(at)).length).toBe(
        graphemes(text).length,
      );
    }),
  );
});

test("Escape empties the line, and Ctrl-Y puts it back", () => {
  const escape: Key = { name: "escape", meta: true, sequence: "\x1b" };
  expect(after("one two", escape)).toBe("|");
  expect(after("one two", escape, escape, control("y"))).toBe("one two|");
});

test("Ctrl-R looks in what was typed before, further back each time", () => {
  const find = (...keys: readonly (Key | string)[]): string =>
    shown(play(newEditor(["Fix the tests", "look at the log", "fix the log"]), ...keys));
  expect(find(control("r"), "log")).toBe("fix the log|");
  expect(find(control("r"), "log", control("r"))).toBe("look at the log|");
  expect(find(control("r"), "FIX", control("r"))).toBe("Fix the tests|");
  expect(find(control("r"), "tests", { name: "backspace" }, "x")).toBe("Fix the tests|");
  expect(find(control("r"), "log", control("r"), control("r"))).toBe("look at the log|");
  expect(find("mine", control("r"), "log", control("c"))).toBe("mine|");
  expect(find("mine", control("r"), "log", LEFT, "!")).toBe("fix the lo!|g");
  expect(find(control("r"), "log", ENTER)).toBe("fix the log|");
  expect(find(control("r"), "log", control("r"), DOWN)).toBe("fix the log|");
});
