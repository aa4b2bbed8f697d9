import { expect, test } from "vitest";

import type { ToolCall, ToolStatus } from "./message.ts";
import { hasSaidAll, REPLY_TOOL, saidInAll, wasReplied } from "./reply-tool.ts";

function call(content: unknown, status: ToolStatus = "ok", tool = REPLY_TOOL): ToolCall {
  return { ordinal: 0, callId: "c", tool, params: { content } as never, status, startedAtMs: 0 };
}

test.each([
  ["hello", [call("hello")], true],
  [" hello\n", [call("hello")], true],
  ["[[reply_to_current]] hello", [call("hello")], true],
  ["hello", [call("first"), call("hello")], true],
  ["hello", [call("Hello")], false],
  ["hello", [call("hello", "error")], false],
  ["hello", [call("hello", "skipped")], false],
  ["hello", [call("hello", "ok", "message")], false],
  ["hello", [call(5), call(undefined)], false],
  ["hello", [], false],
] as const)("%j after %j was said: %s", (answer, calls, said) => {
  expect(wasReplied(answer, calls)).toBe(said);
  expect(hasSaidAll(answer, calls)).toBe(said);
});

test("silence says that all was said only where something was", () => {
  expect(hasSaidAll("NO_REPLY", [call("hello")])).toBe(true);
  expect(hasSaidAll("NO_REPLY", [])).toBe(false);
  expect(wasReplied("NO_REPLY", [call("hello")])).toBe(false);
});

test.each([
  ["NO_REPLY", [call("hello")], "hello"],
  ["[[reply_to_current]] NO_REPLY", [call(" hello ")], "hello"],
  ["hello", [call("hello")], "hello"],
  ["bye", [call("first"), call("second")], "first\n\nsecond\n\nbye"],
  ["bye", [call("lost", "error"), call("other", "ok", "message")], "bye"],
  ["NO_REPLY", [], ""],
  ["[[a]] bye", [], "[[a]] bye"],
] as const)("with the answer %j after %j all that was said is %j", (answer, calls, said) => {
  expect(saidInAll(answer, calls)).toBe(said);
});
