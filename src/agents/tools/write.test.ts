import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { callTool, makePipe, testWorkspace } from "../../../test/support/tool-context.ts";
import type { ToolLabels } from "../../model/tool.ts";
import { NO_LABEL } from "../../model/trust.ts";
import { writeTool } from "./write.ts";

test("a file is written with the folders above it", async () => {
  using files = testWorkspace();
  const result = await callTool(writeTool, { path: "a/b/c.txt", content: "é" }, files.context);

  expect(result.text).toBe('Wrote 2 bytes to "a/b/c.txt".');
  expect(readFileSync(join(files.context.workspace, "a/b/c.txt"), "utf8")).toBe("é");
});

test("a file that is there is replaced, keeps its permissions, and nothing else is left", async () => {
  using files = testWorkspace();
  const path = join(files.context.workspace, "run.sh");
  writeFileSync(path, "old");
  chmodSync(path, 0o751);

  for (const _ of ["first", "again"])
    await callTool(writeTool, { path: "run.sh", content: "new" }, files.context);
  expect(readFileSync(path, "utf8")).toBe("new");
  expect(statSync(path).mode & 0o777).toBe(0o751);
  expect(readdirSync(files.context.workspace)).toEqual(["run.sh"]);
});

test("nothing is made before the label of the file is recorded, neither a folder nor a temporary file", async () => {
  using files = testWorkspace();
  const { workspace } = files.context;
  const labels: ToolLabels = {
    ofFile: async () => NO_LABEL,
    ofFolders: async () => NO_LABEL,
    run: (_, run) => run(),
    async write(_, __, write) {
      expect(readdirSync(workspace)).toEqual([]);
      await write();
    },
  };
  await callTool(writeTool, { path: "a/b.txt", content: "x" }, { ...files.context, labels });
  expect(readdirSync(join(workspace, "a"))).toEqual(["b.txt"]);
});

test("a file that cannot be written for its name leaves no folders", async () => {
  using files = testWorkspace();
  const path = `a/b/${"x".repeat(300)}`;
  await expect(callTool(writeTool, { path, content: "x" }, files.context)).rejects.toThrow(
    "name is too long",
  );
  expect(readdirSync(files.context.workspace)).toEqual([]);
});

test("what an attempt that was cut off has left is removed by the next, and is not followed", async () => {
  using files = testWorkspace();
  const name = `.cortex-${createHash("sha256").update(files.context.callKey).digest("hex").slice(0, 16)}.tmp`;
  symlinkSync(join(files.outside, "new"), join(files.context.workspace, name));

  await callTool(writeTool, { path: "a", content: "x" }, files.context);
  expect(readdirSync(files.context.workspace)).toEqual(["a"]);
  expect(readdirSync(files.outside)).toEqual([]);
});

test("a call that is stopped changes nothing and leaves nothing", async () => {
  using files = testWorkspace();
  const stop = new AbortController();
  writeFileSync(join(files.context.workspace, "a"), "old");
  const call = callTool(writeTool, { path: "a", content: "new" }, { ...files.context, signal: stop.signal });
  stop.abort();

  await expect(call).rejects.toMatchObject({ code: "tool_failed" });
  expect(readFileSync(join(files.context.workspace, "a"), "utf8")).toBe("old");
  expect(readdirSync(files.context.workspace)).toEqual(["a"]);
});

test.each(["link-to-file", "link-to-folder/x", "dangling", "../outside/new", "pipe", "folder", "file/x"])(
  "nothing is written to %s",
  async (path) => {
    using files = testWorkspace();
    const { workspace } = files.context;
    const victim = join(files.outside, "victim");
    writeFileSync(victim, "kept");
    writeFileSync(join(workspace, "file"), "kept");
    mkdirSync(join(workspace, "folder"));
    makePipe(join(workspace, "pipe"));
    symlinkSync(victim, join(workspace, "link-to-file"));
    symlinkSync(files.outside, join(workspace, "link-to-folder"));
    symlinkSync(join(files.outside, "new"), join(workspace, "dangling"));

    await expect(callTool(writeTool, { path, content: "x" }, files.context)).rejects.toMatchObject({
      code: expect.stringMatching(/^(path_forbidden|tool_failed)$/),
    });
    expect(readFileSync(victim, "utf8")).toBe("kept");
    expect(readFileSync(join(workspace, "file"), "utf8")).toBe("kept");
    expect(readdirSync(files.outside)).toEqual(["victim"]);
    expect(lstatSync(join(workspace, "pipe")).isFIFO()).toBe(true);
  },
);
