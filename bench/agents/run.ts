// What workers cost: how soon the process of a sub-agent is ready, what a call that waits for a worker adds beside the
// model, and whether any is lost where there are many at once.

import { join } from "node:path";
import { type Goal, none, type Report, under, written } from "../goal.ts";
import { runProgram } from "../run-program.ts";
import { buildSlowSync, slowSyncEnvironment } from "../slow-sync.ts";
import { table } from "../table.ts";

interface Ready {
  readonly cold: Times;
  readonly warm: Times;
}

interface Times {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

interface Trips {
  readonly trips: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Crowd {
  readonly asked: number;
  readonly answered: number;
  readonly allMs: number;
  readonly slowestMs: number;
}

const WORKERS = ["in process", "kept process"];
/** Long beside everything else, so that what a trip takes longer with it are the syncs that it waits for. */
const SYNC_MS = 5;
const MAX_MS = 300_000;
const GOAL_WARM_MS = 20;
const GOAL_COLD_MS = 400;
const GOAL_TRIP_MS = 15;

export async function benchAgents(): Promise<Report> {
  const ready = await measure("ready.ts", [], isReady);
  const trips: (Trips & { readonly worker: string; readonly syncs: number | undefined })[] = [];
  for (const worker of WORKERS) {
    const free = await measure("cortex.ts", ["--part", worker], isTrips);
    trips.push({ worker, syncs: await countSyncs(worker, free), ...free });
  }
  const crowd = await measure("cortex.ts", ["--part", "crowd"], isCrowd);
  const text = [
    table(
      ["process", "ready p50 ms", "p99 ms", "max ms"],
      Object.entries(ready).map(([name, { p50Ms, p99Ms, maxMs }]) => [name, p50Ms, p99Ms, maxMs]),
    ),
    table(
      ["worker", "call → its result, mean ms", "p50 ms", "p99 ms", "syncs that it waits for"],
      trips.map((row) => [row.worker, row.meanMs, row.p50Ms, row.p99Ms, row.syncs ?? ""]),
    ),
    table(
      ["sub-agents at once", "answered", "all after ms", "slowest call ms"],
      [[crowd.asked, crowd.answered, crowd.allMs, crowd.slowestMs]],
    ),
  ].join("\n");
  return { text, goals: goalsOf(ready, trips, crowd) };
}

async function countSyncs(worker: string, free: Trips): Promise<number | undefined> {
  const library = buildSlowSync();
  if (library === undefined) return undefined;
  const env = slowSyncEnvironment(library, SYNC_MS * 1_000);
  const slow = await measure("cortex.ts", ["--part", worker], isTrips, env);
  return Math.round((slow.p50Ms - free.p50Ms) / SYNC_MS);
}

async function measure<Row>(
  script: string,
  args: readonly string[],
  isRow: (value: unknown) => value is Row,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Row> {
  const program = { script: join(import.meta.dirname, script), args, env, capMs: MAX_MS };
  const [row] = await runProgram(program, isRow);
  return row!;
}

function goalsOf({ cold, warm }: Ready, [trip]: readonly Trips[], crowd: Crowd): Goal[] {
  return [
    under({
      what: "process of a sub-agent that was kept, ready, p50",
      value: warm.p50Ms,
      limit: GOAL_WARM_MS,
      unit: "ms",
      beside: `one that is started: ${written(cold.p50Ms, "ms")}`,
    }),
    under({
      what: "process of a sub-agent that is started, ready, p50",
      value: cold.p50Ms,
      limit: GOAL_COLD_MS,
      unit: "ms",
    }),
    under({
      what: "a call has the result of its worker, beyond the syncs, p50",
      value: trip!.p50Ms,
      limit: GOAL_TRIP_MS,
      unit: "ms",
    }),
    none({ what: `lost of ${crowd.asked} sub-agents at once`, value: crowd.asked - crowd.answered }),
  ];
}

function isReady(value: unknown): value is Ready {
  return typeof value === "object" && value !== null && "cold" in value;
}

function isTrips(value: unknown): value is Trips {
  return typeof value === "object" && value !== null && "trips" in value;
}

function isCrowd(value: unknown): value is Crowd {
  return typeof value === "object" && value !== null && "asked" in value;
}
