// Accept, lease, commit: Cortex beside a bare loop over the same tables and beside two job queues, in one
// run, with the same cost of a sync.

import { join } from "node:path";
import { atLeast, type Goal, type Report, written } from "../goal.ts";
import { runProgram } from "../run-program.ts";
import { buildSlowSync, slowSyncEnvironment } from "../slow-sync.ts";
import { table } from "../table.ts";
import { type PeerResult, runBullmq, runGraphile } from "./peers.ts";

const SYNC_US = 1_000;
const ROUNDS = 3;

interface Size {
  readonly sessions: number;
  readonly senders: number;
  readonly messages: number;
}

/** One serial sender needs few messages to be measured, a hundred need many. */
const SIZES: readonly Size[] = [
  { sessions: 1, senders: 1, messages: 400 },
  { sessions: 1, senders: 32, messages: 800 },
  { sessions: 1, senders: 100, messages: 800 },
  { sessions: 100, senders: 1, messages: 400 },
  { sessions: 100, senders: 32, messages: 4_000 },
  { sessions: 100, senders: 100, messages: 8_000 },
  { sessions: 10_000, senders: 1, messages: 400 },
  { sessions: 10_000, senders: 32, messages: 4_000 },
  { sessions: 10_000, senders: 100, messages: 10_000 },
];

/** The job queues are given fewer: they are slower, and one queue a session ends at some hundred. */
const PEER_SIZES: readonly Size[] = [
  { sessions: 100, senders: 1, messages: 200 },
  { sessions: 100, senders: 32, messages: 2_000 },
  { sessions: 100, senders: 100, messages: 2_000 },
];

const RATES = [1_000, 3_000];

const GOAL_BARE_PERCENT = 60;
const GOAL_BULLMQ = 3;
const GOAL_GRAPHILE = 20;

interface Measured {
  readonly perSecond: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly loopP99Ms?: number;
  readonly orderViolations?: number;
  readonly overlaps?: number;
}

interface OpenLoop {
  readonly rate: number;
  readonly perSecond: number;
  readonly acceptP50Ms: number;
  readonly turnP50Ms: number;
  readonly turnP99Ms: number;
  readonly loopP99Ms: number;
}

export async function benchBroker(): Promise<Report> {
  const library = buildSlowSync();
  if (library === undefined) throw new Error("The cost of a sync cannot be simulated on this machine.");
  const run = (program: string, size: Size, more: readonly string[] = []): Promise<Measured> =>
    runOnce(library, program, size, more);

  const rows: (string | number)[][] = [];
  const summary = new Map<string, Map<string, number>>();
  for (const size of SIZES) {
    const contenders: Record<string, () => Promise<Measured | PeerResult>> = {
      cortex: () => run("cortex.ts", size),
      "bare loop": () => run("bare.ts", size),
      "bare loop, no hash": () => run("bare.ts", size, ["--no-hash"]),
      ...peersFor(size),
    };
    const results = await inTurns(contenders);
    const cortex = median(results.get("cortex")!.filter(isMeasured));
    const speeds = new Map<string, number>();
    for (const [name, runs] of results) {
      const measured = runs.filter(isMeasured);
      if (measured.length === 0) {
        rows.push([
          size.sessions,
          size.senders,
          name,
          "skipped",
          (runs[0] as { skipped: string }).skipped,
          "",
          "",
          "",
        ]);
        continue;
      }
      const middle = median(measured);
      speeds.set(name, middle.perSecond);
      const wrong = Math.max(...measured.map((each) => (each.orderViolations ?? 0) + (each.overlaps ?? 0)));
      rows.push([
        size.sessions,
        size.senders,
        name,
        Math.round(middle.perSecond).toLocaleString("en-US"),
        `${(cortex.perSecond / middle.perSecond).toFixed(2)}×`,
        middle.p50Ms === undefined ? "" : `${middle.p50Ms} / ${middle.p99Ms}`,
        middle.loopP99Ms === undefined ? "" : middle.loopP99Ms.toFixed(1),
        wrong === 0 ? "" : String(wrong),
      ]);
    }
    summary.set(`${size.sessions}/${size.senders}`, speeds);
  }
  const closed = table(
    ["sessions", "senders", "who", "messages/s", "Cortex is", "p50 / p99 ms", "loop p99 ms", "wrong order"],
    rows,
  );
  const open = await openLoops(library);
  return { text: [closed, open].join("\n"), goals: goalsOf(summary.get("100/100")!) };
}

