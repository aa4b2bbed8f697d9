// How soon the process of a sub-agent takes its work: one that is started for it, and one that was kept from before.
// Prints one line of JSON.

import { join } from "node:path";
import type { Child } from "../../src/agents/process/child.ts";
import { exampleInit, PLAIN_TASK } from "../../src/agents/process/examine.ts";
import { ProcessPool } from "../../src/agents/process/pool.ts";
import { percentile } from "../percentile.ts";
import { openMemoryFolder } from "../slow-sync.ts";

const WARM_UP = 3;
const COLD = 30;
const WARM = 300;
const ANSWER_MS = 60_000;
const NEVER = new AbortController().signal;

const folder = openMemoryFolder("agents");
let kept = 0;
const pool = new ProcessPool({
  program: process.execPath,
  args: [join(import.meta.dirname, "..", "..", "bin", "cortex.js"), "sub-agent", "run"],
  folder,
  environment: process.env,
  maxProcesses: () => 4,
  warm: () => kept,
  warmMs: () => 600_000,
  strayFile: join(folder, "strays.json"),
  log: console.error,
});

for (let i = 0; i < WARM_UP; i++) await work();
const cold = await measure(COLD);
kept = 1;
for (let i = 0; i < WARM_UP; i++) await work();
const warm = await measure(WARM);
await pool[Symbol.asyncDispose]();
console.log(JSON.stringify({ cold: row(cold), warm: row(warm) }));

async function measure(times: number): Promise<number[]> {
  const readyMs: number[] = [];
  for (let i = 0; i < times; i++) readyMs.push(await work());
  return readyMs;
}

/** Gives how long it took until it was ready. */
async function work(): Promise<number> {
  const startedMs = performance.now();
  const child = (await pool.acquire({}, NEVER))!;
  await child.begin(exampleInit(PLAIN_TASK), NEVER);
  const readyMs = performance.now() - startedMs;
  await untilDone(child);
  pool.release(child, { isAtWork: false });
  return readyMs;
}

async function untilDone(child: Child): Promise<void> {
  for (;;) {
    const line = await child.next(ANSWER_MS);
    if (typeof line === "string" || line.type === "error") throw new Error(`It is ${JSON.stringify(line)}`);
    if (line.type === "done") return;
  }
}

function row(times: readonly number[]): object {
  return { p50Ms: percentile(times, 50), p99Ms: percentile(times, 99), maxMs: Math.max(...times) };
}
