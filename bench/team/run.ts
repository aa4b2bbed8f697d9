// What it costs to look at a large team and to write its files safely, beside reading and writing them plainly.

import { join } from "node:path";
import { runProgram } from "../run-program.ts";
import { table } from "../table.ts";

interface Figures {
  readonly [name: string]: number;
}

const MAX_MS = 300_000;
const GOAL_COLD_MS = 1_000;
const GOAL_WARM_MS = 50;
const GOAL_CLAIM_MS = 20;

/** Markdown. */
export async function benchTeam(): Promise<string> {
  const plain = await measure("plain");
  const status = await measure("status");
  const claim = await measure("claim");
  const tick = await measure("tick");
  return [
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
    `- Status of ${status["members"]} members: ${status["coldMs"]!.toFixed(0)} ms at first (goal: under ${GOAL_COLD_MS}), ${status["warmMs"]!.toFixed(1)} ms then (goal: under ${GOAL_WARM_MS}).`,
    `- A claim among 10,000 tasks: ${claim["claimMs"]!.toFixed(1)} ms (goal: under ${GOAL_CLAIM_MS}).`,
    "",
  ].join("\n");
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
