// Runs the peers under the broker workload, each in a process of its own with its own server.

import { join } from "node:path";
import { installPeers } from "../peers/install.ts";
import { runProgram } from "../run-program.ts";
import type { BrokerResult, WorkloadSize } from "./workload.ts";

export type PeerSize = Omit<WorkloadSize, "capMs"> & {
  /** How long a sync takes, see slowsync.c. */
  readonly syncUs: number;
};

/** A peer that cannot run here says why; its row stays in the table with that reason. */
export type PeerResult =
  | (BrokerResult & { readonly versions: string })
  | { readonly name: string; readonly skipped: string };

/** BullMQ on Redis. `record` is how a turn is kept: as the job's return value, or as rows of its own. */
export async function runBullmq(size: PeerSize, record: "value" | "rows" = "value"): Promise<PeerResult> {
  return runPeer({
    name: record === "rows" ? "bullmq, rows" : "bullmq",
    script: "bullmq.mjs",
    size,
    more: ["--record", record],
  });
}

/** graphile-worker on PostgreSQL. */
export async function runGraphile(size: PeerSize): Promise<PeerResult> {
  return runPeer({ name: "graphile-worker", script: "graphile.mjs", size, more: [] });
}

type Peer = {
  readonly name: string;
  readonly script: string;
  readonly size: PeerSize;
  readonly more: readonly string[];
};

async function runPeer({ name, script, size, more }: Peer): Promise<PeerResult> {
  if (!installPeers()) return { name, skipped: "its packages could not be installed" };
  const args = Object.entries({
    "--sessions": size.sessions,
    "--senders": size.senders,
    "--messages": size.messages,
    "--sync-us": size.syncUs,
  }).flatMap(([key, value]) => [key, String(value)]);
  const program = { script: join(import.meta.dirname, "..", "peers", script), args: [...args, ...more] };
  const lines = await runProgram(program, isPeerResult);
  const result = lines.at(-1);
  if (result === undefined) throw new Error(`${script} printed no result`);
  return result;
}

function isPeerResult(value: unknown): value is PeerResult {
  return typeof value === "object" && value !== null && ("skipped" in value || "perSecond" in value);
}
