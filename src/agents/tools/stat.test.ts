import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { callTool, testWorkspace } from "../../../test/support/tool-context.ts";
import { statTool } from "./stat.ts";

test("a file is described", async () => {
  using files = testWorkspace();
  const path = join(files.context.workspace, "a.txt");
  writeFileSync(path, "12345");
  chmodSync(path, 0o640);
  utimesSync(path, 0, 86_400);

  expect((await callTool(statTool, { path: "a.txt" }, files.context)).text).toBe(
    "path: a.txt\nkind: file\nsize: 5\nmodified: 1970-01-02T00:00:00.000Z\nmode: 0640",
  );
});

test("a link is described itself, even where it leads out or nowhere", async () => {
  using files = testWorkspace();
  symlinkSync(files.outside, join(files.context.workspace, "out"));
  symlinkSync("nowhere", join(files.context.workspace, "dangling"));

  for (const [path, target] of Object.entries({ out: files.outside, dangling: "nowhere" })) {
    const { details } = await callTool(statTool, { path }, files.context);
    expect(details).toMatchObject({ path, kind: "link", target });
  }
});

test("the workspace is a folder, and what is outside is not described", async () => {
  using files = testWorkspace();
  mkdirSync(join(files.outside, "folder"));
  symlinkSync(files.outside, join(files.context.workspace, "out"));

  expect((await callTool(statTool, { path: "." }, files.context)).details).toMatchObject({ kind: "folder" });
  for (const path of ["..", "out/folder", "../outside", "a\0b"])
    await expect(callTool(statTool, { path }, files.context)).rejects.toMatchObject({
      code: "path_forbidden",
    });
  await expect(callTool(statTool, { path: "none" }, files.context)).rejects.toMatchObject({
    code: "tool_failed",
  });
});