function peersFor(size: Size): Record<string, () => Promise<PeerResult>> {
  const peer = PEER_SIZES.find(
    ({ sessions, senders }) => sessions === size.sessions && senders === size.senders,
  );
  if (peer === undefined) return {};
  return {
    "BullMQ, result in the job": () => runBullmq({ ...peer, syncUs: SYNC_US }),
    "BullMQ, result as rows": () => runBullmq({ ...peer, syncUs: SYNC_US }, "rows"),
    "graphile-worker": () => runGraphile({ ...peer, syncUs: SYNC_US }),
  };
}

/** Contenders take turns, so that a slow minute of the machine is shared by all. */
async function inTurns<T>(contenders: Record<string, () => Promise<T>>): Promise<Map<string, T[]>> {
  const results = new Map<string, T[]>(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, contender] of Object.entries(contenders)) results.get(name)!.push(await contender());
  }
  return results;
}

async function openLoops(library: string): Promise<string> {
  const rows: (string | number)[][] = [];
  for (const rate of RATES) {
    const size = { sessions: 100, senders: 1, messages: rate * 4 };
    const [result] = await runProgram(
      program(library, "cortex.ts", size, ["--rate", String(rate)]),
      isOpenLoop,
    );
    const { perSecond, acceptP50Ms, turnP50Ms, turnP99Ms, loopP99Ms } = result!;
    rows.push([rate, perSecond, acceptP50Ms, turnP50Ms, turnP99Ms, Number(loopP99Ms.toFixed(1))]);
  }
  return table(
    ["arrivals/s, 100 sessions", "done/s", "accept p50 ms", "turn p50 ms", "turn p99 ms", "loop p99 ms"],
    rows,
  );
}

async function runOnce(
  library: string,
  script: string,
  size: Size,
  more: readonly string[],
): Promise<Measured> {
  const [result] = await runProgram(program(library, script, size, more), isMeasured);
  if (result === undefined) throw new Error(`${script} printed no result`);
  return result;
}

function program(library: string, script: string, size: Size, more: readonly string[]) {
  const { sessions, senders, messages } = size;
  const args = [
    "--sessions",
    sessions,
    "--senders",
    senders,
    "--messages",
    messages,
    "--sync-us",
    SYNC_US,
  ].map(String);
  return {
    script: join(import.meta.dirname, script),
    args: [...args, ...more],
    env: slowSyncEnvironment(library, SYNC_US),
  };
}

/** Those of 100 senders to 100 sessions. */
function goalsOf(speeds: ReadonlyMap<string, number>): Goal[] {
  const cortex = speeds.get("cortex")!;
  const bare = speeds.get("bare loop")!;
  const times = (name: string, limit: number): Goal => {
    const peer = speeds.get(name);
    return atLeast({
      what: `messages/s beside ${name}`,
      value: peer === undefined ? undefined : cortex / peer,
      limit,
      unit: "×",
      beside: peer === undefined ? "could not be run" : besideIt(peer, cortex),
    });
  };
  return [
    atLeast({
      what: "messages/s beside a bare loop over the same tables",
      value: (cortex / bare) * 100,
      limit: GOAL_BARE_PERCENT,
      unit: "%",
      beside: besideIt(bare, cortex),
    }),
    times("BullMQ, result in the job", GOAL_BULLMQ),
    times("BullMQ, result as rows", GOAL_BULLMQ),
    times("graphile-worker", GOAL_GRAPHILE),
  ];
}

function besideIt(perSecond: number, cortex: number): string {
  return `${written(perSecond, "a second")}, and Cortex ${written(cortex, "")}`;
}

function median<T extends { readonly perSecond: number }>(runs: readonly T[]): T {
  return runs.toSorted((a, b) => a.perSecond - b.perSecond)[Math.floor(runs.length / 2)]!;
}

function isMeasured(value: unknown): value is Measured {
  return typeof value === "object" && value !== null && "perSecond" in value;
}

function isOpenLoop(value: unknown): value is OpenLoop {
  return isMeasured(value) && "turnP99Ms" in value;
}
