// OpenClaw's gateway, the program that Cortex's server stands beside. It is installed into a folder of its own,
// because it is three times as large as all other peers together.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const VERSION = "2026.9.6";
const INSTALL_MS = 300_000;
const READY_MS = 120_000;
const LOOK_EVERY_MS = 20;

const folder = join(import.meta.dirname, "..", ".cache", `openclaw-${VERSION}`);
const entry = join(folder, "node_modules", "openclaw", "openclaw.mjs");
/** npm writes this file last, so a folder without it is an installation that was cut short. */
const finished = join(folder, "node_modules", ".package-lock.json");

/** Whether OpenClaw is there to be run. The first call installs it, about 650 MB, and says so. */
export function installOpenclaw(): boolean {
  if (existsSync(finished)) return true;
  process.stderr.write(`\nInstalling openclaw@${VERSION} into ${folder}, about 650 MB ...\n`);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
    execFileSync(
      "npm",
      ["install", `openclaw@${VERSION}`, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
      { cwd: folder, stdio: ["ignore", 2, "inherit"], timeout: INSTALL_MS },
    );
    return true;
  } catch (error) {
    process.stderr.write(`\nBENCHMARK INCOMPLETE: OpenClaw could not be installed: ${String(error)}\n\n`);
    rmSync(folder, { recursive: true, force: true });
    return false;
  }
}

export interface RunningOpenclaw extends AsyncDisposable {
  readonly pid: number;
  /** From the start of the process until it says of itself that it is ready. */
  readonly readyMs: number;
}

/** On a new home and with no configuration: no channel, no agent at work. */
export async function startOpenclaw(home: string): Promise<RunningOpenclaw> {
  const port = await freePort();
  const startedMs = performance.now();
  const child = spawn(
    process.execPath,
    [
      entry,
      "gateway",
      "run",
      "--allow-unconfigured",
      "--auth",
      "none",
      "--bind",
      "loopback",
      "--port",
      `${port}`,
    ],
    {
      env: { PATH: process.env["PATH"], HOME: home, OPENCLAW_STATE_DIR: join(home, "state") },
      stdio: "ignore",
    },
  );
  const ended = once(child, "exit");
  const stop = (): boolean => child.kill("SIGKILL");
  process.once("exit", stop);
  while (!(await isReady(port))) {
    if (child.exitCode !== null) throw new Error(`OpenClaw ended with ${child.exitCode}`);
    if (performance.now() - startedMs > READY_MS) throw new Error("OpenClaw was not ready in time");
    await sleep(LOOK_EVERY_MS);
  }
  const readyMs = performance.now() - startedMs;
  return {
    pid: child.pid!,
    readyMs,
    async [Symbol.asyncDispose]() {
      process.off("exit", stop);
      child.kill("SIGTERM");
      await ended;
    },
  };
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
  } catch {
    return false; // nothing listens there yet
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
