import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

import { callTool, testWorkspace, type TestWorkspace } from "../../../test/support/tool-context.ts";
import type { Json } from "../../model/json.ts";
import {
  grepTool,
  searchFiles,
  MAX_SEARCHED_BYTES,
  MAX_LINE_SEARCHED,
  MAX_LINE_SHOWN,
  MAX_MATCHES,
} from "./grep.ts";
import { globTool } from "./glob.ts";
import { listTool } from "./list.ts";

function put(files: TestWorkspace, contents: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(contents)) {
    const absolute = join(files.context.workspace, path);
    mkdirSync(dirname(absolute), { recursive: true });
    writeFileSync(absolute, content);
  }
}

async function grep(files: TestWorkspace, params: Json): Promise<string> {
  return (await callTool(grepTool, params, files.context)).text;
}

test("matches are given with path and line, in the order of paths", async () => {
  using files = testWorkspace();
  put(files, { "b.ts": "no\r\nfind me\r\n", "a/c.ts": "find 1\nno\nfind 2" });
  expect(await grep(files, { pattern: "find" })).toBe("a/c.ts:1:find 1\na/c.ts:3:find 2\nb.ts:2:find me");
});

test("the end of a line is its end, on Windows too", async () => {
  using files = testWorkspace();
  put(files, { a: "x\r\ny\n" });
  expect(await grep(files, { pattern: "^x$" })).toBe("a:1:x");
});

test("path and glob narrow the search", async () => {
  using files = testWorkspace();
  put(files, { "x.ts": "find", "src/a.ts": "find", "src/a.md": "find", "src/b/c.ts": "find" });
  expect(await grep(files, { pattern: "find", path: "src", glob: "*.ts" })).toBe(
    "src/a.ts:1:find\nsrc/b/c.ts:1:find",
  );
  expect(await grep(files, { pattern: "find", path: "src", glob: "b/*.ts" })).toBe("src/b/c.ts:1:find");
  expect(await grep(files, { pattern: "find", path: "src/a.md" })).toBe("src/a.md:1:find");
});

test("no match is an answer", async () => {
  using files = testWorkspace();
  expect(await grep(files, { pattern: "x" })).toBe("No matches.");
});

test(".git and node_modules are searched when they are asked for", async () => {
  using files = testWorkspace();
  put(files, { ".git/config": "find", "node_modules/x/index.js": "find" });
  expect(await grep(files, { pattern: "find" })).toBe("No matches.");
  expect(await grep(files, { pattern: "find", path: "node_modules/x" })).toBe(
    "node_modules/x/index.js:1:find",
  );
});

test("binary and large files are left out, and that is said", async () => {
  using files = testWorkspace();
  put(files, { binary: "find\0", large: "find".padEnd(MAX_SEARCHED_BYTES + 1), text: "find" });
  expect(await grep(files, { pattern: "find" })).toBe(
    `text:1:find\n[2 files were skipped: binary, over ${MAX_SEARCHED_BYTES} bytes or unreadable]`,
  );
  for (const path of ["binary", "large"])
    await expect(grep(files, { pattern: "find", path })).rejects.toMatchObject({ code: "tool_failed" });
});

test("a link out of the workspace is not searched", async () => {
  using files = testWorkspace();
  writeFileSync(join(files.outside, "secret"), "find");
  symlinkSync(join(files.outside, "secret"), join(files.context.workspace, "file"));
  symlinkSync(files.outside, join(files.context.workspace, "folder"));
  expect(await grep(files, { pattern: "find" })).toBe("No matches.");
  await expect(grep(files, { pattern: "find", path: "folder" })).rejects.toMatchObject({
    code: "path_forbidden",
  });
});

test("at most so many matches are given", async () => {
  using files = testWorkspace();
  put(files, { exact: "find\n".repeat(MAX_MATCHES), "more/a": "find\n".repeat(MAX_MATCHES + 1) });
  expect((await grep(files, { pattern: "find", path: "exact" })).split("\n")).toHaveLength(MAX_MATCHES);
  const lines = (await grep(files, { pattern: "find", path: "more" })).split("\n");
  expect(lines).toHaveLength(MAX_MATCHES + 1);
  expect(lines.at(-1)).toContain(`first ${MAX_MATCHES} matches`);
});

test("a long line is searched up to a limit and shown up to another", async () => {
  using files = testWorkspace();
  put(files, { a: `${"x".repeat(MAX_LINE_SEARCHED - 1)}yz` });
  expect(await grep(files, { pattern: "y" })).toBe(
    `a:1:${"x".repeat(MAX_LINE_SHOWN)}…\n[1 long line was searched only up to character ${MAX_LINE_SEARCHED}]`,
  );
  expect(await grep(files, { pattern: "z" })).toContain("No matches.");
});

test("a search can be stopped in the middle of a file", async () => {
  using files = testWorkspace();
  put(files, { large: "some line of text\n".repeat(MAX_SEARCHED_BYTES / 20) });
  const stop = new AbortController();
  const call = callTool(grepTool, { pattern: "(not|here)x" }, { ...files.context, signal: stop.signal });
  setImmediate(() => stop.abort());
  await expect(call).rejects.toMatchObject({ message: "Grep was stopped before it finished" });
});

test("a bad pattern is refused with a reason", async () => {
  using files = testWorkspace();
  await expect(grep(files, { pattern: "(" })).rejects.toMatchObject({
    code: "pattern_refused",
    message: expect.stringContaining("missing closing )"),
  });
});

test("a pattern of twenty large repetitions is refused, and others are served meanwhile", async () => {
  using files = testWorkspace();
  put(files, { text: "ab".repeat(10_000) });
  await expect(grep(files, { pattern: `${".{0,1000}".repeat(20)}[x-z]` })).rejects.toMatchObject({
    code: "pattern_refused",
    message: expect.stringContaining("is too complex"),
  });
});

test("a search ends after so many files, and says so", async () => {
  using files = testWorkspace();
  put(files, { a: "", b: "", c: "" });
  const { text } = await searchFiles({ pattern: "x" }, files.context, 2);
  expect(text).toBe("No matches.\n[Stopped after 2 files and folders: give a path]");
});

test("the home of Cortex is not searched on the way through a folder around it", async () => {
  using files = testWorkspace();
  const home = join(files.outside, "home");
  mkdirSync(home);
  writeFileSync(join(home, "token"), "canary");
  writeFileSync(join(files.outside, "note"), "canary");
  const context = { ...files.context, roots: [files.outside], hidden: [home] };
  for (const tool of [grepTool, globTool, listTool]) {
    const params = { path: files.outside, ...PARAMS[tool.name as keyof typeof PARAMS] };
    const { text } = await callTool(tool, params, context);
    expect(text).toContain("note");
    expect(text).not.toContain("token");
  }
});

const PARAMS = { Grep: { pattern: "canary" }, Glob: { pattern: "**/*" }, List: { depth: 5 } };
