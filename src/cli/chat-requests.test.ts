import { expect, test } from "vitest";

import type { ApprovalView } from "../feature/views.ts";
import { parseReply } from "./chat-requests.ts";

const CALL = { question: null, options: null } as ApprovalView;
const QUESTION = { question: "Which?", options: ["red", "green"] as string[] } as ApprovalView;

test("a yes approves a call, a no refuses it, with a reason where there is one", () => {
  for (const line of ["y", "yes", "Yes.", " YES! "])
    expect(parseReply(line, CALL)).toEqual({ kind: "approve" });
  for (const line of ["n", "no", "No."])
    expect(parseReply(line, CALL)).toEqual({ kind: "deny", reason: undefined });
  expect(parseReply("no, not there", CALL)).toEqual({ kind: "deny", reason: "not there" });
});

test("what is not plainly a yes or a no decides nothing", () => {
  for (const line of ["yes, but not there", "yesterday", "now", "not that", "", "ok", "/approve"])
    expect(parseReply(line, CALL)).toBeUndefined();
});

test("to a question everything but a command is an answer, and a number is an option", () => {
  expect(parseReply("2", QUESTION)).toEqual({ kind: "answer", text: "green" });
  expect(parseReply("3", QUESTION)).toEqual({ kind: "answer", text: "3" });
  expect(parseReply(" blue ", QUESTION)).toEqual({ kind: "answer", text: "blue" });
  expect(parseReply("/status", QUESTION)).toBeUndefined();
  expect(parseReply("!cancel", QUESTION)).toBeUndefined();
});

test("while a relay asks, a line that begins with a space is for the agent of the chat", () => {
  const relay = {
    ...QUESTION,
    session: "thr:thr_0a1b2c3d:writer:0",
    chat: "agent:main:main",
  } as ApprovalView;
  expect(parseReply("blue", relay)).toEqual({ kind: "answer", text: "blue" });
  expect(parseReply(" blue", relay)).toBeUndefined();
});
