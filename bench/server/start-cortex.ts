// `cortex up` as a person runs it: the built program, in a process of its own, on a home of its own.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { Client } from "./client.ts";
import type { LoopDelay } from "./loop-delay.ts";

export interface StartOptions {
  readonly program: string;
  readonly home: string;
}

export interface RunningCortex extends AsyncDisposable {
  readonly pid: number;
  readonly url: string;
  readonly token: string;
  /** From the start of the process to the first answer over HTTP. */
  readonly readyMs: number;
  /** The delay of its event loop since this was last asked. */
  loopDelay(): Promise<LoopDelay>;
}

/** Nothing of whoever runs the benchmark: a key in the environment would choose another model. */
export function plainEnvironment(home: string): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], HOME: home, CORTEX_HOME: home };
}

/** On the disk that holds this repository, which is the one that the syncs are probed on. */
export function makeHome(modelPort?: number): string {
  const home = mkdtempSync(join(homesFolder(), "home-"));
  mkdirSync(join(home, "config"));
  if (modelPort !== undefined) useModel(home, modelPort);
  return home;
}

let homes: string | undefined;

/** Removed when the benchmark ends, with all that is in it. */
function homesFolder(): string {
  if (homes === undefined) {
    const folder = join(import.meta.dirname, "..", ".cache", `server-${process.pid}`);
    mkdirSync(folder, { recursive: true });
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    homes = folder;
  }
  return homes;
}

/** Makes the model on this port the one that answers. */
export function useModel(home: string, port: number): void {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const instant = { backend: "pi", provider: "openai-compatible", model: "instant", baseUrl };
  const profiles = { defaultProfile: "instant", profiles: { instant } };
  writeFileSync(join(home, "config", "profiles.json"), JSON.stringify(profiles));
}

export async function startCortex({ program, home }: StartOptions): Promise<RunningCortex> {
  return start({ program, home, preload: [] });
}

/** With the measure of the event loop inside; it costs a little, so nothing else is measured with it. */
export async function startWatchedCortex({ program, home }: StartOptions): Promise<RunningCortex> {
  return start({ program, home, preload: ["--import", join(import.meta.dirname, "loop-delay.ts")] });
}

async function start({
  program,
  home,
  preload,
}: StartOptions & { preload: string[] }): Promise<RunningCortex> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [...preload, program, "up", "--port", "0", "--json"], {
    env: plainEnvironment(home),
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const ended = once(child, "exit");
  const noted = text(child.stderr!);
  const stop = (): boolean => child.kill("SIGKILL");
  process.once("exit", stop);
  const { url } = await firstLine(child, noted);
  const token = readFileSync(join(home, "data", "token"), "utf8").trim();
  using client = new Client({ url, token, connections: 1 });
  const { status } = await client.get("/api/health");
  if (status !== 200) throw new Error(`The server says that it is not healthy: ${status}`);
  const readyMs = performance.now() - startedMs;
  return {
    pid: child.pid!,
    url,
    token,
    readyMs,
    async loopDelay() {
      const told = once(child, "message");
      child.send("tell");
      return ((await told) as [LoopDelay])[0];
    },
    async [Symbol.asyncDispose]() {
      process.off("exit", stop);
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** What it says beside that is of interest only where it does not come up. */
async function firstLine(child: ChildProcess, noted: Promise<string>): Promise<{ url: string }> {
  for await (const line of createInterface({ input: child.stdout! }))
    return JSON.parse(line) as { url: string };
  throw new Error(`\`cortex up\` ended before it was ready: ${await noted}`);
}
