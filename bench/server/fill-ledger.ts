// Makes a ledger that looks used: `node fill-ledger.ts <home> <events>`. Half of the events are questions, the
// other half their answers; a process of its own, so that nothing of the store stays in that of the benchmark.

import { databasePath } from "../../src/config/home.ts";
import type { DispatchId, EventId, ItemId, MessageId, TurnId } from "../../src/model/ids.ts";
import { normalizeSessionKey } from "../../src/model/session-key.ts";
import { createUlidSource } from "../../src/model/ulid.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { LeaseRequest, TurnFacts } from "../../src/store/store.ts";
import { randomText } from "../broker/workload.ts";

const SESSIONS = 500;
const TEXT_LENGTH = 430;

const [home = "", events = "0"] = process.argv.slice(2);
const store = await openSqliteStore({ path: databasePath(home), clock: Date.now });
const nextId = createUlidSource(Date.now);
const self: LeaseRequest = { holder: "bench", ttlMs: 600_000 };
const facts: TurnFacts = {
  role: "manager",
  profile: "none",
  provider: "none",
  model: "none",
  usage: { input: 100, output: 100, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
  costUsd: null,
};

let left = Number(events) / 2;
await Promise.all(
  Array.from({ length: SESSIONS }, async (_, session) => {
    while (left-- > 0) await addTurn(`bench-${session}`);
  }),
);
const counts = await store.counts();
if (counts.events !== Number(events)) throw new Error(`${counts.events} events were made, not ${events}`);
await store[Symbol.asyncDispose]();

async function addTurn(label: string): Promise<void> {
  const question = randomText(TEXT_LENGTH);
  const atMs = Date.now();
  const { dispatched } = await store.events.accept(
    { id: `bench:${nextId()}` as EventId, channel: "bench", direction: "received", content: question, atMs },
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
  await store.turns.commit({
    lease,
    run,
    turn,
    parent,
    status: "completed",
    facts,
    messages: [
      { id: nextId() as MessageId, role: "user", content: question, atMs },
      { id: turn as TurnId & MessageId, role: "assistant", content: randomText(TEXT_LENGTH), atMs },
    ],
    toolCalls: [],
    answer: { id: `cortex:${turn}` as EventId, channel: "bench", atMs },
  });
}
