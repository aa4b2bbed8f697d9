import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

import { callTool, testWorkspace, type TestWorkspace } from "../../../test/support/tool-context.ts";
import type { Json } from "../../model/json.ts";
import { findFiles, globTool, MAX_FOUND } from "./glob.ts";

function put(files: TestWorkspace, ...paths: readonly string[]): void {
  for (const path of paths) {
    const absolute = join(files.context.workspace, path);
    mkdirSync(dirname(absolute), { recursive: true });
    writeFileSync(absolute, "");
  }
}

async function glob(files: TestWorkspace, params: Json): Promise<string[]> {
  return (await callTool(globTool, params, files.context)).text.split("\n");
}

test("files are found by their path, sorted, and shown from the workspace on", async () => {
  using files = testWorkspace();
  put(files, "b.ts", "src/a.ts", "src/deep/c.ts", "src/d.md");
  expect(await glob(files, { pattern: "**/*.ts" })).toEqual(["b.ts", "src/a.ts", "src/deep/c.ts"]);
  expect(await glob(files, { pattern: "*.ts" })).toEqual(["b.ts"]);
  expect(await glob(files, { pattern: "src/*.{ts,md}" })).toEqual(["src/a.ts", "src/d.md"]);
  expect(await glob(files, { pattern: "**/*.ts", path: "src" })).toEqual(["src/a.ts", "src/deep/c.ts"]);
  expect(await glob(files, { pattern: "src/a.ts" })).toEqual(["src/a.ts"]);
});

test("a pattern that matches nothing is answered, and a path that is not there is an error", async () => {
  using files = testWorkspace();
  put(files, "a");
  expect(await glob(files, { pattern: "none/**" })).toEqual(["No files match."]);
  expect(await glob(files, { pattern: "a/*" })).toEqual(["No files match."]);
  await expect(glob(files, { pattern: "*", path: "none" })).rejects.toMatchObject({ code: "tool_failed" });
});

test("node_modules is entered where the pattern spells it out", async () => {
  using files = testWorkspace();
  put(files, "node_modules/x/index.js", "index.js");
  expect(await glob(files, { pattern: "**/*.js" })).toEqual(["index.js"]);
  expect(await glob(files, { pattern: "node_modules/**/*.js" })).toEqual(["node_modules/x/index.js"]);
});

test("no pattern finds what is outside", async () => {
  using files = testWorkspace();
  writeFileSync(join(files.outside, "secret"), "");
  symlinkSync(files.outside, join(files.context.workspace, "link"));

  for (const pattern of ["../outside/*", "link/*", "a/../../outside/*"])
    await expect(glob(files, { pattern })).rejects.toMatchObject({ code: "path_forbidden" });
  for (const pattern of ["/etc/*", "{..,x}/outside/*", "**/../outside/*", "l*/*"])
    expect(await glob(files, { pattern })).toEqual(["No files match."]);
});

test("at most so many are given", async () => {
  using files = testWorkspace();
  put(files, ...Array.from({ length: MAX_FOUND + 1 }, (_, index) => `many/${index}`));
  const found = await glob(files, { pattern: "many/*" });
  expect(found).toHaveLength(MAX_FOUND + 1);
  expect(found[0]).toBe(`[These are the first ${MAX_FOUND}: narrow the pattern]`);
});

test("a search ends after so many files, and says so", async () => {
  using files = testWorkspace();
  put(files, "a", "b", "c");
  const { text } = await findFiles({ pattern: "x*" }, files.context, 2);
  expect(text).toBe("No files match.\n[Stopped after 2 files and folders: give a path]");
});
