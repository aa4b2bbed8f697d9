// Search over a ledger of so many events: what indexing takes, and what each kind of query takes, as a caller of
// the store sees it. Prints one line of JSON for each kind.

import { statSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import type { EventId } from "../../src/model/ids.ts";
import { STEP_EVENTS } from "../../src/search/indexer.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { SearchOptions } from "../../src/store/store.ts";
import { percentile } from "../percentile.ts";
import { openMemoryFolder } from "../slow-sync.ts";
import { createTalk, START_MS, STEP_MS } from "./talk.ts";

const QUERIES = 100;
const WRITTEN_AT_ONCE = 2_000;
const CHANNELS = ["telegram", "email", "cli", "webhook"];

const { values } = parseArgs({ options: { events: { type: "string", default: "100000" } } });
const events = Number(values.events);
const talk = createTalk(7);
const path = join(openMemoryFolder("search"), "cortex.db");
const store = await openSqliteStore({ path, clock: Date.now });

for (let i = 0; i < events; i += WRITTEN_AT_ONCE) {
  await Promise.all(
    Array.from({ length: Math.min(WRITTEN_AT_ONCE, events - i) }, (_, j) =>
      store.events.accept({
        id: `bench:${i + j}` as EventId,
        channel: (i + j) % 1_000 === 0 ? "seldom" : CHANNELS[(i + j) % CHANNELS.length]!,
        direction: "received",
        content: talk.text(),
        atMs: START_MS + (i + j) * STEP_MS,
      }),
    ),
  );
}
const bytesBefore = statSync(path).size;
const steps: number[] = [];
for (let waiting = events; waiting > 0;) {
  const startedMs = performance.now();
  ({ waiting } = await store.events.index(STEP_EVENTS));
  steps.push(performance.now() - startedMs);
}
console.log(
  JSON.stringify({
    kind: "index",
    events,
    seconds: steps.reduce((sum, ms) => sum + ms, 0) / 1_000,
    stepP50Ms: percentile(steps, 50),
    stepP99Ms: percentile(steps, 99),
    stepMaxMs: Math.max(...steps),
    bytesBefore,
    bytesAfter: statSync(path).size,
  }),
);

const endMs = START_MS + events * STEP_MS;
await measure("one rare word", () => talk.word("rare"));
await measure("two rare words", () => `${talk.word("rare")} ${talk.word("rare")}`);
await measure("two usual words", () => `${talk.word("usual")} ${talk.word("usual")}`);
await measure("a common word", () => talk.word("common"));
await measure(
  "three common words",
  () => `${talk.word("common")} ${talk.word("common")} ${talk.word("common")}`,
);
await measure("a message of 15 words", () => Array.from({ length: 15 }, () => talk.word("any")).join(" "));
await measure("a usual word in a channel that is seldom used", () => talk.word("usual"), {
  channels: ["seldom"],
});
await measure("a common word in a channel that is seldom used", () => talk.word("common"), {
  channels: ["seldom"],
});
await measure("a common word in the oldest hundredth", () => talk.word("common"), {
  untilMs: START_MS + (endMs - START_MS) / 100,
});
await store[Symbol.asyncDispose]();

async function measure(kind: string, ask: () => string, options: SearchOptions = {}): Promise<void> {
  for (let i = 0; i < 5; i++) await store.events.search(ask(), options); // the process is started, its code compiled
  const times: number[] = [];
  let hits = 0;
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  for (let i = 0; i < QUERIES; i++) {
    const text = ask();
    const startedMs = performance.now();
    hits += (await store.events.search(text, options)).length;
    times.push(performance.now() - startedMs);
  }
  loop.disable();
  console.log(
    JSON.stringify({
      kind,
      events,
      hits: hits / QUERIES,
      p50Ms: percentile(times, 50),
      p95Ms: percentile(times, 95),
      maxMs: Math.max(...times),
      loopP99Ms: loop.percentile(99) / 1e6,
    }),
  );
}
