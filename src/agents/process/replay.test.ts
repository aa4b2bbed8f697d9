import { expect, test } from "vitest";

import { assistantMessage, exchange, toolCall, userMessage } from "../../../test/support/question.ts";
import type { Block } from "../../model/message.ts";
import { beginningOf, Replay } from "./replay.ts";

const call = (path: string): Block => ({
  type: "toolCall",
  id: path,
  name: "Read",
  arguments: { path, more: 1 },
});
const wish = (path: string) => ({ name: "Read", arguments: { more: 1, path } });

const MESSAGES = [
  userMessage("Read"),
  assistantMessage([]),
  userMessage("all"),
  assistantMessage([call("a"), call("b")]),
  userMessage("Hurry"),
  userMessage("please"),
  assistantMessage([call("c")]),
];
const CALLS = [toolCall(0), toolCall(1), toolCall(2)];

test("calls that are asked for in the same order have led to the same, and what was said comes with the last", () => {
  const replay = new Replay(exchange(MESSAGES, CALLS));
  expect(replay.holds([wish("a"), wish("b")])).toBe(true);
  expect(replay.take(wish("a"))).toEqual({ outcome: CALLS[0], messages: [] });
  expect(replay.take(wish("b"))).toEqual({ outcome: CALLS[1], messages: ["Hurry", "please"] });
  expect(replay.take(wish("c"))).toEqual({ outcome: CALLS[2], messages: [] });
  expect(replay.take(wish("a"))).toBeUndefined();
  expect(replay.end()).toEqual([]);
});

test("a call that was not made next is a new one, and what was said is still told", () => {
  const replay = new Replay(exchange(MESSAGES, CALLS));
  expect(replay.holds([wish("b")])).toBe(false);
  expect(replay.holds([])).toBe(false);
  expect(replay.take(wish("b"))).toBeUndefined();
  expect(replay.take({ ...wish("a"), name: "Write" })).toBeUndefined();
  expect(replay.end()).toEqual(["Hurry", "please"]);
  expect(replay.take(wish("a"))).toBeUndefined();
});

test("what was said before the first call is the beginning, failed attempts included", () => {
  expect(beginningOf(MESSAGES)).toEqual(MESSAGES.slice(0, 3));
  expect(beginningOf(MESSAGES.slice(0, 1))).toEqual(MESSAGES.slice(0, 1));
});
