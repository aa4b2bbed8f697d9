// What it costs to look at a large team and to write its files safely, beside reading and writing them plainly.

import { join } from "node:path";
import { type Goal, type Report, under, written } from "../goal.ts";
import { runProgram } from "../run-program.ts";
import { table } from "../table.ts";

interface Figures {
  readonly [name: string]: number;
}

const MAX_MS = 300_000;
const GOAL_COLD_MS = 1_000;
const GOAL_WARM_MS = 50;
const GOAL_CLAIM_MS = 20;

export async function benchTeam(): Promise<Report> {
  const plain = await measure("plain");
  const status = await measure("status");
  const claim = await measure("claim");
  const tick = await measure("tick");
  const text = [
    table(
      ["1,000 members with 100 tasks each", "ms", "plainly ms", "times"],
      [
        ["status, first look", ...beside(status["coldMs"]!, plain["coldMs"]!)],
        ["status, nothing changed", ...beside(status["warmMs"]!, plain["coldMs"]!)],
        ["tick of all, one after the other", ...beside(tick["allMs"]!, tick["plainMs"]!)],
        ["one tick", ...beside(tick["allMs"]! / tick["members"]!, tick["plainMs"]! / tick["members"]!)],
      ],
    ),
    table(
      ["one file with 10,000 tasks", "p50 ms", "plainly ms", "times"],
      [
        ["parse", ...beside(claim["parseMs"]!, claim["plainMs"]!)],
        ["claim", ...beside(claim["claimMs"]!, claim["plainMs"]!)],
      ],
    ),
  ].join("\n");
  return { text, goals: goalsOf({ plain, status, claim }) };
}

function goalsOf({ plain, status, claim }: Record<"plain" | "status" | "claim", Figures>): Goal[] {
  const files = `the same files read plainly: ${written(plain["coldMs"]!, "ms")}`;
  return [
    under({
      what: "status of 1,000 members, first look",
      value: status["coldMs"],
      limit: GOAL_COLD_MS,
      unit: "ms",
      beside: files,
    }),
    under({
      what: "status of 1,000 members, nothing changed",
      value: status["warmMs"],
      limit: GOAL_WARM_MS,
      unit: "ms",
      beside: files,
    }),
    under({
      what: "a claim in a file of 10,000 tasks, p50",
      value: claim["claimMs"],
      limit: GOAL_CLAIM_MS,
      unit: "ms",
      beside: `one word replaced plainly: ${written(claim["plainMs"]!, "ms")}`,
    }),
  ];
}

function beside(ms: number, plainMs: number): [number, number, number] {
  return [ms, plainMs, ms / plainMs];
}

async function measure(part: string): Promise<Figures> {
  const script = join(import.meta.dirname, "cortex.ts");
  const [row] = await runProgram({ script, args: ["--part", part], capMs: MAX_MS }, isFigures);
  return row!;
}

function isFigures(value: unknown): value is Figures {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((one) => typeof one === "number")
  );
}
