import * as fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";

import { playScreen } from "../../test/support/played-screen.ts";
import { type Completion, Terminal, type TerminalEvents } from "./terminal.ts";
import type { Piece } from "./transcript.ts";

const plain = (_: unknown, words: string): string => words;
const words = (text: string): Piece => ({ kind: "words", text });
const END: Piece = { kind: "end" };

function open({ columns = 40, height = 12, history = [] as string[] } = {}) {
  const screen = playScreen(columns, height);
  const { input, output } = screen;
  const terminal = new Terminal({ input, output, style: plain, history });
  const heard: string[] = [];
  const events: TerminalEvents = {
    onLine: (line) => void heard.push(line),
    onInterrupt: () => void heard.push("^C"),
    onEnd: () => void heard.push("^D"),
    complete: async (text) => ({ text: `${text}!`, choices: ["one", "two"] }),
  };
  terminal.listen(events);
  terminal.prompt([{ text: "› " }]);
  let isOpen = true;
  const close = (): void => {
    if (isOpen) terminal[Symbol.dispose]();
    isOpen = false;
  };
  onTestFinished(close);
  return {
    screen,
    terminal,
    heard,
    close,
    type: (keys: string) => void input.emit("data", Buffer.from(keys)),
  };
}

test("what is written scrolls above the line that is being typed", () => {
  const { screen, terminal, type, close } = open();
  type("typ");
  terminal.add(words("**Hello** to all"), END);
  type("ed");
  expect(screen.rows()).toEqual(["Hello to all", "› typed"]);
  expect(screen.cursor()).toEqual({ row: 1, column: 7 });
  close();
  expect(screen.rows()).toEqual(["Hello to all", ""]);
  expect(screen.isRaw()).toBe(false);
});

test("a line that is entered is given away, and the next one is empty", () => {
  const { screen, heard, type } = open();
  type("hello \r");
  type("a\\\rb\x1b[200~c\r\nd\x1b[201~\r");
  expect(heard).toEqual(["hello", "a\nbc\nd"]);
  expect(screen.rows()).toEqual(["›"]);
});

test("the arrows bring back what was typed before, also in another chat", () => {
  const { screen, type } = open({ history: ["older"] });
  type("newer\r");
  type("\x1b[A");
  expect(screen.rows()).toEqual(["› newer"]);
  type("\x1b[A");
  expect(screen.rows()).toEqual(["› older"]);
});

test("Tab asks how the text goes on, and keys that follow at once wait for it", async () => {
  const { screen, heard, type } = open();
  type("/x\t");
  await expect.poll(() => screen.rows()).toEqual(["› /x!", "one  two"]);
  type("\t\r");
  await expect.poll(() => heard).toEqual(["/x!!"]);
  expect(screen.rows()).toEqual(["›"]);
});

test("Ctrl-C does not wait for how the text goes on, and what is found later is not taken", async () => {
  const { screen, terminal, heard, type, close } = open();
  const found = Promise.withResolvers<Completion>();
  terminal.listen({
    onLine: (line) => void heard.push(line),
    onInterrupt: () => void heard.push("^C"),
    onEnd: () => {},
    complete: () => found.promise,
  });
  type("/x\t\x03\x03");
  expect(heard).toEqual(["^C"]);
  type("/y\t");
  close();
  found.resolve({ text: "/x!", choices: [] });
  await found.promise;
  await Promise.resolve(); // whoever was waiting has gone on
  expect(screen.rows()).toEqual([""]);
});

test("what goes on stands between both, and is gone afterwards", () => {
  const { screen, terminal, type } = open();
  terminal.status(() => [{ text: "working ".repeat(20) }]);
  type("x");
  expect(screen.rows()).toEqual([`${"working ".repeat(5).slice(0, 38)}…`, "› x"]);
  terminal.status(undefined);
  type("y");
  expect(screen.rows()).toEqual(["› xy"]);
});

test("of a line that is higher than the terminal the end is shown while it is written, and all of it when it ends", () => {
  const { screen, terminal, type } = open({ columns: 21, height: 6 });
  terminal.add(words(Array.from({ length: 20 }, (_, at) => `word-number-${at + 10}`).join(" ")));
  type("x");
  expect(screen.rows()).toEqual([
    "word-number-26",
    "word-number-27",
    "word-number-28",
    "word-number-29",
    "› x",
  ]);
  terminal.add(END);
  type("y");
  expect(screen.rows()).toHaveLength(21);
  expect([screen.rows()[0], screen.rows()[20]]).toEqual(["word-number-10", "› xy"]);
});

test("a terminal that becomes narrower or wider loses nothing", () => {
  const { screen, terminal, type } = open({ columns: 60, height: 30 });
  terminal.add(words("The first line that is final.\n\nThe second one is being written and will be broken"));
  terminal.status(() => [{ text: "going on since long ago with many words about it" }]);
  type("some words that are typed just now");
  screen.resize(25);
  expect(screen.rows()).toEqual([
    "The first line that is fi",
    "nal.",
    "",
    "The second one is being",
    "written and will be",
    "broken",
    "going on since long ago…",
    "› some words that are ty",
    "  ped just now",
  ]);
  screen.resize(60);
  type("!");
  expect(screen.rows().slice(2)).toEqual([
    "",
    "The second one is being written and will be broken",
    "going on since long ago with many words about it",
    "› some words that are typed just now!",
  ]);
});

test("Ctrl-C clears what is typed first, Ctrl-D only ends an empty line", () => {
  const { heard, type } = open();
  type("x\x04\x03");
  expect(heard).toEqual([]);
  type("\x03\x04");
  expect(heard).toEqual(["^C", "^D"]);
});

describe("whatever is written in whatever pieces", () => {
  const text = fc
    .array(
      fc.constantFrom(
        "# a",
        "**b** ",
        "`c` ",
        "```\n",
        "| x | y |\n",
        "|--|--|\n",
        "- ",
        "日本 ",
        "🙂",
        "\n",
        "word ",
      ),
      {
        maxLength: 60,
      },
    )
    .map((parts) => parts.join(""));

  test("stands there in the same way in the end, with what was typed below it", () => {
    fc.assert(
      fc.property(
        text,
        fc.array(fc.nat(12), { maxLength: 20 }),
        fc.integer({ min: 16, max: 50 }),
        (text, lengths, columns) => {
          const whole = open({ columns });
          whole.terminal.add(words(text), END);
          whole.type("typed");
          const parts = open({ columns });
          let read = 0;
          for (const [at, length] of lengths.entries()) {
            parts.terminal.add(words(text.slice(read, (read += length))));
            if (at < "type".length) parts.type("type"[at]!); // drawn at once, in the middle of it
          }
          parts.terminal.add(words(text.slice(read)), END);
          parts.type("typed".slice(Math.min(lengths.length, "type".length)));
          expect(parts.screen.rows()).toEqual(whole.screen.rows());
          expect(parts.screen.cursor()).toEqual(whole.screen.cursor());
          parts.close();
          whole.close();
        },
      ),
    );
  });
});
