/** The command line as a person uses it: a process, what it prints, how it ends. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { temporaryFolder } from "./temporary.ts";

/** Shorter than a test may take: what is waited for in vain is named, and what was said instead. */
const PATIENCE_MS = 90_000;

export const BIN = fileURLToPath(new URL("../../bin/cortex.js", import.meta.url));

export interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;
  /** Waits until it has printed this, on either output, after what was waited for before. */
  says(text: string | RegExp): Promise<void>;
  type(text: string): void;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** Starts `cortex` on a home, with the offline model and nothing of the tester's environment. */
export function start(home: string, ...args: string[]): Started {
  return watch(spawn(process.execPath, [BIN, ...args], { env: environmentOf(home) }));
}

/** Runs `cortex` to its end, with nothing or this to read. */
export async function run(home: string, args: readonly string[], input = ""): Promise<Ended> {
  const started = start(home, ...args);
  started.child.stdin.end(input);
  return started.ended;
}

export async function runJson(home: string, ...args: string[]): Promise<unknown> {
  const { code, out, err } = await run(home, [...args, "--json"]);
  if (code !== 0) throw new Error(`cortex ${args.join(" ")} ended with ${code}: ${err}`);
  return JSON.parse(out);
}

/** The same in a terminal. Undefined where this system has no way to make one. */
export function startInTerminal(home: string, ...args: string[]): Started | undefined {
  return startInTerminalOf("xterm", home, ...args);
}

/** In a terminal that can do what those of this name can. */
export function startInTerminalOf(TERM: string, home: string, ...args: string[]): Started | undefined {
  const command = [process.execPath, BIN, ...args];
  const env = { ...environmentOf(home), TERM };
  if (spawnSync("script", ["--version"]).status === 0) {
    const line = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
    return watch(spawn("script", ["-qec", line, "/dev/null"], { env }));
  }
  const python = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
  if (spawnSync("python3", ["-c", "import pty"]).status !== 0) return undefined;
  return watch(spawn("python3", ["-c", python, ...command], { env }));
}

/** A server on a port of its own, up when this resolves; told to stop at the end. */
export async function startServer(
  home: string,
  hooks: NewHooks = "none",
): Promise<AsyncDisposable & Started> {
  prepareHooks(home, hooks);
  const started = start(home, "up", "--port", "0");
  await started.says("Ctrl-C stops it");
  return {
    ...started,
    async [Symbol.asyncDispose]() {
      started.child.kill("SIGTERM");
      await started.ended;
    },
  };
}

/** The hooks of a new home. To inspect those that come along takes a third of the time that a server needs to start. */
export type NewHooks = "none" | "shipped";

/** A new home without hooks, for a server that a test starts itself. */
export function temporaryHome(): ReturnType<typeof temporaryFolder> {
  const home = temporaryFolder();
  prepareHooks(home.path, "none");
  return home;
}

export function prepareHooks(home: string, hooks: NewHooks): void {
  if (hooks === "none") mkdirSync(join(home, "hooks"), { recursive: true });
}

/** What the HTTP interface answers: to a POST, where there is a body. */
export async function fetchJson(home: string, path: string, body?: object): Promise<unknown> {
  const { host, port } = readNote(home);
  const token = readFileSync(join(home, "data", "token"), "utf8").trim();
  const response = await fetch(`http://${host}:${port}${path}`, {
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
  });
  return response.json();
}

export function readNote(home: string): { pid: number; host: string; port: number } {
  return JSON.parse(readFileSync(join(home, "data", "server.json"), "utf8")) as ReturnType<typeof readNote>;
}

export function environmentOf(home: string): NodeJS.ProcessEnv {
  const { PATH, TMPDIR } = process.env;
  return {
    PATH,
    TMPDIR,
    HOME: home,
    CORTEX_HOME: home,
    CORTEX_PROFILE: "offline",
    // Commands run in the same way whether there is a sandbox on this machine or not.
    CORTEX_SANDBOX: "off",
    TZ: "UTC",
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
  };
}

/** Gathers what a program says. */
export function watch(child: ChildProcessWithoutNullStreams): Started {
  const said = { out: "", err: "", both: "", isOver: false };
  let read = 0;
  let wake = (): void => {};
  const hear = (output: "out" | "err") => (data: string) => {
    said[output] += data;
    said.both += data;
    wake();
  };
  child.stdout.setEncoding("utf8").on("data", hear("out"));
  child.stderr.setEncoding("utf8").on("data", hear("err"));
  child.stdin.on("error", () => {}); // it ended before it had read everything
  const ended = once(child, "close").then(() => {
    said.isOver = true;
    wake();
    return { code: child.exitCode, signal: child.signalCode, out: said.out, err: said.err };
  });
  return {
    child,
    ended,
    async says(text) {
      const deadlineMs = performance.now() + PATIENCE_MS;
      let end = endOf(text, said.both, read);
      for (; end === undefined; end = endOf(text, said.both, read)) {
        const leftMs = deadlineMs - performance.now();
        if (said.isOver || leftMs <= 0) throw unsaid(text, said, read);
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = setTimeout(resolve, leftMs);
        await promise;
        clearTimeout(timer);
      }
      read = end;
    },
    type: (text) => void child.stdin.write(text),
  };
}

/** Where it ends. Undefined: it is not there. */
function endOf(text: string | RegExp, said: string, from: number): number | undefined {
  if (typeof text !== "string") {
    const match = text.exec(said.slice(from));
    return match === null ? undefined : from + match.index + match[0].length;
  }
  const at = said.indexOf(text, from);
  return at === -1 ? undefined : at + text.length;
}

function unsaid(
  text: string | RegExp,
  { both, isOver }: { both: string; isOver: boolean },
  read: number,
): Error {
  const fault = isOver ? "It ended without saying" : `It did not say within ${PATIENCE_MS / 1_000} s`;
  const parts = [
    `${fault}: ${typeof text === "string" ? JSON.stringify(text) : String(text)}`,
    "Before:",
    both.slice(0, read),
    "Since:",
    both.slice(read),
  ];
  return new Error(parts.join("\n"));
}
