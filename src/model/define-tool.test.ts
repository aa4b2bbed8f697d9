import { expect, test } from "vitest";
import { z } from "zod";

import { callTool, testWorkspace } from "../../test/support/tool-context.ts";
import { CortexError } from "./errors.ts";
import { defineTool } from "./define-tool.ts";

function toolThat(run: () => Promise<{ text: string }>) {
  return defineTool({
    name: "Count",
    description: "Counts",
    parameters: z.strictObject({ path: z.string(), times: z.int().min(1).max(9).optional() }),
    writes: false,
    repeatable: true,
    timeoutMs: 1000,
    trust: { private: true },
    run,
  });
}

const count = toolThat(async () => ({ text: "counted" }));

test("the parameters are a plain JSON Schema", () => {
  expect(count.parameters).toEqual({
    type: "object",
    properties: { path: { type: "string" }, times: { type: "integer", minimum: 1, maximum: 9 } },
    required: ["path"],
    additionalProperties: false,
  });
});

test("what is said about a tool beside its parameters is kept", () => {
  expect(count).toMatchObject({
    name: "Count",
    writes: false,
    repeatable: true,
    timeoutMs: 1000,
    trust: { private: true },
  });
  expect(count.runsCode).toBeUndefined();
});

test("a call with the right parameters is made", async () => {
  using files = testWorkspace();
  expect(await callTool(count, { path: "a", times: 2 }, files.context)).toEqual({ text: "counted" });
});

test("a wrong call is answered with all that is wrong and what is right", async () => {
  using files = testWorkspace();
  const call = callTool(count, { times: 10, file_path: "a" }, files.context);

  await expect(call).rejects.toMatchObject({
    code: "tool_input_invalid",
    message: expect.stringMatching(/^Invalid arguments for Count: .*"path".*"times".*"file_path"/),
    hint: "Count takes path, times (optional). Fix the arguments and call it again.",
  });
});

test.each([null, "a", 5, [], true])("parameters of the wrong kind are refused: %j", async (params) => {
  using files = testWorkspace();
  await expect(callTool(count, params, files.context)).rejects.toMatchObject({ code: "tool_input_invalid" });
});

test("a mistake of ours is not dressed up as an answer", async () => {
  using files = testWorkspace();
  const broken = toolThat(() => Promise.reject(new TypeError("undefined is not a function")));
  await expect(callTool(broken, { path: "a" }, files.context)).rejects.toBeInstanceOf(TypeError);
});

test("a call that is stopped says so, or says the reason that it was given", async () => {
  using files = testWorkspace({ signal: AbortSignal.abort() });
  await expect(callTool(count, { path: "a" }, files.context)).rejects.toMatchObject({
    code: "tool_failed",
    message: "Count was stopped before it finished",
  });

  const reason = new CortexError("tool_failed", "Count took too long", { hint: "Ask for less." });
  const context = { ...files.context, signal: AbortSignal.abort(reason) };
  await expect(callTool(count, { path: "a" }, context)).rejects.toBe(reason);
});

test("a tool whose answer comes later suspends the turn", async () => {
  using files = testWorkspace();
  const wait = { kind: "suspend", waitKind: "question", detail: { question: "Which?" } } as const;
  const asks = defineTool({
    name: "Ask",
    description: "Asks",
    parameters: z.strictObject({}),
    writes: false,
    repeatable: true,
    timeoutMs: 1000,
    trust: {},
    run: async () => wait,
  });
  expect(await asks.run({}, files.context)).toEqual(wait);
});
