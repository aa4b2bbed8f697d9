import { existsSync, readdirSync, readFileSync, statSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { expect, test } from "vitest";

import { callTool, testWorkspace, type TestWorkspace } from "../../../test/support/tool-context.ts";
import type { Json } from "../../model/json.ts";
import type { ToolResult } from "../../model/tool.ts";
import { bashTool, createBashTool, MAX_COMMAND_BYTES } from "./bash.ts";
import { MAX_SHOWN_BYTES, MAX_SHOWN_LINES } from "./output.ts";
import { PROGRAM_LIMITS } from "./run-program.ts";

/** What ignores being told to end is killed soon, so that no test waits long. */
const impatient = createBashTool({ ...PROGRAM_LIMITS, graceMs: 200, drainMs: 50 });

async function bash(files: TestWorkspace, params: Json, tool = bashTool): Promise<ToolResult> {
  return callTool(tool, params, files.context);
}

test("a command runs in the workspace, and its output is the result", async () => {
  using files = testWorkspace();
  writeFileSync(join(files.context.workspace, "a.txt"), "hello\n");
  const result = await bash(files, { command: "cat a.txt; [[ -n $BASH_VERSION ]] && echo bash" });
  expect(result).toMatchObject({
    text: "hello\nbash",
    isError: false,
    details: { exitCode: 0, outputFile: null },
  });
});

test("both outputs come in the order in which they were written", async () => {
  using files = testWorkspace();
  const command = "for i in {1..50}; do echo out $i; echo error $i >&2; done";
  const expected = Array.from({ length: 50 }, (_, index) => `out ${index + 1}\nerror ${index + 1}`);
  expect((await bash(files, { command })).text).toBe(expected.join("\n"));
});

test("the exit code and the signal that ended a command are said", async () => {
  using files = testWorkspace();
  expect(await bash(files, { command: "echo no; exit 3" })).toMatchObject({
    text: "no\n\n[Exit code 3]",
    isError: true,
    details: { exitCode: 3 },
  });
  expect(await bash(files, { command: "kill -KILL $$" })).toMatchObject({
    text: "(no output)\n\n[Killed by SIGKILL]",
    isError: true,
    details: { signal: "SIGKILL" },
  });
  expect((await bash(files, { command: "true" })).text).toBe("(no output)");
});

test("a command that begins with a dash is a command", async () => {
  using files = testWorkspace();
  expect((await bash(files, { command: "--version" })).text).toContain("--version: command not found");
});

test("without bash there is sh", async () => {
  using files = testWorkspace({ environment: { PATH: "/nonexistent" } });
  expect((await bash(files, { command: "echo $0" })).text).not.toContain("bash");
});

test("only the given environment is inherited, and there is no input", async () => {
  using files = testWorkspace({ environment: { PATH: "/usr/bin:/bin", COLOUR: "green" } });
  const { text } = await bash(files, { command: "env; read line || echo nothing to read" });
  const lines = text.split("\n").filter((line) => !/^(PWD|OLDPWD|SHLVL|_)=/.test(line)); // The shell's own.
  expect(lines.toSorted()).toEqual(["COLOUR=green", "PATH=/usr/bin:/bin", "nothing to read"]);
});

test("colours and control characters are not shown", async () => {
  using files = testWorkspace();
  expect((await bash(files, { command: String.raw`printf '\033[31mred\033[0m\0\ttab'` })).text).toBe(
    "red\ufffd\ttab",
  );
});

test("of a long output the end is shown, and all of it is in a file", async () => {
  using files = testWorkspace();
  const { text, details } = await bash(files, { command: `seq ${MAX_SHOWN_LINES + 1}` });
  const path = join(files.context.outputFolder, "turn-1-0.txt");
  expect(text.split("\n")[0]).toBe("2");
  expect(text).toContain(`The full output is in ${path}]`);
  expect(details).toMatchObject({ outputFile: path });
  expect(readFileSync(path, "utf8").split("\n")[0]).toBe("1");

  const wide = await bash(files, { command: "seq -f '%0100.0f' 1000" });
  expect(Buffer.byteLength(wide.text)).toBeLessThan(MAX_SHOWN_BYTES + 500);
  expect(readFileSync(path, "utf8").split("\n")).toHaveLength(1001);
});

test("a flood of output fills neither the memory nor the disk", async () => {
  using files = testWorkspace();
  const maxFileBytes = 1024 * 1024;
  const tool = createBashTool({ ...PROGRAM_LIMITS, maxFileBytes });
  const { text, details } = await bash(
    files,
    { command: "head -c 100000000 /dev/zero | tr '\\0' x; echo; echo end" },
    tool,
  );

  expect(text).toContain("end\n\n[");
  expect(text).toContain(`[Only the first ${maxFileBytes} bytes were saved]`);
  expect(details).toMatchObject({ outputBytes: 100_000_005 });
  expect(statSync(join(files.context.outputFolder, "turn-1-0.txt")).size).toBe(maxFileBytes);
});

test("output that cannot be kept does not stop the command", async () => {
  using files = testWorkspace({ outputFolder: "/nonexistent" });
  const result = await bash(files, { command: "seq 3000" });
  expect(result).toMatchObject({
    isError: false,
    text: expect.stringContaining("could not be saved completely"),
  });
});

test("a command is stopped at its timeout, and what it said by then is shown", async () => {
  using files = testWorkspace();
  const { text, isError, details } = await bash(files, { command: "echo begun; sleep 1000", timeoutMs: 300 });
  expect(isError).toBe(true);
  expect(text).toContain("[Timed out after 300 ms]");
  expect(details).toMatchObject({ stopped: "timeout", signal: "SIGTERM" });
});

test("an aborted command is gone with all that it started", async () => {
  using files = testWorkspace();
  const stop = new AbortController();
  const command = "sleep 1000 & (sleep 1000 & sleep 1000) & echo $$ > pid.tmp; mv pid.tmp pid; wait";
  const call = callTool(bashTool, { command }, { ...files.context, signal: stop.signal });
  const group = await readWhenThere(join(files.context.workspace, "pid"));
  expect(isAlive(group)).toBe(true);

  stop.abort();
  expect((await call).text).toContain("[Stopped: the call was aborted]");
  await groupIsGone(group);
});

test("who ignores being told to end is killed", async () => {
  using files = testWorkspace();
  const stop = new AbortController();
  const command = "trap '' TERM; echo $$ > pid.tmp; mv pid.tmp pid; while :; do sleep 1000; done";
  const call = callTool(impatient, { command }, { ...files.context, signal: stop.signal });
  const group = await readWhenThere(join(files.context.workspace, "pid")); // it ignores it from here on
  stop.abort();
  expect((await call).text).toContain("[Stopped:");
  await groupIsGone(group);
});

test("what a command leaves in the background ends with it, whether or not it holds the output", async () => {
  using files = testWorkspace();
  for (const redirection of ["", ">/dev/null 2>&1"]) {
    const command = `(trap '' TERM HUP; sleep 1000) ${redirection} & echo $$`;
    const { text, isError } = await bash(files, { command }, impatient);
    expect(isError).toBe(false);
    await groupIsGone(Number(text));
  }
});

test("output of a background process that is about to end is not lost", async () => {
  using files = testWorkspace();
  const patient = createBashTool({ ...PROGRAM_LIMITS, drainMs: 30_000 });
  expect((await bash(files, { command: "echo first > >(cat; sleep 0.1; echo last)" }, patient)).text).toBe(
    "first\nlast",
  );
});

test("a process that has left the group and holds the output does not hold the call", async () => {
  using files = testWorkspace();
  const command =
    "setsid sh -c 'echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 1000' & while [ ! -e pid ]; do :; done; echo done";
  try {
    expect((await bash(files, { command }, impatient)).text).toBe("done");
  } finally {
    process.kill(await readWhenThere(join(files.context.workspace, "pid")), "SIGKILL");
  }
});

test.each([
  [{ command: "" }, '"command"'],
  [{ command: "echo a\0b" }, "contains a NUL byte"],
  [{ command: "#".repeat(MAX_COMMAND_BYTES + 1) }, "write it to a file"],
  [{ command: "true", timeoutMs: PROGRAM_LIMITS.maxTimeoutMs + 1 }, '"timeoutMs"'],
])("a call that cannot be made is refused (%#)", async (params, message) => {
  using files = testWorkspace();
  await expect(bash(files, params)).rejects.toMatchObject({
    code: "tool_input_invalid",
    message: expect.stringContaining(message),
  });
});

test("the longest command that is allowed runs", async () => {
  using files = testWorkspace();
  const command = "echo ok #".padEnd(MAX_COMMAND_BYTES, "#");
  expect((await bash(files, { command })).text).toBe("ok");
});

test("a workspace that is gone is an error with a reason", async () => {
  using files = testWorkspace({ workspace: "/nonexistent" });
  await expect(bash(files, { command: "true" })).rejects.toMatchObject({ code: "tool_failed" });
});

/** A number that the command writes into a file, which it puts in place complete. */
async function readWhenThere(path: string): Promise<number> {
  const seen = Promise.withResolvers<void>();
  using watcher = Object.assign(
    watch(join(path, ".."), () => existsSync(path) && seen.resolve()),
    {
      [Symbol.dispose]: () => watcher.close(),
    },
  );
  if (!existsSync(path)) await seen.promise;
  return Number(readFileSync(path, "utf8"));
}

/** Those that have ended and whose parent has not taken note yet do not count. */
function isAlive(group: number): boolean {
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state, , processGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return Number(processGroup) === group && state !== "Z";
    } catch {
      return false; // It has ended since.
    }
  });
}

/** Who was killed is gone a moment later, and nothing tells us when. */
async function groupIsGone(group: number): Promise<void> {
  for (let tries = 0; isAlive(group) && tries < 1000; tries += 1) await after(10);
  expect(isAlive(group)).toBe(false);
}
