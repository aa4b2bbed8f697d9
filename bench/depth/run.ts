// What a turn costs as its thread grows: Cortex to depth 100,000, LangGraph with SqliteSaver to 300.

import { join } from "node:path";
import { type Goal, type Report, under, within, written } from "../goal.ts";
import { runProgram } from "../run-program.ts";
import { buildSlowSync, slowSyncEnvironment } from "../slow-sync.ts";
import { table } from "../table.ts";
import { type DepthResult, runLanggraph } from "./peers.ts";

interface CortexDepth {
  readonly depth: number;
  readonly msPerTurn: number;
  readonly bytesPerTurn: number;
  readonly contextMs: number;
  readonly forkMs: number;
}

const DEPTHS = [10, 1_000, 10_000, 100_000];
const PEER_DEPTHS = [10, 100, 300];
const MAX_MS = 300_000;
const GOAL_GROWTH_PERCENT = 10;
const GOAL_READ_MS = 1;

/** Syncs are free here: what grows with the depth is work, and a slow sync would hide it. */
export async function benchDepth(): Promise<Report> {
  const library = buildSlowSync();
  if (library === undefined) throw new Error("The cost of a sync cannot be simulated on this machine.");
  const cortex = await runProgram(
    {
      script: join(import.meta.dirname, "cortex.ts"),
      args: ["--depths", DEPTHS.join(",")],
      env: slowSyncEnvironment(library, 0),
      capMs: MAX_MS,
    },
    isCortexDepth,
  );
  const own = table(
    ["Cortex, depth", "ms a turn", "bytes a turn", "context of the last 50, ms", "fork, ms"],
    cortex.map((row) => [row.depth, row.msPerTurn, row.bytesPerTurn, row.contextMs, row.forkMs]),
  );
  const langgraph = await peers();
  return { text: [own, peerTable(langgraph)].join("\n"), goals: goalsOf(cortex, langgraph) };
}

async function peers(): Promise<DepthResult[]> {
  const full = await runLanggraph({ depths: PEER_DEPTHS, syncUs: 0 });
  const delta = await runLanggraph({ depths: PEER_DEPTHS, syncUs: 0, messages: "delta" });
  return [...(full ?? []), ...(delta ?? [])];
}

function peerTable(rows: readonly DepthResult[]): string {
  if (rows.length === 0) return "LangGraph: skipped, its packages could not be installed.\n";
  return table(
    ["LangGraph with SqliteSaver", "depth", "ms a turn", "bytes a turn"],
    rows.map(({ name, depth, msPerTurn, bytesPerTurn }) => [name, depth, msPerTurn, bytesPerTurn]),
  );
}

function goalsOf(rows: readonly CortexDepth[], langgraph: readonly DepthResult[]): Goal[] {
  const first = rows[0]!;
  const last = rows.at(-1)!;
  const [shallow, ...deeper] = langgraph.filter(({ name }) => name === langgraph[0]!.name);
  const deep = deeper.at(-1);
  const beside = (of: (row: DepthResult) => number): string =>
    shallow === undefined || deep === undefined
      ? ""
      : `LangGraph from ${shallow.depth} to ${deep.depth}: ${growth(of(shallow), of(deep))}`;
  return [
    within({
      what: "change of a turn's time from depth 10 to 100,000",
      value: percentMore(first.msPerTurn, last.msPerTurn),
      limit: GOAL_GROWTH_PERCENT,
      unit: "%",
      beside: beside(({ msPerTurn }) => msPerTurn),
    }),
    within({
      what: "change of a turn's bytes from depth 10 to 100,000",
      value: percentMore(first.bytesPerTurn, last.bytesPerTurn),
      limit: GOAL_GROWTH_PERCENT,
      unit: "%",
      beside: beside(({ bytesPerTurn }) => bytesPerTurn),
    }),
    under({
      what: "context of the last 50 turns read at depth 100,000",
      value: last.contextMs,
      limit: GOAL_READ_MS,
      unit: "ms",
    }),
    under({ what: "fork at depth 100,000", value: last.forkMs, limit: GOAL_READ_MS, unit: "ms" }),
  ];
}

function percentMore(from: number, to: number): number {
  return (to / from - 1) * 100;
}

function growth(from: number, to: number): string {
  return `+${written(percentMore(from, to), "%")}`;
}

function isCortexDepth(value: unknown): value is CortexDepth {
  return typeof value === "object" && value !== null && "contextMs" in value;
}
