// What relays cost beside the turns of their steps, and whether any step is lost or done twice where there are many.

import { join } from "node:path";
import { atLeast, type Goal, type Report, under, written } from "../goal.ts";
import { runProgram } from "../run-program.ts";
import { table } from "../table.ts";

interface One {
  readonly relay: Times;
  readonly hand: Times;
}

interface Times {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Crowd {
  readonly asked: number;
  readonly turns: number;
  readonly finished: number;
  readonly allMs: number;
  readonly peakMiB: number;
}

const MAX_MS = 300_000;
const GOAL_STEP_MS = 5;

export async function benchRelay(): Promise<Report> {
  const one = await measure("one", isOne);
  const relays = await measure("crowd of relays", isCrowd);
  const hands = await measure("crowd by hand", isCrowd);
  const text = [
    table(
      ["one after the other", "a step p50 ms", "p99 ms"],
      [
        ["relays of 10 steps", one.relay.p50Ms, one.relay.p99Ms],
        ["the same turns by hand", one.hand.p50Ms, one.hand.p99Ms],
      ],
    ),
    table(
      ["100 at once", "turns", "all after ms", "ms a step", "peak MiB"],
      [
        ["relays of 10 steps", ...figures(relays)],
        ["the same turns by hand", ...figures(hands)],
      ],
    ),
  ].join("\n");
  return { text, goals: goalsOf(one, relays, hands) };
}

async function measure<Row>(part: string, isRow: (value: unknown) => value is Row): Promise<Row> {
  const script = join(import.meta.dirname, "cortex.ts");
  const [row] = await runProgram({ script, args: ["--part", part], capMs: MAX_MS }, isRow);
  return row!;
}

function figures({ asked, turns, allMs, peakMiB }: Crowd): number[] {
  return [turns, allMs, allMs / asked, peakMiB];
}

function goalsOf({ relay, hand }: One, relays: Crowd, hands: Crowd): Goal[] {
  return [
    under({
      what: "a step beyond its turn, p50",
      value: relay.p50Ms - hand.p50Ms,
      limit: GOAL_STEP_MS,
      unit: "ms",
      beside: `the same turn by hand: ${written(hand.p50Ms, "ms")}`,
    }),
    under({
      what: "a step beyond its turn, among 100 relays at once",
      value: (relays.allMs - hands.allMs) / relays.asked,
      limit: GOAL_STEP_MS,
      unit: "ms",
      beside: `the same turn by hand: ${written(hands.allMs / hands.asked, "ms")}`,
    }),
    atLeast({
      what: "relays of 100 at once that ended with each step done once",
      value: relays.finished,
      limit: 100,
    }),
  ];
}

function isOne(value: unknown): value is One {
  return typeof value === "object" && value !== null && "relay" in value;
}

function isCrowd(value: unknown): value is Crowd {
  return typeof value === "object" && value !== null && "asked" in value;
}
