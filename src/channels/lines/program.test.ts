import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { DONE_WATCH } from "../../../test/support/unwatched.ts";
import { MAX_LINE_BYTES } from "./protocol.ts";
import { RunningProgram } from "./program.ts";

const HELLO = JSON.stringify({
  hello: {
    api: 1,
    can: { proofMs: 1_000, onUncertain: "leave" },
    format: { kind: "text", maxLength: 100 },
  },
});
const NEVER = new AbortController().signal;

/** A program that runs this code of Node after its hello. */
async function start(
  code: string,
  { hello = HELLO, environment = {}, log = [] as string[] } = {},
): Promise<AsyncDisposable & { readonly program: RunningProgram }> {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder.path, "main.mjs"),
    `process.stdout.write(${JSON.stringify(`${hello}\n`)});\n${code}`,
  );
  try {
    const program = await RunningProgram.start({
      file: process.execPath,
      args: ["main.mjs"],
      environment,
      folder: folder.path,
      watch: DONE_WATCH,
      log: (line) => void log.push(line),
    });
    return {
      program,
      async [Symbol.asyncDispose]() {
        await program[Symbol.asyncDispose]();
        folder[Symbol.dispose]();
      },
    };
  } catch (error) {
    folder[Symbol.dispose]();
    throw error;
  }
}

async function linesOf(program: RunningProgram): Promise<unknown[]> {
  const lines: unknown[] = [];
  for await (const line of program.said()) lines.push(line);
  return lines;
}

test("what a program says comes in order, until it ends", async () => {
  await using started = await start(`console.log('{"proof":true}\\n{"log":"hello"}')`);
  expect(await linesOf(started.program)).toEqual([{ proof: true }, { log: "hello" }]);
});

test.each([
  ["{", "not JSON"],
  ['{"proof":false}', "invalid line"],
  ['{"commit":1,"events":[{"id":""}]}', "invalid line"],
  ["x".repeat(MAX_LINE_BYTES + 1), `more than ${MAX_LINE_BYTES} bytes`],
])("a line %.30s ends the connection with its reason", async (line, reason) => {
  await using started = await start(
    `process.stdout.write(${JSON.stringify(`${line}\n`)}); setInterval(() => {}, 1e6)`,
  );
  await expect(linesOf(started.program)).rejects.toThrow(reason);
});

test.each([
  ['{"hello":{"api":2}}', "api"],
  ["hello", "not JSON"],
])("a program that begins with %s is refused", async (hello, reason) => {
  await expect(start("", { hello })).rejects.toThrow(reason);
});

test("a request is answered by its id, or fails as the program says", async () => {
  await using started = await start(`
    import { createInterface } from "node:readline";
    for await (const line of createInterface({ input: process.stdin })) {
      const { id, send } = JSON.parse(line);
      if (send.message === "gone") process.exit();
      console.log(JSON.stringify({ proof: true }));
      console.log(JSON.stringify(send.message === "no" ? { id, error: { kind: "refused", message: "no" } } : { id, ok: { platformId: send.message } }));
    }`);
  const { program } = started;
  const said = linesOf(program);
  const ask = (message: string) => program.ask("send", { message }, { signal: NEVER });
  expect(await Promise.all([ask("a"), ask("b")])).toEqual([{ platformId: "a" }, { platformId: "b" }]);
  await expect(ask("no")).rejects.toMatchObject({ code: "delivery_refused", message: "no" });
  await expect(ask("gone")).rejects.toMatchObject({ code: "delivery_uncertain" });
  await said;
  await expect(ask("late")).rejects.toMatchObject({ code: "delivery_failed" });
});

test("a request that is aborted is uncertain, and the program is told", async () => {
  await using started = await start(`
    import { createInterface } from "node:readline";
    for await (const line of createInterface({ input: process.stdin }))
      console.log(JSON.stringify({ log: line }));`);
  const { program } = started;
  const lines = program.said();
  const abort = new AbortController();
  const asked = program.ask("send", {}, { signal: abort.signal });
  expect((await lines.next()).value).toMatchObject({ log: '{"id":1,"send":{}}' });
  abort.abort();
  await expect(asked).rejects.toMatchObject({ code: "delivery_uncertain" });
  expect((await lines.next()).value).toMatchObject({ log: '{"cancel":1}' });
});

test("a program gets only its own variables, and what it writes to standard error is logged", async () => {
  const log: string[] = [];
  await using started = await start(
    `console.error("oh no"); console.log(JSON.stringify({ log: JSON.stringify(process.env) }))`,
    { environment: { BOARD_TOKEN: "secret" }, log },
  );
  const [line] = (await linesOf(started.program)) as [{ log: string }];
  expect(JSON.parse(line.log)).toEqual({ BOARD_TOKEN: "secret" });
  await expect.poll(() => log).toEqual(["oh no"]);
});

test("nothing of a program is left, even if it ignores the end of its input", async () => {
  const started = await start(`
    import { spawn } from "node:child_process";
    process.on("SIGTERM", () => {});
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { stdio: "ignore" });
    console.log(JSON.stringify({ log: String(child.pid) }));
    setInterval(() => {}, 1e6);`);
  const { value } = await started.program.said().next();
  const pid = Number((value as { log: string }).log);
  await started[Symbol.asyncDispose]();
  await expect.poll(() => isAlive(pid)).toBe(false);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
