// Cortex with so many hooks, of which one fires: how long it takes from an event to its dispatch, what an event costs the
// main thread, and how late the main thread gets while a hook misbehaves. Prints one line of JSON.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { EventId } from "../../src/model/ids.ts";
import { openCortex } from "../../src/runtime/cortex.ts";
import { percentile } from "../percentile.ts";
import { openMemoryFolder } from "../slow-sync.ts";

const WARM_UP = 50;
const EVENTS = 300;
/** Beside a bad hook: for some seconds, in which it is asked, stopped and asked again. */
const BAD_EVENTS = 1_000;
const BETWEEN_MS = 20;

const BAD: Readonly<Record<string, string>> = {
  none: "",
  spins: "for (;;);",
  leaks: "const kept = []; for (;;) kept.push(new Array(1_000).fill({}));",
};

const { values } = parseArgs({
  options: {
    hooks: { type: "string", default: "10" },
    kind: { type: "string", default: "all asked" },
    bad: { type: "string", default: "none" },
  },
});
const count = Number(values.hooks);
const filters: Readonly<Record<string, (at: number) => string>> = {
  "all asked": () => "",
  "filtered by channel": (at) => `export const filter = { channels: ["other-${at}"] };`,
  "filtered by words": (at) => `export const filter = { match: "(?i)\\\\b(word${at}|other${at})s?\\\\b" };`,
};
const filterOf = filters[values.kind]!;

const home = openMemoryFolder("hooks");
mkdirSync(join(home, "hooks"));
mkdirSync(join(home, "config"));
const paired = [{ channel: "bench", sender: "ada" }];
writeFileSync(
  join(home, "config", "cortex.json"),
  JSON.stringify({ channels: { paired }, broker: { maxConcurrentRuns: 1 } }),
);
for (let i = 1; i < count; i++)
  writeFileSync(
    join(home, "hooks", `hook-${i}.ts`),
    `${filterOf(i)}\nexport default async function ({ event }) { return { fire: event.content === "never" }; }\n`,
  );
const isBad = values.bad !== "none";
if (count > 0)
  writeFileSync(
    join(home, "hooks", "fires.ts"),
    `export const filter = { channels: ["bench"] };
    export default async function () { return { fire: true, routing: { session: "work" } }; }\n`,
  );
if (isBad)
  writeFileSync(join(home, "hooks", "bad.ts"), `export default async function () { ${BAD[values.bad]} }\n`);

const cortex = await openCortex({ home, environment: {}, flags: { profile: "offline" }, log: () => {} });
const warmUp = isBad ? 0 : WARM_UP;
for (let i = 0; i < warmUp; i++) await send(`warm-${i}`);
await settled();

const loop = monitorEventLoopDelay({ resolution: 1 });
loop.enable();
const latencies: number[] = [];
if (isBad) {
  const under: Promise<void>[] = [];
  for (let i = 0; i < BAD_EVENTS; i++) {
    under.push(send(`bad-${i}`).then((ms) => void latencies.push(ms)));
    await sleep(BETWEEN_MS);
  }
  await Promise.all(under);
} else {
  for (let i = 0; i < EVENTS; i++) {
    latencies.push(await send(`event-${i}`));
    await settled();
    await sleep(BETWEEN_MS); // the turn that comes of it is not what is measured
  }
}
loop.disable();
const before = performance.eventLoopUtilization();
const quiet = isBad ? 0 : EVENTS;
for (let i = 0; i < quiet; i++) await accept(`quiet-${i}`, "quiet");
await settled();
const used = performance.eventLoopUtilization(before);
loop.disable();
const state = isBad ? (await cortex.store.hooks.get("bad"))!.state : undefined;
console.log(
  JSON.stringify({
    hooks: count,
    kind: values.kind,
    bad: values.bad,
    p50Ms: percentile(latencies, 50),
    p99Ms: percentile(latencies, 99),
    maxMs: Math.max(...latencies),
    mainMs: used.active / EVENTS,
    loopP99Ms: loop.percentile(99) / 1e6,
    loopMaxMs: loop.max / 1e6,
    state,
  }),
);
await cortex.stop();

/** Gives how long it took until the dispatch was committed; without hooks, until the event was. */
async function send(sourceId: string): Promise<number> {
  const startedMs = performance.now();
  const id = `bench:${sourceId}` as EventId;
  const found = Promise.withResolvers<void>();
  const look = async (): Promise<void> => {
    if ((await cortex.store.events.dispatches(id)).length > 0) found.resolve();
  };
  const unlisten = cortex.store.onWake("changes", () => void look());
  await accept(sourceId, "bench");
  if (count > 0) await found.promise;
  unlisten();
  return performance.now() - startedMs;
}

async function accept(sourceId: string, channel: string): Promise<void> {
  const content = `A message of some words, as people write them, number ${sourceId}.`;
  await cortex.accept({
    adapter: "bench",
    sourceId,
    channel,
    sender: "ada",
    content,
    timestampMs: Date.now(),
  });
}

async function settled(): Promise<void> {
  while ((await cortex.store.hooks.unjudged()).length > 0) await sleep(5);
}
