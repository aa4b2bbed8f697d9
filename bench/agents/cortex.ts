// Managers and workers without a model, over the whole runtime: how long a call waits for a worker that has nothing to
// think about, and what becomes of many sub-agents at once. Prints one line of JSON.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openCortex } from "../../src/runtime/cortex.ts";
import { percentile } from "../percentile.ts";
import { openMemoryFolder } from "../slow-sync.ts";

const WARM_UP = 20;
const TRIPS = 200;
const MANAGERS = 2;
const CALLS_EACH = 25;
const NEVER = new AbortController().signal;

const { values } = parseArgs({ options: { part: { type: "string", default: "in process" } } });

const WORKER = { tool: "dispatch_to_agent", args: { agent: "coder", task: "task", wait: true } };
const SUB_AGENT = { tool: "sub_agent", args: { type: "general", task: "task" } };
const PARTS: Readonly<Record<string, () => Promise<object>>> = {
  "in process": () => measureTrips("worker"),
  "kept process": () => measureTrips("sub-agent"),
  crowd: measureCrowd,
};

const home = openMemoryFolder("agents");
const script = [
  play("^worker", [WORKER]),
  play("^sub-agent", [SUB_AGENT]),
  play(
    "^crowd",
    Array.from({ length: CALLS_EACH }, () => SUB_AGENT),
  ),
  { when: "^task", plays: [{ say: "the result" }] },
];
mkdirSync(join(home, "config"));
const write = (name: string, value: unknown): void =>
  writeFileSync(join(home, "config", name), JSON.stringify(value));
write("script.yaml", script);
write("profiles.json", {
  defaultProfile: "scripted",
  profiles: { scripted: { backend: "offline", script: "script.yaml" } },
});
const most = MANAGERS * CALLS_EACH;
write("cortex.json", {
  agents: { main: {}, coder: {} },
  broker: { maxProcesses: most, maxConcurrentRuns: most },
});
const cortex = await openCortex({ home, environment: {}, log: console.error });
console.log(JSON.stringify(await PARTS[values.part]!()));
await cortex.stop();

/** One after the other, each in a session of its own. */
async function measureTrips(content: string): Promise<object> {
  for (let i = 0; i < WARM_UP; i++) await trip(content, `warm-${i}`);
  const times: number[] = [];
  for (let i = 0; i < TRIPS; i++) times.push(...(await trip(content, `trip-${i}`)));
  const meanMs = times.reduce((sum, ms) => sum + ms, 0) / times.length;
  return { trips: times.length, meanMs, p50Ms: percentile(times, 50), p99Ms: percentile(times, 99) };
}

async function measureCrowd(): Promise<object> {
  const startedMs = performance.now();
  const times = (
    await Promise.all(Array.from({ length: MANAGERS }, (_, i) => trip("crowd", `crowd-${i}`)))
  ).flat();
  return {
    asked: most,
    answered: times.length,
    allMs: performance.now() - startedMs,
    slowestMs: Math.max(...times),
  };
}

/** How long each call of a turn took that was answered with the result of a worker. */
async function trip(content: string, session: string): Promise<number[]> {
  const { item } = await cortex.send({ content, session });
  const outcome = await cortex.outcome(item, NEVER);
  if (outcome?.kind !== "turn") throw new Error(`There is no turn: ${JSON.stringify(outcome)}`);
  const { toolCalls } = (await cortex.store.turns.read(outcome.turn))!;
  return toolCalls
    .filter(({ result }) => (result as { text: string }).text.startsWith("the result"))
    .map(({ startedAtMs, completedAtMs }) => completedAtMs! - startedAtMs);
}

function play(when: string, calls: readonly object[]): object {
  return { when, agent: "main", plays: [{ calls }, { say: "all are back" }] };
}
