// From nothing to ready, and what a server holds while nobody asks anything.

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
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

export async function benchStart(program: string): Promise<string> {
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
  return [
    table(
      ["who", "ready, ms", "of Cortex", `MB after ${IDLE_MS / 1_000} s`, "CPU ms by then", "processes"],
      rows,
    ),
    `- Ready with ${EVENTS.toLocaleString("en-US")} events in ${Math.round(median(used.readyMs))} ms (goal: ${READY_GOAL_MS}), and after a kill the model is asked again within ${Math.round(resumedMs)} ms (goal: ${RESUME_GOAL_MS}); idle with ${written(empty.idle?.residentMb)} MB on a new home and ${written(used.idle?.residentMb)} MB on that one (goal: ${IDLE_GOAL_MB}).`,
    "",
  ].join("\n");
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
async function startPeer(): Promise<Started | { readonly trouble: string }> {
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
  return [who, Math.round(ms).toLocaleString("en-US"), ratio, ...usageCells(idle)];
}

function usageCells(usage: Usage | undefined): string[] {
  if (usage === undefined) return ["", "", ""];
  return [written(usage.residentMb), written(usage.cpuMs), String(usage.processes)];
}

function written(value: number | undefined): string {
  return value === undefined ? "" : Math.round(value).toLocaleString("en-US");
}
