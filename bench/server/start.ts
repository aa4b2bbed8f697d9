// From nothing to ready, and what a server holds while nobody asks anything.

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Goal, type Report, under, written } from "../goal.ts";
import { installOpenclaw, startOpenclaw } from "../peers/openclaw.ts";
import { median } from "../percentile.ts";
import { table } from "../table.ts";
import { Client } from "./client.ts";
import { measureResume } from "./resume.ts";
import { makeHome, startCortex } from "./start-cortex.ts";
import { startModel } from "./start-model.ts";
import { familyUsage, type Usage } from "./usage.ts";

const EVENTS = 100_000;
const ROUNDS = 5;
/** It takes ten times as long as Cortex, and its spread is small beside that. */
const PEER_ROUNDS = 2;
const IDLE_MS = 5_000;

const READY_GOAL_MS = 1_000;
const RESUME_GOAL_MS = 5_000;
const IDLE_GOAL_MB = 120;

interface Started {
  readonly readyMs: readonly number[];
  readonly idle: Usage | undefined;
}

export async function benchStart(program: string): Promise<Report> {
  const full = makeHome();
  execFileSync(process.execPath, [join(import.meta.dirname, "fill-ledger.ts"), full, String(EVENTS)]);
  const bare = await startOften({ rounds: ROUNDS, start: startBareNode });
  const empty = await startOften({
    rounds: ROUNDS,
    start: () => startCortex({ program, home: makeHome() }),
  });
  const used = await startOften({ rounds: ROUNDS, start: () => startCortex({ program, home: full }) });
  const resumedMs = await measureResume({ program, home: full });
  const worked = await idleAfterWork(program);
  const peer = await startPeer();
  const rows = [
    row("bare node, ended at once", bare, used),
    row("cortex up, new home", empty, used),
    row(`cortex up, ${EVENTS.toLocaleString("en-US")} events`, used, used),
    ["cortex up, new home, after a turn", "", "", ...usageCells(worked)],
    "trouble" in peer
      ? ["OpenClaw", peer.trouble, "", "", "", ""]
      : row("OpenClaw, new home, no channels", peer, used),
  ];
  const text = table(
    ["who", "ready, ms", "of Cortex", `MB after ${IDLE_MS / 1_000} s`, "CPU ms by then", "processes"],
    rows,
  );
  return { text, goals: goalsOf({ empty, used, resumedMs, peer }) };
}

type Peer = Started | { readonly trouble: string };

function goalsOf(measured: { empty: Started; used: Started; resumedMs: number; peer: Peer }): Goal[] {
  const { empty, used, resumedMs, peer } = measured;
  const openclaw = (of: (started: Started) => number | undefined, unit: string): string => {
    const value = "trouble" in peer ? undefined : of(peer);
    return value === undefined ? "" : `OpenClaw, new home: ${written(value, unit)}`;
  };
  return [
    under({
      what: "`cortex up` ready, 100,000 events",
      value: median(used.readyMs),
      limit: READY_GOAL_MS,
      unit: "ms",
      beside: openclaw(({ readyMs }) => median(readyMs), "ms"),
    }),
    under({
      what: "the model asked again after a kill, 100,000 events",
      value: resumedMs,
      limit: RESUME_GOAL_MS,
      unit: "ms",
    }),
    under({
      what: "idle server's memory, new home",
      value: empty.idle?.residentMb,
      limit: IDLE_GOAL_MB,
      unit: "MB",
      beside: openclaw(({ idle }) => idle?.residentMb, "MB"),
    }),
    under({
      what: "idle server's memory, 100,000 events",
      value: used.idle?.residentMb,
      limit: IDLE_GOAL_MB,
      unit: "MB",
    }),
  ];
}

interface Startable extends AsyncDisposable {
  readonly pid: number;
  readonly readyMs: number;
}

/** The memory is that of the last round. */
async function startOften({
  rounds,
  start,
}: {
  rounds: number;
  start: () => Promise<Startable>;
}): Promise<Started> {
  const readyMs: number[] = [];
  for (let round = 1; round < rounds; round++) {
    await using running = await start();
    readyMs.push(running.readyMs);
  }
  await using last = await start();
  readyMs.push(last.readyMs);
  await sleep(IDLE_MS);
  return { readyMs, idle: familyUsage(last.pid) };
}

/** It is not ours, so its troubles end a row and not the benchmark. */
async function startPeer(): Promise<Peer> {
  if (!installOpenclaw()) return { trouble: "could not be installed" };
  try {
    return await startOften({ rounds: PEER_ROUNDS, start: () => startOpenclaw(makeHome()) });
  } catch (error) {
    return { trouble: String(error) };
  }
}

/** What no program in Node can be faster than. */
async function startBareNode(): Promise<Startable> {
  const startedMs = performance.now();
  execFileSync(process.execPath, ["-e", "0"]);
  return { pid: 0, readyMs: performance.now() - startedMs, async [Symbol.asyncDispose]() {} };
}

/** The client of the model is loaded with the first turn, and stays. */
async function idleAfterWork(program: string): Promise<Usage | undefined> {
  await using model = await startModel();
  await using cortex = await startCortex({ program, home: makeHome(model.port) });
  using client = new Client({ ...cortex, connections: 1 });
  await client.post("/api/messages", { content: "mark-1", wait: true });
  await sleep(IDLE_MS);
  return familyUsage(cortex.pid);
}

function row(who: string, { readyMs, idle }: Started, cortex: Started): (string | number)[] {
  const ms = median(readyMs);
  const ratio = `${(ms / median(cortex.readyMs)).toFixed(2)}×`;
  return [who, whole(ms), ratio, ...usageCells(idle)];
}

function usageCells(usage: Usage | undefined): string[] {
  if (usage === undefined) return ["", "", ""];
  return [whole(usage.residentMb), whole(usage.cpuMs), String(usage.processes)];
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
