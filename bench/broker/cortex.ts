// Cortex under the broker workload: accept, lease and commit through the store, as the broker calls it.

import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { parseArgs } from "node:util";
import type {
  AgentId,
  DeliveryId,
  DispatchId,
  EventId,
  ItemId,
  MessageId,
  PersonaId,
  TurnId,
} from "../../src/model/ids.ts";
import type { SessionKey } from "../../src/model/session-key.ts";
import { createUlidSource } from "../../src/model/ulid.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Claim, LeaseRequest, NewTurn, TurnFacts } from "../../src/store/store.ts";
import { openMemoryFolder } from "../slow-sync.ts";
import { readArguments } from "./arguments.ts";
import { composeTurn, type Message, randomText, Workload } from "./workload.ts";

const size = readArguments();
const { values } = parseArgs({ options: { rate: { type: "string" } }, strict: false });
const store = await openSqliteStore({
  path: join(openMemoryFolder("cortex"), "cortex.db"),
  clock: Date.now,
});
const self: LeaseRequest = { holder: "bench", ttlMs: 60_000 };
const nextId = createUlidSource(Date.now);
const facts: TurnFacts = {
  role: "manager",
  profile: "none",
  provider: "none",
  model: "none",
  usage: { input: 500, output: 500, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
  costUsd: null,
};
/** Messages that were sent and not yet worked on, by the id of their event. */
const waiting = new Map<string, Message>();
/** Which of them a turn is for. The broker reads it from the store; here it is known in memory. */
const queues: string[][] = Array.from({ length: size.sessions }, () => []);

let tracker: Pick<Workload, "begin" | "end" | "recorded">;
const delay = monitorEventLoopDelay({ resolution: 1 });
const result = values.rate === undefined ? await closedLoop() : await openLoop(Number(values.rate));
const { ok } = await store.verify();
if (!ok) throw new Error("the hash chain is broken");
await store[Symbol.asyncDispose]();
console.log(JSON.stringify(result));

async function closedLoop(): Promise<unknown> {
  const workload = new Workload(size);
  tracker = workload;
  delay.enable();
  const measured = await workload.run("cortex", send);
  delay.disable();
  return { ...measured, loopP50Ms: delay.percentile(50) / 1e6, loopP99Ms: delay.percentile(99) / 1e6 };
}

/** Messages arrive at a fixed rate, whether or not the ones before are done. */
async function openLoop(rate: number): Promise<unknown> {
  const accepted: number[] = [];
  const recorded: number[] = [];
  const startedMs = new Map<number, number>();
  tracker = {
    begin() {},
    end() {},
    recorded(id) {
      recorded.push(performance.now() - startedMs.get(id)!);
    },
  };
  const arrive = async (id: number): Promise<void> => {
    startedMs.set(id, performance.now());
    const session = Math.floor(Math.random() * size.sessions);
    await send({ id, session, body: randomText(2048) });
    accepted.push(performance.now() - startedMs.get(id)!);
  };
  const arrivals: Promise<void>[] = [];
  const beganMs = performance.now();
  delay.enable();
  while (arrivals.length < size.messages) {
    const due = Math.min(size.messages, Math.floor(((performance.now() - beganMs) * rate) / 1_000));
    while (arrivals.length < due) arrivals.push(arrive(arrivals.length));
    await nextTurn();
  }
  await Promise.all(arrivals);
  while (recorded.length < size.messages) await nextTurn();
  delay.disable();
  const seconds = (performance.now() - beganMs) / 1_000;
  return {
    name: "cortex",
    rate,
    sessions: size.sessions,
    perSecond: Math.round(size.messages / seconds),
    acceptP50Ms: percentile(accepted, 50),
    turnP50Ms: percentile(recorded, 50),
    turnP99Ms: percentile(recorded, 99),
    loopP99Ms: delay.percentile(99) / 1e6,
  };
}

async function send(message: Message): Promise<void> {
  const id = `bench:${message.id}` as EventId;
  waiting.set(id, message);
  queues[message.session]!.push(id);
  const { dispatched } = await store.events.accept(
    {
      id,
      channel: "bench",
      direction: "received",
      sender: "someone",
      place: String(message.session),
      content: message.body,
      atMs: Date.now(),
    },
    {
      dispatch: {
        id: nextId() as DispatchId,
        item: nextId() as ItemId,
        hook: "direct",
        mode: "followup",
        target: {
          kind: "session",
          session: `agent:main:bench:${message.session}` as SessionKey,
          agent: "main" as AgentId,
          persona: "atlas" as PersonaId,
        },
      },
      claim: self,
    },
  );
  if (dispatched!.claim !== undefined) void work(dispatched!.claim);
}

/** The no-op agent: takes a claim, records a turn, goes on with the claim that came back. */
async function work(first: Claim): Promise<void> {
  for (let claim: Claim | undefined = first; claim !== undefined;) {
    const session = Number(claim.lease.session.split(":")[3]);
    const message = waiting.get(queues[session]!.shift()!)!;
    waiting.delete(`bench:${message.id}`);
    tracker.begin(message.id);
    const turn = turnOf(claim, message);
    // The session may be given on with this very commit, so it is free from here.
    tracker.end(message.id);
    const { next }: { next?: Claim } = await store.turns.commit(turn);
    tracker.recorded(message.id);
    claim = next;
  }
}

function turnOf(claim: Claim, message: Message): NewTurn {
  const { messages, toolCall } = composeTurn(message);
  const nowMs = Date.now();
  const place = String(message.session);
  return {
    lease: claim.lease,
    run: claim.run,
    turn: claim.turn,
    parent: claim.parent,
    status: "completed",
    facts,
    messages: messages.map(({ role, body }, i) => ({
      id: (i === messages.length - 1 ? claim.turn : nextId()) as MessageId & TurnId,
      role,
      content: body,
      atMs: nowMs,
    })),
    toolCalls: [
      {
        ordinal: 0,
        callId: "call-1",
        tool: toolCall.name,
        params: toolCall.arguments,
        status: "ok",
        result: toolCall.result,
        startedAtMs: nowMs,
        completedAtMs: nowMs,
      },
    ],
    answer: { id: `cortex:${claim.turn}` as EventId, channel: "bench", place, atMs: nowMs },
    deliveries: [{ id: nextId() as DeliveryId, target: { channel: "bench", place } }],
    claimNext: self,
  };
}

function percentile(times: number[], percent: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Number((sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? 0).toFixed(2));
}
