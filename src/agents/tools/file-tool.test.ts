import { expect, test } from "vitest";
import { z } from "zod";

import { callTool, testWorkspace } from "../../../test/support/tool-context.ts";
import { NO_LABEL } from "../../model/trust.ts";
import { defineFileTool, labelled } from "./file-tool.ts";

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

test("what is read has the label that it had before, and the one that it has afterwards", async () => {
  const labels = [
    { ...NO_LABEL, untrusted: ["person:ada"] },
    { ...NO_LABEL, untrusted: ["document"] },
  ];
  const steps: string[] = [];
  const look = async () => {
    steps.push("look");
    return labels.pop()!;
  };
  const read = async () => {
    steps.push("read");
    return { text: "A letter." };
  };
  const { label } = await labelled(look, read);
  expect(label?.untrusted).toEqual(["document", "person:ada"]);
  expect(steps).toEqual(["look", "read", "look"]);
});
