import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { page, playWeb } from "../../../test/support/played-web.ts";
import { findSandbox } from "../../../test/support/sandbox.ts";
import { callTool, testWorkspace } from "../../../test/support/tool-context.ts";
import { createCodeExecTool, MAX_CODE_BYTES } from "./code-exec.ts";
import { PROGRAM_LIMITS } from "./run-program.ts";

const codeExec = createCodeExecTool({ node: process.execPath });
const sandbox = await findSandbox("programs that are given as text, inside the sandbox");

test.each([
  ["javascript", 'const { platform } = require("node:os"); console.log(typeof platform())', "string"],
  ["javascript", 'import { platform } from "node:os"; console.log(typeof platform(), await 2)', "string 2"],
  ["typescript", "const list: readonly number[] = [1, 2]; console.log(list.length)", "2"],
  [
    "typescript",
    'import { sep } from "node:path"; interface A { b: string }; const a: A = { b: sep }; console.log(a.b)',
    "/",
  ],
  ["bash", 'for i in {1..3}; do echo "$i"; done', "1\n2\n3"],
])("%s runs: %s", async (language, code, text) => {
  using files = testWorkspace();
  expect(await callTool(codeExec, { language, code }, files.context)).toMatchObject({
    text,
    isError: false,
    details: { exitCode: 0 },
  });
});

test.skipIf(!hasPython())("python runs", async () => {
  using files = testWorkspace();
  const code = "import sys\nprint('out')\nprint('error', file=sys.stderr)\nprint(sum(range(5)))";
  expect((await callTool(codeExec, { language: "python", code }, files.context)).text).toBe("out\nerror\n10");
});

function hasPython(): boolean {
  try {
    execFileSync("/bin/sh", ["-c", "command -v python3"], { env: { PATH: "/usr/bin:/bin" } });
    return true;
  } catch {
    return false;
  }
}

test.each(["python", "bash"])("where %s is not installed, the result says so", async (language) => {
  using files = testWorkspace({ environment: { PATH: "/nonexistent" } });
  expect(await callTool(codeExec, { language, code: "1" }, files.context)).toMatchObject({
    text: expect.stringMatching(/^(python3|bash) is not on the PATH: this language is not available here.\n/),
    isError: true,
  });
});

test("code that begins with a dash is code", async () => {
  using files = testWorkspace();
  const run = async (language: string, code: string) =>
    (await callTool(codeExec, { language, code }, files.context)).text;
  expect(await run("javascript", "-1; console.log('js')")).toBe("js");
  expect(await run("bash", "--version")).toContain("--version: command not found");
});

test("a program works in the workspace, with its packages and the given environment only", async () => {
  using files = testWorkspace({ environment: { PATH: "/usr/bin:/bin", COLOUR: "green" } });
  const { workspace } = files.context;
  writeFileSync(join(workspace, "part.mjs"), "export const part = 5;");
  const code =
    'import { part } from "./part.mjs"; import { writeFileSync } from "node:fs";' +
    'writeFileSync("out.txt", String(part)); console.log(process.env.COLOUR, process.env.HOME)';
  expect((await callTool(codeExec, { language: "javascript", code }, files.context)).text).toBe(
    "green undefined",
  );
  expect(readFileSync(join(workspace, "out.txt"), "utf8")).toBe("5");
});

test("what goes wrong is shown, with the exit code", async () => {
  using files = testWorkspace();
  const run = async (code: string) => callTool(codeExec, { language: "javascript", code }, files.context);
  expect(await run("console.log(1); throw new Error('no')")).toMatchObject({
    text: expect.stringMatching(/^1\n[^]*Error: no[^]*\[Exit code 1\]$/),
    isError: true,
  });
  expect(await run("((")).toMatchObject({ text: expect.stringContaining("SyntaxError"), isError: true });
});

test("a program that does not end is ended", async () => {
  using files = testWorkspace();
  const limits = { ...PROGRAM_LIMITS, defaultTimeoutMs: 300, graceMs: 200, drainMs: 50 };
  const impatient = createCodeExecTool({ node: process.execPath, limits });
  const params = { language: "bash", code: "trap '' TERM; while :; do sleep 1; done" };
  expect(await callTool(impatient, params, files.context)).toMatchObject({
    text: "(no output)\n\n[Timed out after 300 ms]",
    isError: true,
  });
});

test("it runs code, changes things, and is not simply run again", () => {
  expect(codeExec).toMatchObject({
    runsCode: true,
    writes: true,
    repeatable: false,
    trust: { untrusted: true, private: true },
  });
});

test.each([
  [{ language: "ruby", code: "1" }, '"language"'],
  [{ language: "bash", code: "" }, '"code"'],
  [{ language: "bash", code: "a\0b" }, "contains a NUL byte"],
  [{ language: "bash", code: "#".repeat(MAX_CODE_BYTES + 1) }, "write it to a file"],
  [{ code: "1" }, '"language"'],
])("a call that cannot be made is refused (%#)", async (params, message) => {
  using files = testWorkspace();
  await expect(callTool(codeExec, params, files.context)).rejects.toMatchObject({
    code: "tool_input_invalid",
    message: expect.stringContaining(message),
  });
});

test.each(["javascript", "bash"])("the longest program that is allowed runs in %s", async (language) => {
  using files = testWorkspace();
  const [print, comment] = language === "bash" ? ["echo ok ", "#"] : ["console.log('ok') ", "/"];
  const code = print.padEnd(MAX_CODE_BYTES, comment);
  expect((await callTool(codeExec, { language, code }, files.context)).text).toBe("ok");
});

describe.skipIf(sandbox === undefined)("in the sandbox", () => {
  test("a program finds Node, and nothing beside the workspace", async () => {
    using files = testWorkspace({ sandbox });
    const code =
      'import { readFileSync, writeFileSync } from "node:fs"; writeFileSync("made.txt", "made");' +
      `try { readFileSync(${JSON.stringify(import.meta.filename)}) } catch (error) { console.log(error.code) }` +
      `try { writeFileSync(process.execPath, "x") } catch (error) { console.log(error.code) }`;
    const { text } = await callTool(codeExec, { language: "typescript", code }, files.context);
    expect(text).toMatch(/^ENOENT\n(EROFS|EACCES|ETXTBSY)$/);
    expect(existsSync(join(files.context.workspace, "made.txt"))).toBe(true);
  });

  test("a program has no network", async () => {
    using files = testWorkspace({ sandbox });
    await using played = await playWeb(page("text/plain", "hello"));
    const code = `await fetch("http://127.0.0.1:${played.port}").catch((error) => console.log(error.message))`;
    const { text } = await callTool(codeExec, { language: "javascript", code }, files.context);
    expect(text).toBe("fetch failed");
    expect(played.received).toEqual([]);
  });
});
