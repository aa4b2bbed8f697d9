// How long it takes to assemble what a model is given in a session of 10,000 turns.

import { join } from "node:path";
import { type Report, under } from "../goal.ts";
import { runProgram } from "../run-program.ts";
import { table } from "../table.ts";

interface Times {
  readonly p50: number;
  readonly p95: number;
}

interface ContextResult {
  readonly name: string;
  readonly turns: number;
  readonly assembled: Times;
  readonly explained: Times;
}

const GOAL_MS = 20;
const MAX_MS = 300_000;

export async function benchContext(): Promise<Report> {
  const script = join(import.meta.dirname, "cortex.ts");
  const results = await runProgram({ script, args: [], capMs: MAX_MS }, isResult);
  const text = table(
    ["10,000 turns", "turns given", "assembled, p50 ms", "p95 ms", "explained, p50 ms", "p95 ms"],
    results.map(({ name, turns, assembled, explained }) => [
      name,
      turns,
      assembled.p50,
      assembled.p95,
      explained.p50,
      explained.p95,
    ]),
  );
  const goal = under({
    what: "context of a session of 10,000 turns assembled, p50",
    value: Math.max(...results.map(({ assembled }) => assembled.p50)),
    limit: GOAL_MS,
    unit: "ms",
  });
  return { text, goals: [goal] };
}

function isResult(value: unknown): value is ContextResult {
  return typeof value === "object" && value !== null && "assembled" in value;
}
