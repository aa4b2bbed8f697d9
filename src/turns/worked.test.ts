import { expect, test } from "vitest";

import { message } from "../../test/support/sample.ts";
import type { Message, ToolCall } from "../model/message.ts";
import { nextStretch, workedMs } from "./worked.ts";

const WORKED = { beforeMs: 100, sinceMs: 1_000 };

function said(role: Message["role"], atMs: number): Message {
  return { ...message("m", role, ""), atMs };
}

function call(startedAtMs: number, completedAtMs?: number): ToolCall {
  const begun = { ordinal: 0, callId: "c0", tool: "A", params: {}, startedAtMs };
  return completedAtMs === undefined
    ? { ...begun, status: "started" }
    : { ...begun, status: "ok", result: {}, completedAtMs };
}

test.each<[string, readonly Message[], readonly ToolCall[], number]>([
  ["an answer", [said("assistant", 1_030)], [], 30],
  ["a call that began", [], [call(1_040)], 40],
  ["a result", [said("assistant", 1_030)], [call(1_040, 1_050)], 50],
  ["nothing", [], [], 0],
  ["nothing since it was taken up", [said("assistant", 900)], [], 0],
  ["nothing but what a user said", [said("user", 1_060)], [], 0],
])("a stretch that was cut off after it wrote down %s", (_, messages, toolCalls, ms) => {
  const next = nextStretch({ messages, toolCalls }, { worked: WORKED }, 5_000);
  expect(next).toEqual({ beforeMs: 100 + ms, sinceMs: 5_000 });
});

test("the time in which a call waited for its answer is not work", () => {
  const before = { messages: [], toolCalls: [call(1_040, 4_000)] };
  const next = nextStretch(before, { worked: WORKED, waiting: [{ ordinal: 0 }] }, 5_000);
  expect(next.beforeMs).toBe(140);
});

test("a turn that nobody has worked on yet begins with nothing", () => {
  const worked = nextStretch({ messages: [], toolCalls: [] }, undefined, 5_000);
  expect(workedMs(worked, 5_000)).toBe(0);
  expect(workedMs(worked, 5_010)).toBe(10);
});

test("a clock that is put back takes nothing away", () => {
  expect(workedMs(WORKED, 0)).toBe(100);
});
