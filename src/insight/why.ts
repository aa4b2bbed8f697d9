/**
 * Traces one event, from its acceptance to the deliveries of the answer, with times and reasons, from the rows that the
 * steps of the pipeline wrote.
 */
import assert from "node:assert/strict";

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
import { deliveryView, dispatchView, eventView, isoTime, originView, runView } from "../feature/views.ts";

export type Explanation = Awaited<ReturnType<typeof explain>>;

/** The kind of an id, and the event or turn that it leads to. */
interface TraceStart {
  readonly kind: "event" | "turn" | "delivery" | "item";
  readonly event: EventId | undefined;
  readonly turn: TurnId | undefined;
}

/**
 * Explains an event, or the event behind a turn, a delivery or a queue item. The spans of a running server add exact times
 * for what is not committed with a turn.
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
  const ofItems = items.map(({ turnId, formerTurnId }) => turnId ?? formerTurnId);
  const turns = new Set([...ofItems, found.turn ?? null].filter((turn) => turn !== null));
  return {
    id,
    kind: found.kind,
    event: event === undefined ? null : eventView(event),
    /** The event and its causes, the event first. */
    chain,
    /** The hooks that judged it. */
    hooks,
    dispatches,
    items,
    turns: await Promise.all([...turns].map((turn) => explainTurn(ledger, turn, spans))),
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
  /** With the relay that it started. */
  return { ...hookRunView(run), relayId: relay ?? null };
}

async function find(ledger: Ledger, id: string): Promise<TraceStart | undefined> {
  const event = await ledger.events.get(id as EventId);
  if (event !== undefined) {
    // A late verdict belongs to the event that the hook judged.
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

/** An answer is an event, too; its id contains the id of its turn. */
function answeredBy(event: EventId): TurnId | undefined {
  return event.startsWith("cortex:") ? (event.slice("cortex:".length) as TurnId) : undefined;
}

function isLate(event: EventId): boolean {
  return splitEventId(event).adapter === HOOK_ADAPTER;
}

/** Looks at runs: a turn has them before it is committed, and even if it never is. */
async function findTurn(
  ledger: Ledger,
  turn: TurnId,
): Promise<Pick<TraceStart, "event" | "turn"> | undefined> {
  const [first] = await ledger.runs.ofTurn(turn);
  if (first === undefined) return undefined;
  const source = first.sourceEvent;
  const event = source !== undefined && isLate(source) ? (await ledger.events.get(source))?.cause : source;
  return { event, turn };
}

async function readItems(ledger: Ledger, ids: readonly ItemId[]) {
  const read = ids.map(async (id) => {
    const [item, outcome] = [await ledger.queue.item(id), await ledger.queue.outcome(id)];
    assert(item !== undefined && outcome !== undefined, "a dispatch has an item");
    return explainItem(item, outcome, await findWait(item, outcome, ledger));
  });
  return Promise.all(read);
}

/** The earlier turn of its session that a message waits for, with its error. */
async function findWait({ session }: QueueItem, { state, turn }: ItemOutcome, ledger: Ledger) {
  if (state !== "queued" || turn !== undefined) return null;
  const run = (await ledger.sessions.get(session))?.run;
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
  const session = item?.session ?? content?.turn.session;
  const origins = session === undefined ? [] : await ledger.sessions.labelOrigins(session);
  return {
    id,
    /** The hooks that judged its answer, and its dispatches. */
    ...answer,
    /** Null while it is running, and if it failed. */
    turn: content === undefined ? null : factsOf(content),
    /** All its messages. */
    items: items.map((item) => ({ id: item.id, eventId: item.event.id, state: item.state })),
    runs: await Promise.all(runs.map((run) => explainRun(run, ledger))),
    deliveries: deliveries.map(deliveryView),
    /** What it brought into the label of its session. */
    labels: origins.filter(({ origin }) => origin.turn === id).map(originView),
    timing: stageTimes(times, spans?.read(id) ?? (run && (await ledger.runs.readJournal(run.id)).timing)),
  };
}

async function explainRun(run: StoredRun, ledger: Ledger) {
  const { pinned } = await ledger.runs.readJournal(run.id);
  const { fallback = null } = (pinned ?? {}) as Pick<Pinned, "fallback">;
  /** Why it used another profile than requested, as recorded when it started. */
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
    `Unknown event, turn, delivery or queue item "${id.slice(0, 80)}"`,
    {
      hint: "Find ids with `cortex events`, `cortex log`, `cortex dead list` or GET /api/events.",
    },
  );
}
