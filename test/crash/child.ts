/**
 * The program that is killed. Several senders and holders work on one database file as hard as they can;
 * every answer of the store is written to standard output the moment it arrives, and a pipe outlives
 * the process that wrote to it. `drain` finishes all work that was left behind and ends by itself.
 *
 * Whatever is left over from the process before is taken up first and carried on from its journal.
 */
import { writeSync } from "node:fs";

import { CortexError } from "../../src/model/errors.ts";
import type { EventId, TurnId } from "../../src/model/ids.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type {
  Claim,
  DeliveryClaim,
  JournalEntry,
  LeaseRequest,
  NewDelivery,
  Store,
} from "../../src/store/store.ts";
import { createRandom } from "../simulation/random.ts";
import { delivery, dispatch, event, facts, message, session, toSession } from "../support/sample.ts";
import type { Acknowledgement } from "./acknowledgement.ts";

const [path, mode, life, seed] = process.argv.slice(2) as [string, "work" | "drain", string, string];
const DAY_MS = 24 * 3_600_000;
const SESSIONS = ["work", "home", "garden", "agent:main:main"];
/** The first two always fire, the last one once in all. */
const HOOKS = ["listener", "echo", "quiet", "once"];
const SENDERS = 6;
const TTL_MS = 60_000;
const random = createRandom(Number(seed));
/** The clock jumps when a lease is to expire; each process starts well after the jumps of the one before. */
let skewMs = Number(life) * 10 * DAY_MS;
const clock = (): number => Date.now() + skewMs;
const store: Store = await openSqliteStore({ path, clock });
/** Sessions that somebody in this process holds a lease on: a second claim on one of them is a double claim. */
const busy = new Map<string, { readonly epoch: number; readonly untilMs: number }>();
let holders = 0;

say({ kind: "up" });
await store.hooks.sync(
  HOOKS.map((name) => ({ name, mode: name === "once" ? "one-shot" : "persistent", digest: name })),
);
await takeUpWhatWasLeft();
if (mode === "work") await Promise.all(Array.from({ length: SENDERS }, (_, sender) => sendForEver(sender)));
await drainOutbox();
await store[Symbol.asyncDispose]();
say({ kind: "drained" });

function say(acknowledgement: Acknowledgement): void {
  let rest = Buffer.from(JSON.stringify(acknowledgement) + "\n");
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error; // the pipe is full: try again
    }
  }
}

function newHolder(): LeaseRequest {
  return { holder: `holder-${++holders}`, ttlMs: TTL_MS };
}

async function sendForEver(sender: number): Promise<never> {
  const self = newHolder();
  for (let n = 0; ; n++) {
    const name = `${life}-${sender}-${n}`;
    if (random.chance(0.25)) {
      await store.events.accept(event(name), { judge: true });
      say({ kind: "heard", event: `test:${name}` });
    }
    if (random.chance(0.2)) await judgeSome(self);
    const target = toSession(random.pick(SESSIONS));
    const accept = { dispatch: dispatch(name, target), claim: self };
    const askedMs = clock();
    const { dispatched } = await store.events.accept(event(name), accept);
    say({ kind: "event", event: `test:${name}`, item: dispatched!.item });
    if (dispatched!.claim !== undefined) note(dispatched!.claim, askedMs);
    if (random.chance(0.2)) await store.events.accept(event(name), accept); // redelivered
    if (dispatched!.claim !== undefined) await work([dispatched!.claim], self);
    else await leaseAndWork(self, 1);
    if (random.chance(0.1)) await deliverSome(self);
  }
}

/** Senders judge the same events side by side, as judges would that know nothing of one another. */
async function judgeSome(self: LeaseRequest): Promise<number> {
  const waiting = await store.hooks.unjudged({ limit: 3 });
  for (const { event: heard, asked } of waiting) {
    for (const hook of HOOKS) if (!asked.includes(hook)) await judge(hook, heard.id, self);
    await store.hooks.judged(heard.id);
  }
  return waiting.length;
}

async function judge(hook: string, heard: EventId, self: LeaseRequest): Promise<void> {
  const askedMs = clock();
  const { fired, dispatched } = await store.hooks.record({
    event: heard,
    hook,
    fired: hook !== "quiet",
    dispatch: dispatch(`${heard}-${hook}-${newHolder().holder}-${life}`, toSession(random.pick(SESSIONS))),
    claim: self,
    startedAtMs: askedMs,
    endedAtMs: askedMs,
  });
  say({ kind: "judged", event: heard, hook, fired });
  if (dispatched?.claim === undefined) return;
  note(dispatched.claim, askedMs);
  await work([dispatched.claim], self);
}

