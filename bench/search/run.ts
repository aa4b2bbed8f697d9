// Search over 100,000 and 1,000,000 events: time to index, and time to answer by kind of query.

import { join } from "node:path";
import { type Goal, type Report, under } from "../goal.ts";
import { runProgram } from "../run-program.ts";
import { buildSlowSync, slowSyncEnvironment } from "../slow-sync.ts";
import { table } from "../table.ts";

interface IndexRow {
  readonly kind: "index";
  readonly events: number;
  readonly seconds: number;
  readonly stepP50Ms: number;
  readonly stepP99Ms: number;
  readonly stepMaxMs: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

interface QueryRow {
  readonly kind: string;
  readonly events: number;
  readonly hits: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  readonly loopP99Ms: number;
}

const SIZES = [100_000, 1_000_000];
const MAX_MS = 1_800_000;
const GOAL_MS = 100;

/** Syncs are free here: what is measured is work, and the steps of the index share theirs with others. */
export async function benchSearch(): Promise<Report> {
  const library = buildSlowSync();
  if (library === undefined) throw new Error("The cost of a sync cannot be simulated on this machine.");
  const rows: (IndexRow | QueryRow)[] = [];
  for (const events of SIZES) {
    const program = {
      script: join(import.meta.dirname, "cortex.ts"),
      args: ["--events", String(events)],
      env: slowSyncEnvironment(library, 0),
      capMs: MAX_MS,
    };
    rows.push(...(await runProgram(program, isRow)));
  }
  const indexing = rows.filter((row): row is IndexRow => row.kind === "index");
  const queries = rows.filter((row): row is QueryRow => row.kind !== "index");
  return { text: [indexTable(indexing), queryTable(queries)].join("\n"), goals: [goalOf(queries)] };
}

function indexTable(rows: readonly IndexRow[]): string {
  return table(
    ["indexing, events", "seconds", "step p50 ms", "step p99 ms", "step max ms", "MB before", "MB after"],
    rows.map((row) => [
      row.events,
      row.seconds,
      row.stepP50Ms,
      row.stepP99Ms,
      row.stepMaxMs,
      row.bytesBefore / 1e6,
      row.bytesAfter / 1e6,
    ]),
  );
}

function queryTable(rows: readonly QueryRow[]): string {
  return table(
    ["query", "events", "hits", "p50 ms", "p95 ms", "max ms", "loop p99 ms"],
    rows.map((row) => [row.kind, row.events, row.hits, row.p50Ms, row.p95Ms, row.maxMs, row.loopP99Ms]),
  );
}

function goalOf(rows: readonly QueryRow[]): Goal {
  const large = rows.filter(({ events }) => events === SIZES.at(-1));
  const slowest = large.toSorted((a, b) => b.p95Ms - a.p95Ms)[0]!;
  return under({
    what: `search over 1,000,000 events, slowest kind (${slowest.kind}), p95`,
    value: slowest.p95Ms,
    limit: GOAL_MS,
    unit: "ms",
  });
}

function isRow(value: unknown): value is IndexRow | QueryRow {
  return typeof value === "object" && value !== null && "kind" in value;
}
