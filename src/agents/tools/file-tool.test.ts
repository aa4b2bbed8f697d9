import { expect, test } from "vitest";
import { z } from "zod";

import { callTool, testWorkspace } from "../../../test/support/tool-context.ts";
import { defineFileTool } from "./file-tool.ts";

const failing = defineFileTool({
  name: "Fail",
  description: "Fails",
  parameters: z.strictObject({ path: z.string() }),
  writes: false,
  repeatable: true,
  timeoutMs: 1000,
  trust: {},
  run: () => Promise.reject(Object.assign(new Error("no"), { code: "ENOSPC", syscall: "write" })),
});

test("trouble of the system is told by the path that was given", async () => {
  using files = testWorkspace();
  await expect(callTool(failing, { path: "a" }, files.context)).rejects.toMatchObject({
    code: "tool_failed",
    message: 'Cannot use "a": the disk is full',
  });
});

test("trouble in a call that was stopped is that it was stopped", async () => {
  using files = testWorkspace();
  const stop = new AbortController();
  const context = { ...files.context, signal: stop.signal };
  const call = callTool(failing, { path: "a" }, context);
  stop.abort();
  await expect(call).rejects.toMatchObject({ message: "Fail was stopped before it finished" });
});