async function takeUpWhatWasLeft(): Promise<void> {
  const self = newHolder();
  for (const run of await store.runs.active({ limit: 1_000 })) {
    if (run.state === "suspended") await store.runs.resume(run.id, run.wait!.id, []);
  }
  while ((await judgeSome(self)) + (await leaseAndWork(self, 5)) > 0) {
    if (mode === "work" && random.chance(0.5)) return;
  }
}

async function leaseAndWork(self: LeaseRequest, max: number): Promise<number> {
  const askedMs = clock();
  const claims = await store.queue.lease(self, max);
  for (const claim of claims) note(claim, askedMs);
  await work(claims, self);
  return claims.length;
}

/** Carries claims out, and those that follow from them. */
async function work(claims: readonly Claim[], self: LeaseRequest): Promise<void> {
  for (const first of claims) {
    for (let claim: Claim | undefined = first; claim !== undefined;) {
      const { lease }: Claim = claim;
      claim = await workOn(claim, self).catch(whereTheLeaseIsLost);
      finished(lease);
    }
  }
}

/** A lease lasts from when it was asked for: the clock may have jumped since. */
function note({ lease, run }: Claim, askedMs: number): void {
  const before = busy.get(lease.session);
  if (before !== undefined && before.untilMs > clock()) {
    say({ kind: "violation", text: `${lease.session} was given out twice at once` });
  }
  busy.set(lease.session, { epoch: lease.epoch, untilMs: askedMs + TTL_MS });
  say({ kind: "claim", session: lease.session, run });
}

/** Somebody let the clock jump, and others took the work over: it is theirs now. */
function whereTheLeaseIsLost(error: unknown): undefined {
  if (!(error instanceof CortexError) || error.code !== "lease_lost") throw error;
}

async function workOn(claim: Claim, self: LeaseRequest): Promise<Claim | undefined> {
  const { lease, run, turn } = claim;
  const journal = claim.journalled ? await store.runs.readJournal(run) : { messages: [], toolCalls: [] };
  let messages = journal.messages.length;
  let calls = journal.toolCalls.length;
  const open = journal.toolCalls.filter(({ status }) => status === "started");
  const write = async (entries: readonly JournalEntry[]): Promise<void> => {
    await store.runs.journal(lease, run, entries);
    say({ kind: "journal", turn, messages, calls });
  };
  for (const { ordinal } of open) {
    await write([{ kind: "result", ordinal, status: "unknown", result: "interrupted", completedAtMs: 1 }]);
  }
  const rounds = mode === "drain" ? 0 : random.below(3);
  for (let round = 0; round < rounds; round++) {
    const place = messages++;
    const ordinal = calls++;
    await write([
      { kind: "message", place, message: message(`${turn}-${place}`, "assistant", `step ${place}`) },
      { kind: "call", ordinal, callId: `call-${ordinal}`, tool: "Tool", params: { ordinal }, startedAtMs: 1 },
    ]);
    await write([{ kind: "result", ordinal, status: "ok", result: `result ${ordinal}`, completedAtMs: 2 }]);
    messages += await steerInto(claim, messages);
  }
  if (mode === "work") {
    const choice = random.fraction();
    if (choice < 0.08) return suspendAndResume(claim);
    if (choice < 0.16) return failAndRetry(claim, self);
    if (choice < 0.2) return bury(claim, self);
    if (choice < 0.28) return loseTheLease(claim);
    if (choice < 0.32) await fork(claim);
    if (choice < 0.36 && claim.parent !== undefined) claim = await compact(claim);
  }
  return commit(claim, self, messages, calls);
}

async function commit(
  claim: Claim,
  self: LeaseRequest,
  messages: number,
  calls: number,
): Promise<Claim | undefined> {
  const { lease, run, turn, parent } = claim;
  const answer = { id: `cortex:${turn}` as EventId, channel: "test", place: "dm-1", atMs: 1 };
  const last = message(turn, "assistant", JSON.stringify({ messages: messages + 1, calls }));
  const deliveries: NewDelivery[] = [delivery(turn, random.pick(["a", "b", "c"]))];
  const rest = { status: "completed" as const, facts, messages: [last], toolCalls: [], answer, deliveries };
  finished(lease);
  const askedMs = clock();
  const { next } = await store.turns.commit({ lease, run, turn, parent, ...rest, claimNext: self });
  say({ kind: "turn", turn, session: lease.session });
  return noted(next, askedMs);
}

function noted(claim: Claim | undefined, askedMs: number): Claim | undefined {
  if (claim !== undefined) note(claim, askedMs);
  return claim;
}

