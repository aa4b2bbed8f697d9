// Where the time of one message goes between its POST and the answer, by the spans that the server itself measures.

import type { Report } from "../goal.ts";
import { percentile } from "../percentile.ts";
import { table } from "../table.ts";
import { buildCortex } from "../server/build.ts";
import { Client } from "../server/client.ts";
import { makeHome, startCortex } from "../server/start-cortex.ts";
import { startModel } from "../server/start-model.ts";

const WARM_UP = 200;
const MESSAGES = 400; // less than the server keeps in memory, and the ledger knows commits only to the millisecond
const SESSIONS = 40;

interface StageTime {
  readonly stage: string;
  readonly tookMs: number;
  readonly cpuMs: number | null;
}

export async function benchPath(): Promise<Report> {
  await using model = await startModel();
  await using cortex = await startCortex({ program: await buildCortex(), home: makeHome(model.port) });
  using client = new Client({ ...cortex, connections: 1 });
  const roundTripsMs: number[] = [];
  const events: string[] = [];
  for (let at = -WARM_UP; at < MESSAGES; at++) {
    const startedMs = performance.now();
    const { eventId } = await send(client, at);
    if (at < 0) continue;
    roundTripsMs.push(performance.now() - startedMs);
    events.push(eventId);
  }
  const stages = new Map<string, { readonly tookMs: number[]; cpuMs: number }>();
  for (const event of events) {
    for (const { stage, tookMs, cpuMs } of await timingOf(client, event)) {
      const times = stages.get(stage) ?? { tookMs: [], cpuMs: 0 };
      times.tookMs.push(tookMs);
      times.cpuMs += cpuMs ?? 0;
      stages.set(stage, times);
    }
  }
  stages.delete("received"); // where the others begin
  const totalCpuMs = [...stages.values()].reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  const rows = Array.from(stages, ([stage, { tookMs, cpuMs }]) => [
    `→ ${stage}`,
    percentile(tookMs, 50),
    percentile(tookMs, 99),
    cpuMs / events.length,
    (100 * cpuMs) / totalCpuMs,
  ]);
  const whole = [
    "POST → answer, as its sender sees it",
    percentile(roundTripsMs, 50),
    percentile(roundTripsMs, 99),
  ];
  return {
    text: table(
      ["stage", "p50, ms", "p99, ms", "CPU, ms", "CPU, %"],
      [...rows, [...whole, totalCpuMs / events.length, 100]],
    ),
    goals: [],
  };
}

async function send(client: Client, at: number): Promise<{ eventId: string }> {
  const session = `bench-path-${Math.abs(at) % SESSIONS}`;
  const { text } = await client.post("/api/messages", { content: `message ${at}`, session, wait: true });
  return JSON.parse(text) as { eventId: string };
}

async function timingOf(client: Client, event: string): Promise<readonly StageTime[]> {
  const { text } = await client.get(`/api/events/${encodeURIComponent(event)}/why?live=1`);
  return (JSON.parse(text) as { turns: [{ timing: StageTime[] }] }).turns[0].timing;
}
