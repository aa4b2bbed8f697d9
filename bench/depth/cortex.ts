// Cortex on one growing thread: what a turn, a context and a fork cost at each depth. Prints one line of
// JSON for each depth. The turns are as small as those of the peer: about 430 bytes each way.

import { join } from "node:path";
import { parseArgs } from "node:util";
import type { DispatchId, EventId, ItemId, MessageId, TurnId } from "../../src/model/ids.ts";
import { normalizeSessionKey } from "../../src/model/session-key.ts";
import { createUlidSource } from "../../src/model/ulid.ts";
import { openForReading } from "../../src/store/sqlite/connection.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { LeaseRequest, TurnFacts } from "../../src/store/store.ts";
import { randomText } from "../broker/workload.ts";
import { openMemoryFolder } from "../slow-sync.ts";

/** Turns that are timed up to each depth, and before which the code must have warmed up. */
const WINDOW = 400;
const READS = 300;

const { values } = parseArgs({ options: { depths: { type: "string", default: "10,1000,10000,100000" } } });
const depths = values.depths.split(",").map(Number);
const path = join(openMemoryFolder("depth"), "cortex.db");
const store = await openSqliteStore({ path, clock: Date.now });
const nextId = createUlidSource(Date.now);
const self: LeaseRequest = { holder: "bench", ttlMs: 60_000 };
const facts: TurnFacts = {
  role: "manager",
  profile: "none",
  provider: "none",
  model: "none",
  usage: { input: 100, output: 100, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
  costUsd: null,
};

// The code is compiled on a thread of its own, so that depth 10 is not measured cold.
await grow("warm-up", 2_000);
let deep = 0;
for (const depth of depths) {
  const { timed, bytes, head } = depth < WINDOW ? await manyShallow(depth) : await oneDeep(depth);
  const context = await time(READS, () => store.turns.context(head, { limit: 50 }));
  const fork = await time(20, () =>
    store.sessions.fork(head, normalizeSessionKey(`fork-${nextId().toLowerCase()}`)),
  );
  console.log(
    JSON.stringify({
      name: "cortex",
      depth,
      msPerTurn: round(median(timed)),
      bytesPerTurn: Math.round(bytes / timed.length),
      contextMs: round(context),
      forkMs: round(fork),
    }),
  );
}
await store[Symbol.asyncDispose]();

interface Measured {
  readonly timed: number[];
  readonly bytes: number;
  readonly head: TurnId;
}

/** Ten turns are too few to time, so they are made on many new threads. */
async function manyShallow(depth: number): Promise<Measured> {
  const before = databaseBytes();
  const timed: number[] = [];
  let head: TurnId | undefined;
  for (let thread = 0; timed.length < WINDOW; thread++) {
    const grown = await grow(`shallow-${depth}-${thread}`, depth);
    timed.push(...grown.times);
    ({ head } = grown);
  }
  return { timed, bytes: databaseBytes() - before, head: head! };
}

/** The last turns up to this depth of the one deep thread. */
async function oneDeep(depth: number): Promise<Measured> {
  await grow("deep", depth - deep - WINDOW);
  const before = databaseBytes();
  const { times, head } = await grow("deep", WINDOW);
  deep = depth;
  return { timed: times, bytes: databaseBytes() - before, head: head! };
}

async function grow(label: string, count: number): Promise<{ times: number[]; head: TurnId | undefined }> {
  const times: number[] = [];
  let last: TurnId | undefined;
  for (let i = 0; i < count; i++) {
    const event = `bench:${nextId()}` as EventId;
    const question = randomText(430);
    const startedMs = performance.now();
    const { dispatched } = await store.events.accept(
      { id: event, channel: "bench", direction: "received", content: question, atMs: Date.now() },
      {
        dispatch: {
          id: nextId() as DispatchId,
          item: nextId() as ItemId,
          hook: "direct",
          mode: "followup",
          target: {
            kind: "session",
            session: normalizeSessionKey(label),
            agent: "main" as never,
            persona: "atlas" as never,
          },
        },
        claim: self,
      },
    );
    const { lease, run, turn, parent } = dispatched!.claim!;
    const atMs = Date.now();
    await store.turns.commit({
      lease,
      run,
      turn,
      parent,
      status: "completed",
      facts,
      messages: [
        { id: nextId() as MessageId, role: "user", content: question, atMs },
        { id: turn as TurnId & MessageId, role: "assistant", content: randomText(430), atMs },
      ],
      toolCalls: [],
    });
    times.push(performance.now() - startedMs);
    last = turn;
  }
  return { times, head: last };
}

async function time(count: number, call: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const startedMs = performance.now();
    await call();
    times.push(performance.now() - startedMs);
  }
  return median(times);
}

/** Pages in use, whether they are in the file yet or still in its log. */
function databaseBytes(): number {
  const db = openForReading(path);
  const pages = db.pragma("page_count", { simple: true }) as number;
  const size = db.pragma("page_size", { simple: true }) as number;
  db.close();
  return pages * size;
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

function round(value: number): number {
  return Number(value.toFixed(3));
}
