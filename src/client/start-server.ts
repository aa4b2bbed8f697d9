import { once } from "node:events";
import { closeSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { CortexError } from "../model/errors.ts";
import { createPrivate } from "../model/private-file.ts";
import { wholeEnvironment } from "../programs/environment.ts";
import { type ChildProcess, launch } from "../programs/launch.ts";
import { logFolder } from "../config/home.ts";
import type { Invocation } from "../feature/command.ts";
import { ask } from "./ask.ts";
import { logPath } from "./log-file.ts";
import { findServer, type RunningServer, serverMissing } from "./server.ts";

/** A start takes about a second; recovering a large home a few. */
const START_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 50;

/** The server of this home; with `--start`, starts one in the background if none is running. */
export async function needOrStartServer({
  home,
  options,
  print,
  environment,
}: Invocation): Promise<RunningServer> {
  const running = await findServer(home);
  if (options["start"] !== true) {
    if (running === undefined) throw serverMissing(home);
    return running;
  }
  if (running !== undefined && (await answers(running))) return running;
  const { child, ready } = startServer(home, { environment });
  const server = await ready;
  child.unref();
  print.note(`Started a background server, process ${server.pid}.`);
  return server;
}

interface Starting {
  readonly environment: Invocation["environment"];
  /** Whether it stops when this process ends, even if killed. */
  readonly isTied?: boolean;
}

interface Started {
  readonly child: ChildProcess;
  /** Resolves once it responds. */
  readonly ready: Promise<RunningServer>;
}

export function startServer(home: string, { environment, isTied = false }: Starting): Started {
  const logs = logFolder(home);
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const log = join(logs, "up.log"); // only of this start; the server itself logs to cortex.log
  const output = createPrivate(log);
  const tie = isTied ? ["--tied"] : [];
  const child = launch(
    {
      file: process.execPath,
      args: [process.argv[1] ?? "", "up", "--quiet", "--home", home, ...tie],
      environment: wholeEnvironment(environment),
    },
    [isTied ? "pipe" : "ignore", output, output],
  );
  closeSync(output);
  return { child, ready: awaitReady(child, home, log) };
}

async function awaitReady(child: ChildProcess, home: string, log: string): Promise<RunningServer> {
  const stop = new AbortController();
  const ended = once(child, "exit", { signal: stop.signal }).then(() => "ended" as const);
  const late = wait(START_LIMIT_MS, "late" as const, { signal: stop.signal });
  const outcome = await Promise.race([ended, late, find(home, stop.signal)]).finally(() => stop.abort());
  await Promise.allSettled([ended, late]);
  if (outcome === "ended") throw endedEarly(log);
  if (outcome === "late") throw notReady(logPath(home));
  return outcome;
}

async function find(home: string, signal: AbortSignal): Promise<RunningServer> {
  for (;;) {
    const server = await findServer(home);
    if (server !== undefined && (await answers(server))) return server;
    await wait(LOOK_EVERY_MS, undefined, { signal });
  }
}

async function answers(server: RunningServer): Promise<boolean> {
  try {
    return (await ask(server, { path: "/api/health" })).status === 200;
  } catch {
    return false; // not yet
  }
}

function endedEarly(log: string): CortexError {
  const last = readFileSync(log, "utf8").trimEnd().split("\n").slice(-2).join(" ");
  return new CortexError("server_missing", `The server did not start: ${last}`, {
    hint: `See ${log} for its full output.`,
  });
}

function notReady(log: string): CortexError {
  const seconds = START_LIMIT_MS / 1_000;
  return new CortexError("server_missing", `The server was not ready within ${seconds} seconds`, {
    hint: `It may still be starting; see ${log}.`,
  });
}
