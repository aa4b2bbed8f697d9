import { CortexError, type ErrorCode } from "../model/errors.ts";
import type { Health } from "../runtime/health.ts";
import { runView } from "../runtime/views.ts";
import { ask } from "./ask.ts";
import type { Invocation } from "./command.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import { findServer } from "./server.ts";
import { harmless, moment, table } from "./text.ts";

/** Of the runs that are under way, those that began first are named. */
const MAX_RUNS_NAMED = 20;

type Status = Awaited<ReturnType<typeof readStatus>>;

export async function status({ home, print }: Invocation): Promise<void> {
  const status = await readStatus(home);
  print.data(status, () => table([["home", home], ...describeServer(status), ...describeLedger(status)]));
}

async function readStatus(home: string) {
  const [running, ledger] = await Promise.all([
    unless("server_missing", readServer(home)),
    unless("store_missing", readLedger(home)),
  ]);
  return {
    home,
    ...(running ?? { server: null, model: null, health: null }),
    ...(ledger ?? { counts: null, runs: [] }),
  };
}

async function readServer(home: string) {
  const server = await findServer(home);
  if (server === undefined) return undefined;
  const { pid, startedAt, host, port } = server;
  const [config, health] = await Promise.all([
    ask(server, { path: "/api/config" }),
    ask(server, { path: "/api/health?full=1" }),
  ]);
  const { model } = config.body as unknown as {
    model: { profile: { name: string; model: string | null }; why: string };
  };
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return { server: { url, pid, startedAt, host, port }, model, health: health.body as unknown as Health };
}

async function readLedger(home: string) {
  await using ledger: Ledger = await openLedger(home);
  const runs = await ledger.runs.active({ limit: MAX_RUNS_NAMED });
  return { counts: await ledger.counts(), runs: runs.map(runView) };
}

/** Undefined where there is nothing to read, which is no failure here. */
async function unless<T>(code: ErrorCode, reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof CortexError && error.code === code) return undefined;
    throw error;
  }
}

function describeServer({ server, model, health }: Status): string[][] {
  if (server === null) return [["server", "none; `cortex up` starts one"]];
  return [
    ["server", `${server.url}, process ${server.pid}, up since ${moment(server.startedAt)}`],
    ["model", `${model.profile.model ?? model.profile.name}, because ${model.why}`],
    ["health", health.status],
    ...health.problems.flatMap(({ problem, hint }) => [
      ["", harmless(`${problem}.`)],
      ["", `  ${harmless(hint)}`],
    ]),
  ];
}

function describeLedger({ counts, runs }: Status): string[][] {
  if (counts === null) return [["ledger", "none yet"]];
  const { events, turns, sessions, running, suspended, queued, deliveries } = counts;
  const dead = counts.dead + deliveries.dead;
  return [
    ["ledger", `${events} events, ${turns} turns, ${sessions} sessions`],
    ["work", `${running} running, ${suspended} suspended, ${queued} queued, ${dead} dead`],
    ...runs.map(({ session, state, startedAt }) => ["", `${session}: ${state} since ${moment(startedAt)}`]),
  ];
}
