import { expect, test } from "vitest";

import { inspectHook } from "./inspect-hook.ts";

test("triggers are a filter too", async () => {
  const event = { channels: ["sms"], types: ["text"], direction: "inbound", metadata: { a: 1 } };
  expect(await inspectHook({ triggers: { event, principal: { name: "ada" } } })).toEqual({
    filter: {
      channels: ["sms"],
      types: ["text"],
      directions: ["received"],
      metadata: { a: 1 },
      senders: ["ada"],
    },
  });
  expect(await inspectHook({ triggers: { principal: { type: "owner" } }, filter: { match: "x" } })).toEqual({
    filter: { senders: ["owner"], match: "x" },
  });
  expect(await inspectHook({ filter: { match: "x" } })).toEqual({ filter: { match: "x" } });
});

test.each([
  [{ triggers: { principal: { relationship: "mother" } } }, '"relationship"'],
  [{ triggers: { principal: { type: "alien" } } }, '"alien"'],
  [{ triggers: { event: { channels: ["sms"] } }, filter: ["sms"] }, "an object"],
])("the exports %j are refused", async (exported, problem) => {
  expect(await inspectHook(exported)).toEqual({ problem: expect.stringContaining(problem) });
});
