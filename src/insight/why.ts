/**
 * Why: everything that was made of one event, from the moment it was accepted to the deliveries of the answer,
 * with times and reasons. It is read from the rows that the steps of the pipeline have left behind.
 */
import { CortexError } from "../model/errors.ts";
import { ANSWER_ADAPTER, HOOK_ADAPTER, splitEventId } from "../model/event.ts";
import { endedAtLimit } from "../model/message.ts";
import type { Spans } from "../model/spans.ts";
import type { DeliveryId, EventId, ItemId, TurnId } from "../model/ids.ts";
import type { HookRun, ItemOutcome, Ledger, QueueItem, StoredRun, TurnContent } from "../store/store.ts";
import type { Pinned } from "../turns/journal.ts";
import { hookRunView } from "../hooks/surface/views.ts";
import { findStartedWith, keyOfHook } from "../relay/record/keys.ts";
import { stageTimes } from "./timing.ts";
import { deliveryView, dispatchView, eventView, isoTime, runView } from "../feature/views.ts";

export type Explanation = Awaited<ReturnType<typeof explain>>;

/** What an id turned out to be, and the event or the turn that it leads to. */
interface Found {
  readonly kind: "event" | "turn" | "delivery" | "item";
  readonly event: EventId | undefined;
  readonly turn: TurnId | undefined;
}

/**
 * Explains an event, or the event behind a turn, a delivery or a queue item. With the spans of the running server, also
 * to the microsecond what is not committed with a turn.
 */
export async function explain(ledger: Ledger, id: string, spans?: Spans) {
  const found = await find(ledger, id);
  if (found === undefined) throw nothingFound(id);
  const event = found.event === undefined ? undefined : await ledger.events.get(found.event);
  const [chain, { hooks, dispatches }] = await Promise.all([
    event === undefined ? [] : ledger.events.chain(event.id),
    event === undefined ? { hooks: [], dispatches: [] } : explainJudgement(ledger, event.id),
  ]);
  const items = await readItems(ledger, [...new Set(dispatches.map(({ itemId }) => itemId))]);
  const turns = new Set(items.map(({ turnId, formerTurnId }) => turnId ?? formerTurnId));
  turns.add(found.turn ?? null);
  turns.delete(null);
  return {
    id,
    kind: found.kind,
    event: event === undefined ? null : eventView(event),
    /** The event and what led to it, the event first. */
    chain,
    /** The hooks that were asked about it, and what they said. */
    hooks,
    dispatches,
    items,
    turns: await Promise.all([...turns].map((turn) => explainTurn(ledger, turn!, spans))),
  };
}

async function explainJudgement(ledger: Ledger, event: EventId) {
  const [hooks, dispatches] = await Promise.all([
    ledger.hooks.ofEvent(event),
    ledger.events.dispatches(event),
  ]);
  return {
    hooks: await Promise.all(hooks.map((run) => explainHookRun(ledger, event, run))),
    dispatches: dispatches.map(dispatchView),
  };
}

async function explainHookRun(ledger: Ledger, event: EventId, run: HookRun) {
  const relay = run.fired ? await findStartedWith(keyOfHook(event, run.hook), ledger.relays) : undefined;
  /** With the relay that it has started. */
  return { ...hookRunView(run), relayId: relay ?? null };
}

async function find(ledger: Ledger, id: string): Promise<Found | undefined> {
  const event = await ledger.events.get(id as EventId);
  if (event !== undefined) {
    // What a hook has said late is part of what became of the event that it was asked about.
    if (isLate(event.id) && event.cause !== undefined)
      return { kind: "event", event: event.cause, turn: undefined };
    const turn = answeredBy(event.id);
    return turn === undefined
      ? { kind: "event", event: event.id, turn: undefined }
      : { ...((await findTurn(ledger, turn)) ?? { event: event.id, turn: undefined }), kind: "event" };
  }
  const turn = await findTurn(ledger, id as TurnId);
  if (turn !== undefined) return { ...turn, kind: "turn" };
  const delivery = await ledger.outbox.get(id as DeliveryId);
  if (delivery !== undefined) {
    const sentBy = delivery.turn === undefined ? undefined : await findTurn(ledger, delivery.turn);
    return { event: sentBy?.event, turn: delivery.turn, kind: "delivery" };
  }
  const item = await ledger.queue.item(id as ItemId);
  return item === undefined ? undefined : { kind: "item", event: item.event.id, turn: undefined };
}

/** An answer is an event of its own; what made it is its turn, whose id it carries. */
function answeredBy(event: EventId): TurnId | undefined {
  return event.startsWith("cortex:") ? (event.slice("cortex:".length) as TurnId) : undefined;
}

