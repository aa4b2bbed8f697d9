import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { runGroup } from "../../programs/run-group.ts";
import { MAX_SCRIPT_ERROR_BYTES, MAX_SCRIPT_OUTPUT_BYTES, type RunProgram, runScript } from "./script.ts";

const ENVIRONMENT = { PATH: process.env["PATH"]! };

/** Only where something keeps the output open is it waited for, and then for so long. */
const runner =
  (drainMs: number): RunProgram =>
  (program) =>
    runGroup({ ...program, environment: ENVIRONMENT, graceMs: 500, drainMs });

interface Asked {
  readonly args?: readonly string[];
  readonly context?: unknown;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly home?: string;
  readonly drainMs?: number;
}

function ask(command: string, { args = [], timeoutMs = 60_000, drainMs = 30_000, ...rest }: Asked = {}) {
  return runScript({
    script: { command, args, timeoutMs },
    home: "/",
    context: {},
    slots: ["reviewer"],
    signal: new AbortController().signal,
    run: runner(drainMs),
    ...rest,
  });
}

test("a script reads where the relay stands and answers", async () => {
  const command = `node -e 'process.stdin.on("data", (d) => console.log(JSON.stringify({ targetAgent: "reviewer", prompt: JSON.parse(d).userMessage })))'`;
  expect(await ask(command, { context: { userMessage: "Check" } })).toEqual({
    kind: "target",
    agent: "reviewer",
    prompt: "Check",
  });
});

test("arguments are passed as they are, blanks and quotes too", async () => {
  const prompt = `it's "quoted" $HOME`;
  const command = `node -e 'console.log(JSON.stringify({ insertAgent: true, prompt: process.argv.slice(1).join("|") }))'`;
  expect(await ask(command, { args: ["--project", prompt] })).toMatchObject({ kind: "failed" }); // node knows no --project
  expect(await ask(`${command} --`, { args: ["--project", prompt] })).toEqual({
    kind: "insert",
    prompt: `--project|${prompt}`,
  });
});

test("a script runs in the home of Cortex", async () => {
  using home = temporaryFolder();
  writeFileSync(join(home.path, "hook.sh"), `echo '{"insertAgent":true,"prompt":"here"}'`);
  expect(await ask("sh hook.sh", { home: home.path })).toEqual({ kind: "insert", prompt: "here" });
});

test("a script that fails is told of, with the end of what it said", async () => {
  expect(await ask("echo oops >&2; exit 3; true")).toEqual({ kind: "failed", error: "Exit code 3\noops" });
  expect(await ask("nonexistent-command-of-nobody")).toMatchObject({
    kind: "failed",
    error: expect.stringMatching(/^Exit code 127\n.*nonexistent-command-of-nobody/s),
  });
  expect(await ask("kill -9 $$;")).toMatchObject({ error: "Killed by SIGKILL" });
});

test("of much that a script says of errors the end is kept", async () => {
  const { error } = (await ask("yes é | head -c 99999 >&2; echo last! >&2; exit 1; true")) as {
    error: string;
  };
  expect(error).toMatch(/^Exit code 1\n.*last!$/s);
  expect(Buffer.byteLength(error)).toBeLessThanOrEqual(MAX_SCRIPT_ERROR_BYTES + "Exit code 1\n".length);
  expect(error).not.toContain("\uFFFD");
});

test("a script that is not there in a home that is not there fails", async () => {
  expect(await ask("true", { home: "/nonexistent" })).toMatchObject({
    kind: "failed",
    error: expect.stringMatching(/^Failed to start: /),
  });
});

test("a script that hangs is ended", async () => {
  expect(await ask("sleep 600 & wait;", { timeoutMs: 300 })).toEqual({
    kind: "failed",
    error: "Timed out after 300 ms",
  });
});

test("a script is stopped with all that it started when the relay is cancelled", async () => {
  using home = temporaryFolder();
  const cancel = new AbortController();
  const command = "sleep 600 & echo $! > written; mv written pid; wait;";
  const answer = ask(command, { home: home.path, signal: cancel.signal });
  await expect.poll(() => existsSync(join(home.path, "pid"))).toBe(true);
  cancel.abort();
  expect(await answer).toEqual({ kind: "failed", error: "Stopped" });
  await gone(Number(readFileSync(join(home.path, "pid"), "utf8")));
});

test("a script that ignores being told to end is killed", async () => {
  expect(await ask(`trap "" TERM; while :; do sleep 0.05; done;`, { timeoutMs: 300 })).toEqual({
    kind: "failed",
    error: "Timed out after 300 ms",
  });
});

test("a script that writes without end is ended", async () => {
  expect(await ask("yes;")).toEqual({
    kind: "failed",
    error: `Output exceeded ${MAX_SCRIPT_OUTPUT_BYTES} bytes`,
  });
});

test("as much as is allowed is read", async () => {
  const blanks = `head -c ${MAX_SCRIPT_OUTPUT_BYTES - 2} /dev/zero | tr "\\0" " "; printf {}`;
  expect(await ask(`${blanks}; true`)).toEqual({ kind: "nothing" });
  expect(await ask(`${blanks}" "; true`)).toMatchObject({ kind: "failed" });
});

test("a script that answers anything but JSON is told of", async () => {
  expect(await ask("echo all is well; echo careful >&2;")).toEqual({
    kind: "failed",
    error: 'Its output is not a single JSON value: "all is well"\ncareful',
  });
});

test("a script that reads nothing of a long context is no worse for it", async () => {
  expect(await ask("exec <&-; true", { context: { artifactContent: "x".repeat(5_000_000) } })).toEqual({
    kind: "nothing",
  });
});

test("a process that a script leaves behind does not hold the relay up, nor its answer back", async () => {
  using home = temporaryFolder();
  const answer = await ask(`sleep 600 & echo $! > pid; echo '{"insertAgent":false}'; true`, {
    home: home.path,
    drainMs: 1000,
  });
  expect(answer).toEqual({ kind: "nothing" });
  await gone(Number(readFileSync(join(home.path, "pid"), "utf8")));
});

test("a process that detaches itself and keeps the output open does not hold the relay up", async () => {
  using home = temporaryFolder();
  const detach = `node -e 'const c = require("node:child_process").spawn("sleep", ["600"], { detached: true, stdio: ["ignore", 1, 2] }); require("node:fs").writeFileSync("pid", String(c.pid)); c.unref();'`;
  try {
    expect(
      await ask(`${detach}; echo '{"insertAgent":true,"prompt":"on"}'; true`, {
        home: home.path,
        drainMs: 1000,
      }),
    ).toEqual({
      kind: "insert",
      prompt: "on",
    });
  } finally {
    process.kill(Number(readFileSync(join(home.path, "pid"), "utf8")));
  }
});

/** Killed processes are gone once the system has taken note of it. */
async function gone(pid: number): Promise<void> {
  await expect.poll(() => isAlive(pid)).toBe(false);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // Whoever has ended and is not yet reaped still has an entry, on Linux as a zombie.
    return process.platform !== "linux" || !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
