import { expect, test } from "vitest";

import { testWorkspace } from "../../../test/support/tool-context.ts";
import type { Json } from "../../model/json.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { Tool, ToolOutcome } from "../../model/tool.ts";
import type { RelayWish } from "./start-from-tool.ts";
import { createRelayTools, MAX_REASON_LENGTH } from "./tools.ts";

function open(): { start: Tool; abort: Tool; wishes: RelayWish[] } {
  const wishes: RelayWish[] = [];
  const [start, abort] = createRelayTools(async (wish) => {
    wishes.push(wish);
    return "thr_0a1b2c3d";
  });
  return { start: start!, abort: abort!, wishes };
}

async function call(tool: Tool, params: Json, session = "main"): Promise<ToolOutcome> {
  using workspace = testWorkspace({ session: session as SessionKey });
  return await tool.run(params, workspace.context);
}

test("a relay is started with what was agreed on, and goes on by itself", async () => {
  const { start, wishes } = open();
  const terms = { goal: "An answer", doneWhen: "It has a source", budgetUsd: 2 };
  const outcome = await call(start, { template: "research", message: "Why?", ...terms });
  expect(outcome).toMatchObject({
    kind: "done",
    result: { text: expect.stringContaining("thr_0a1b2c3d"), details: { relay: "thr_0a1b2c3d" } },
  });
  expect(wishes).toEqual([
    {
      name: "research",
      kind: "template",
      message: "Why?\n\nGoal: An answer\n\nDone when: It has a source",
      contract: { goal: "An answer", doneWhen: "It has a source", budgetUsd: 2 },
      budgetUsd: 2,
      waits: false,
    },
  ]);
});

test("a turn that waits is suspended", async () => {
  const { start, wishes } = open();
  expect(await call(start, { agent: "critic", message: "Why?", wait: true })).toEqual({
    kind: "suspend",
    waitKind: "child",
    detail: { relay: "thr_0a1b2c3d" },
  });
  expect(wishes).toMatchObject([
    { name: "critic", kind: "agent", message: "Why?", contract: {}, waits: true },
  ]);
});

test.each<[Json, string]>([
  [{ message: "Why?" }, "exactly one of template and agent"],
  [{ template: "a", agent: "b", message: "Why?" }, "exactly one of template and agent"],
  [{ template: "a" }, "message"],
  [{ template: "a", message: " " }, "message"],
  [{ template: "a", message: "b", budgetUsd: 0 }, "budgetUsd"],
  [{ template: "a", message: "b", done: true }, "done"],
])("%j is refused", async (params, problem) => {
  const { start, wishes } = open();
  await expect(call(start, params)).rejects.toMatchObject({
    code: "tool_input_invalid",
    message: expect.stringContaining(problem),
  });
  expect(wishes).toEqual([]);
});

test("an agent of a relay can end it, and nobody else has one to end", async () => {
  const { abort } = open();
  const step = "thr:thr_0a1b2c3d:coder";
  expect(await call(abort, { reason: "The disk is full" }, step)).toMatchObject({
    kind: "done",
    result: { details: { relay: "thr_0a1b2c3d", abort: "The disk is full" } },
  });
  await expect(call(abort, { reason: "The disk is full" })).rejects.toMatchObject({
    code: "tool_input_invalid",
    message: expect.stringContaining("Not a relay step"),
  });
  for (const reason of ["", " ", "x".repeat(MAX_REASON_LENGTH + 1)])
    await expect(call(abort, { reason }, step)).rejects.toMatchObject({ code: "tool_input_invalid" });
});
