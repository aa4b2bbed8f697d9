import { expect, test } from "vitest";

import type { ApprovalId, RunId, TurnId } from "../model/ids.ts";
import { MAIN_SESSION } from "../model/session-key.ts";
import type { Approval } from "../store/store.ts";
import { type Asked, hashOfCall, requestsOf, resolve } from "./approval.ts";

const CALL = { tool: "Pay", args: { amount: 1 }, workspace: "/home/agent" };
const ASKED: Asked = {
  approval: "a" as ApprovalId,
  callHash: hashOfCall(CALL),
  request: { tool: "Pay", args: CALL.args, reason: "it is dear" },
  expiresAtMs: 1_000,
  notes: [],
};
const APPROVED: Approval = {
  id: ASKED.approval,
  kind: "approval",
  callHash: ASKED.callHash,
  request: ASKED.request,
  expiresAtMs: 1_000,
  session: MAIN_SESSION,
  chat: MAIN_SESSION,
  notice: undefined,
  turn: "t" as TurnId,
  run: "r" as RunId,
  state: "approved",
  answer: { kind: "approve", by: "owner" },
  askedAtMs: 0,
  answeredAtMs: 1,
};

test("the call that was agreed to is made with the very parameters", () => {
  expect(resolve(APPROVED, ASKED, CALL)).toEqual({ kind: "make", args: { amount: 1 } });
});

test.each<[string, Partial<Approval>, Partial<Asked>, Partial<typeof CALL>]>([
  ["its parameters were changed", { request: { tool: "Pay", args: { amount: 2 } } }, {}, {}],
  ["it is a call of another tool", {}, {}, { tool: "PayAll" }],
  ["it would be made elsewhere", {}, {}, { workspace: "/home/other" }],
  ["the yes is for another call", { callHash: hashOfCall({ ...CALL, args: {} }) }, {}, {}],
  ["the turn asks for another call", {}, { callHash: hashOfCall({ ...CALL, args: {} }) }, {}],
])("a call is not made where %s", (_, approval, asked, call) => {
  expect(resolve({ ...APPROVED, ...approval }, { ...ASKED, ...asked }, { ...CALL, ...call })).toMatchObject({
    kind: "result",
    result: { isError: true, text: expect.stringContaining("differs from") },
  });
});

test("the order of parameters makes no other call", () => {
  const one = hashOfCall({ ...CALL, args: { a: 1, b: 2 } });
  expect(hashOfCall({ ...CALL, args: { b: 2, a: 1 } })).toBe(one);
});

test("what waits for somebody else than a person is asked of nobody", () => {
  const detail = { ...ASKED, notes: [] };
  const call = { ordinal: 0, callId: "c" };
  expect(requestsOf([{ ...call, kind: "child", detail: {} }])).toEqual([]);
  expect(requestsOf([{ ...call, kind: "approval", detail }])).toEqual([
    { id: "a", kind: "approval", callHash: ASKED.callHash, request: ASKED.request, expiresAtMs: 1_000 },
  ]);
});
