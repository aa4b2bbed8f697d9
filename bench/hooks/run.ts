// What hooks cost: 0, 10, 100 and 1,000 of them, asked and filtered, and what one that misbehaves does to the rest.

import { join } from "node:path";
import { type Goal, type Report, under, written } from "../goal.ts";
import { runProgram } from "../run-program.ts";
import { table } from "../table.ts";

interface Row {
  readonly hooks: number;
  readonly kind: string;
  readonly bad: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly mainMs: number;
  readonly loopP99Ms: number;
  readonly loopMaxMs: number;
  readonly state?: string;
}

const SIZES = [0, 10, 100, 1_000];
const KINDS = ["all asked", "filtered by channel", "filtered by words"];
const BAD = ["spins", "leaks"];
const MAX_MS = 300_000;
const GOAL_P50_MS = 10;
const GOAL_MAIN_MS = 5;
const GOAL_LOOP_MS = 50;

export async function benchHooks(): Promise<Report> {
  const rows: Row[] = [];
  for (const hooks of SIZES)
    for (const kind of hooks === 0 ? KINDS.slice(0, 1) : KINDS) rows.push(await measure(hooks, kind, "none"));
  const bad: Row[] = [];
  for (const name of BAD) bad.push(await measure(10, "all asked", name));
  return { text: [costs(rows), trouble(bad)].join("\n"), goals: goalsOf(rows, bad) };
}

async function measure(hooks: number, kind: string, bad: string): Promise<Row> {
  const args = ["--hooks", String(hooks), "--kind", kind, "--bad", bad];
  const program = { script: join(import.meta.dirname, "cortex.ts"), args, capMs: MAX_MS };
  const [row] = await runProgram(program, isRow);
  return row!;
}

function costs(rows: readonly Row[]): string {
  return table(
    [
      "hooks",
      "of which all but one are",
      "event → dispatch p50 ms",
      "p99 ms",
      "main thread, ms an event",
      "loop p99 ms",
    ],
    rows.map((row) => [row.hooks, row.kind, row.p50Ms, row.p99Ms, row.mainMs, row.loopP99Ms]),
  );
}

function trouble(rows: readonly Row[]): string {
  return table(
    [
      "one of 11 hooks",
      "event → dispatch p50 ms",
      "p99 ms",
      "max ms",
      "loop p99 ms",
      "loop max ms",
      "it is then",
    ],
    rows.map((row) => [
      row.bad,
      row.p50Ms,
      row.p99Ms,
      row.maxMs,
      row.loopP99Ms,
      row.loopMaxMs,
      row.state ?? "",
    ]),
  );
}

function goalsOf(rows: readonly Row[], bad: readonly Row[]): Goal[] {
  const many = rows.filter(({ hooks }) => hooks === 1_000);
  const [unfiltered, ...filtered] = many;
  return [
    under({
      what: "from an event to its dispatch, 100 hooks that are all asked, p50",
      value: rows.find((row) => row.hooks === 100 && row.kind === "all asked")!.p50Ms,
      limit: GOAL_P50_MS,
      unit: "ms",
      beside: `no hooks: ${written(rows[0]!.p50Ms, "ms")}`,
    }),
    under({
      what: "main thread's time for an event, 1,000 hooks with filters",
      value: Math.max(...filtered.map(({ mainMs }) => mainMs)),
      limit: GOAL_MAIN_MS,
      unit: "ms",
      beside: `all of them asked: ${written(unfiltered!.mainMs, "ms")}`,
    }),
    under({
      what: "delay of the event loop beside a hook that spins or leaks, p99",
      value: Math.max(...bad.map(({ loopP99Ms }) => loopP99Ms)),
      limit: GOAL_LOOP_MS,
      unit: "ms",
    }),
  ];
}

function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && "loopMaxMs" in value;
}