function isLate(event: EventId): boolean {
  return splitEventId(event).adapter === HOOK_ADAPTER;
}

/** A turn has runs before it is there, and also when it never will be. */
async function findTurn(ledger: Ledger, turn: TurnId): Promise<Pick<Found, "event" | "turn"> | undefined> {
  const [first] = await ledger.runs.ofTurn(turn);
  if (first === undefined) return undefined;
  const source = first.sourceEvent;
  const event = source !== undefined && isLate(source) ? (await ledger.events.get(source))?.cause : source;
  return { event, turn };
}

async function readItems(ledger: Ledger, ids: readonly ItemId[]) {
  const read = await Promise.all(
    ids.map(async (id) => [await ledger.queue.item(id), await ledger.queue.outcome(id)] as const),
  );
  return Promise.all(
    read.map(async ([item, outcome]) =>
      explainItem(item!, outcome!, await findWait(item!, outcome!, ledger)),
    ),
  );
}

/** What a message waits for that is none of its own: a turn before it in its session, and why that one failed, if it has. */
async function findWait({ session }: QueueItem, { state, turn }: ItemOutcome, ledger: Ledger) {
  if (state !== "queued" || turn !== undefined) return null;
  const { run } = (await ledger.sessions.get(session))!;
  const before = run === undefined ? undefined : await ledger.runs.get(run);
  return before === undefined
    ? null
    : { turnId: before.turn, state: before.state, error: before.error ?? null };
}

function explainItem(item: QueueItem, outcome: ItemOutcome, waitsFor: Awaited<ReturnType<typeof findWait>>) {
  return {
    id: item.id,
    session: item.session,
    state: outcome.state,
    mode: item.mode,
    queuedAt: isoTime(item.queuedAtMs),
    dueAt: isoTime(item.dueMs),
    settledAt: outcome.settledAtMs === undefined ? null : isoTime(outcome.settledAtMs),
    policy: outcome.policy ?? null,
    error: outcome.error ?? null,
    caller: outcome.caller ?? null,
    turnId: outcome.turn ?? null,
    formerTurnId: outcome.formerTurn ?? null,
    waitsFor,
  };
}

async function explainTurn(ledger: Ledger, id: TurnId, spans: Spans | undefined) {
  const [answer, content, runs, items, deliveries] = await Promise.all([
    explainJudgement(ledger, `${ANSWER_ADAPTER}:${id}` as EventId),
    ledger.turns.read(id),
    ledger.runs.ofTurn(id),
    ledger.queue.itemsOf(id),
    ledger.outbox.ofTurn(id),
  ]);
  const [item] = items;
  const run = runs.at(-1);
  const hooks = item === undefined ? [] : await ledger.hooks.ofEvent(item.event.id);
  const times = { item, hooks, run, turn: content?.turn, deliveries };
  return {
    id,
    /** The hooks that were asked about its answer, and what was made of it. */
    ...answer,
    /** Null while it is under way, and if it has failed. */
    turn: content === undefined ? null : factsOf(content),
    /** All messages that are part of it. */
    items: items.map((item) => ({ id: item.id, eventId: item.event.id, state: item.state })),
    runs: await Promise.all(runs.map((run) => explainRun(run, ledger))),
    deliveries: deliveries.map(deliveryView),
    timing: stageTimes(times, spans?.read(id) ?? (run && (await ledger.runs.readJournal(run.id)).timing)),
  };
}

async function explainRun(run: StoredRun, ledger: Ledger) {
  const { pinned } = await ledger.runs.readJournal(run.id);
  const { fallback = null } = (pinned ?? {}) as Pick<Pinned, "fallback">;
  /** Why it had another profile than the one that was wished for, as it noted when it began. */
  return { ...runView(run), fallback };
}

function factsOf({ turn, messages }: TurnContent) {
  return {
    session: turn.session,
    type: turn.type,
    status: turn.status,
    limitReached: endedAtLimit(messages),
    agent: turn.agent,
    profile: turn.facts.profile,
    provider: turn.facts.provider,
    model: turn.facts.model,
    toolCalls: turn.toolCallCount,
    usage: turn.facts.usage,
    costUsd: turn.facts.costUsd,
    sourceEventId: turn.sourceEvent ?? null,
    startedAt: isoTime(turn.startedAtMs),
    completedAt: isoTime(turn.completedAtMs),
  };
}

function nothingFound(id: string): CortexError {
  return new CortexError(
    "event_unknown",
    `No event, turn, delivery or queue item has the id "${id.slice(0, 80)}"`,
    {
      hint: "`cortex events`, `cortex log` and `cortex dead list` show ids, and so do GET /api/events and others.",
    },
  );
}
