import { expect, test } from "vitest";

import type { ApprovalView } from "../feature/approval-view.ts";
import { parseRequestReply } from "./chat-requests.ts";

const CALL = { question: null, options: null } as ApprovalView;
const QUESTION = { question: "Which?", options: ["red", "green"] as string[] } as ApprovalView;

test("a yes approves a call, a no refuses it, with a reason where there is one", () => {
  for (const line of ["y", "yes", "Yes.", " YES! "])
    expect(parseRequestReply(line, CALL)).toEqual({ kind: "approve" });
  for (const line of ["n", "no", "No."])
    expect(parseRequestReply(line, CALL)).toEqual({ kind: "deny", reason: undefined });
  expect(parseRequestReply("no, not there", CALL)).toEqual({ kind: "deny", reason: "not there" });
});

test("what is not plainly a yes or a no decides nothing", () => {
  for (const line of ["yes, but not there", "yesterday", "now", "not that", "", "ok", "/approve"])
    expect(parseRequestReply(line, CALL)).toBeUndefined();
});

test("to a question everything but a command is an answer, and a number is an option", () => {
  expect(parseRequestReply("2", QUESTION)).toEqual({ kind: "answer", text: "green" });
  expect(parseRequestReply("3", QUESTION)).toEqual({ kind: "answer", text: "3" });
  expect(parseRequestReply(" blue ", QUESTION)).toEqual({ kind: "answer", text: "blue" });
  expect(parseRequestReply("/status", QUESTION)).toBeUndefined();
  expect(parseRequestReply("!cancel", QUESTION)).toBeUndefined();
});

test("while a relay asks, a line that begins with a space is for the agent of the chat", () => {
  const relay = {
    ...QUESTION,
    session: "thr:thr_0a1b2c3d:writer:0",
    chat: "agent:main:main",
  } as ApprovalView;
  expect(parseRequestReply("blue", relay)).toEqual({ kind: "answer", text: "blue" });
  expect(parseRequestReply(" blue", relay)).toBeUndefined();
});
