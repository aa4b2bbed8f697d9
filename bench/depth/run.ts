// What a turn costs as its thread grows: Cortex to depth 100,000, LangGraph with SqliteSaver to 300.

import { join } from "node:path";
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

/** Markdown. Syncs are free here: what grows with the depth is work, and a slow sync would hide it. */
export async function benchDepth(): Promise<string> {
  const library = buildSlowSync();
  if (library === undefined) return "Skipped: the sync cost could not be simulated on this machine.\n";
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
  return [own, peerTable(await peers()), verdict(cortex)].join("\n");
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

function verdict(rows: readonly CortexDepth[]): string {
  const first = rows[0]!;
  const last = rows.at(-1)!;
  return [
    `- From depth ${first.depth} to ${last.depth}: time ${percent(first.msPerTurn, last.msPerTurn)}, bytes ${percent(first.bytesPerTurn, last.bytesPerTurn)} (goal: within 10 %).`,
    `- Context of the last 50 turns at depth ${last.depth}: ${last.contextMs} ms (goal: under 1 ms). Fork: ${last.forkMs} ms (goal: under 1 ms).`,
    "",
  ].join("\n");
}

function percent(from: number, to: number): string {
  return `${to >= from ? "+" : ""}${Math.round((to / from - 1) * 100)} %`;
}

function isCortexDepth(value: unknown): value is CortexDepth {
  return typeof value === "object" && value !== null && "contextMs" in value;
}