/** Before the call that ends a lease: its answer may come after that of the one who has the session next. */
function finished({ session: label, epoch }: Claim["lease"]): void {
  if (busy.get(label)?.epoch === epoch) busy.delete(label);
}

async function steerInto({ lease, run, turn }: Claim, place: number): Promise<number> {
  const [waiting] = random.chance(0.4) ? await store.queue.pending(lease.session) : [];
  if (waiting === undefined) return 0;
  const entry: JournalEntry = {
    kind: "message",
    place,
    message: message(`${turn}-${place}`, "user", `steered ${waiting.id}`),
    items: [waiting.id],
  };
  try {
    await store.runs.journal(lease, run, [entry]);
    return 1;
  } catch (error) {
    if (error instanceof CortexError && error.code === "item_unknown") return 0; // it was dropped meanwhile
    throw error;
  }
}

async function suspendAndResume({ lease, run }: Claim): Promise<undefined> {
  finished(lease);
  await store.runs.suspend(lease, run, { id: run, kind: "question", detail: "?" });
  await store.runs.resume(run, run, []);
}

async function failAndRetry({ lease, run }: Claim, self: LeaseRequest): Promise<Claim | undefined> {
  const askedMs = clock();
  const outcome = { kind: "retry" as const, atMs: askedMs };
  finished(lease);
  const { next } = await store.runs.fail({ lease, run, error: "overloaded", outcome, claimNext: self });
  say({ kind: "failed", run });
  return noted(next, askedMs);
}

async function bury({ lease, run, turn }: Claim, self: LeaseRequest): Promise<Claim | undefined> {
  const items = await store.queue.itemsOf(turn);
  finished(lease);
  const askedMs = clock();
  const { next } = await store.runs.fail({
    lease,
    run,
    error: "poison",
    outcome: { kind: "dead" },
    claimNext: self,
  });
  noted(next, askedMs);
  for (const { id } of items) say({ kind: "dead", item: id });
  if (random.chance(0.5)) await store.queue.retryDead(items[0]!.id);
  return next;
}

/** Sits on a claim until another holder has taken the session over, then tries to write all the same. */
async function loseTheLease(claim: Claim): Promise<undefined> {
  const other = newHolder();
  skewMs += 2 * TTL_MS;
  const askedMs = clock();
  const taken = await store.queue.lease(other, 10);
  for (const each of taken) note(each, askedMs);
  if (taken.some(({ lease }) => lease.session === claim.lease.session)) await tryToCommit(claim);
  for (const { lease } of taken) finished(lease);
  await store.queue.release(taken.map(({ lease }) => lease));
}

async function tryToCommit({ lease, run, turn, parent }: Claim): Promise<void> {
  const last = message(turn, "assistant", JSON.stringify({ late: true }));
  const rest = { status: "completed" as const, facts, messages: [last], toolCalls: [] };
  try {
    await store.turns.commit({ lease, run, turn, parent, ...rest });
    say({ kind: "violation", text: `a commit with a lost lease on ${lease.session} was taken` });
  } catch (error) {
    if (!(error instanceof CortexError) || error.code !== "lease_lost") throw error;
  }
}

async function fork({ parent }: Claim): Promise<void> {
  if (parent === undefined) return;
  const label = `fork-${life}-${parent.toLowerCase().slice(-8)}`;
  await store.sessions.fork(parent, session(label));
  say({ kind: "fork", label, turn: parent });
}

async function compact(claim: Claim): Promise<Claim> {
  const turn = `compaction-${claim.run}` as TurnId;
  const summary = message(turn, "assistant", JSON.stringify({ messages: 1, calls: 0 }));
  await store.turns.compact({
    lease: claim.lease,
    run: claim.run,
    turn,
    facts,
    summary,
    firstKept: undefined,
  });
  say({ kind: "turn", turn, session: claim.lease.session });
  return { ...claim, parent: turn };
}

async function deliverSome(self: LeaseRequest): Promise<number> {
  const claims = await store.outbox.claim(self, 3);
  for (const claim of claims) await deliver(claim).catch(whereTheLeaseIsLost);
  return claims.length;
}

async function deliver(claim: DeliveryClaim): Promise<void> {
  await store.outbox.plan(claim, ["one", "two"]);
  const { chunks } = (await store.outbox.get(claim.delivery))!;
  for (const [place, chunk] of chunks.entries()) {
    if (chunk.state === "sent") continue;
    await store.outbox.sending(claim, place);
    await store.outbox.settle(claim, place, { kind: "sent", platformId: `p-${place}` });
    say({ kind: "sent", delivery: claim.delivery, chunk: place });
  }
}

async function drainOutbox(): Promise<void> {
  const self = newHolder();
  while ((await deliverSome(self)) > 0);
}
