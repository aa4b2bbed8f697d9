/** The stream events of each change: type, time, place, and as much content as a live view needs. */
import type { Json } from "../model/json.ts";
import type { Cortex } from "../runtime/cortex.ts";
import type { LiveEntry } from "../feature/live.ts";
import { isoTime, toolCallView } from "../feature/views.ts";

/** Longer texts and values are cut and marked as truncated; the turn has the whole. */
export const MAX_STREAM_TEXT = 64 * 1024;

type Fields = Readonly<Record<string, Json>>;
type Described = Fields & { readonly type: string };
export type StreamEvent = Described & { readonly at: string };

type Change = Extract<LiveEntry, { kind: "change" }>["change"];
type Delta = Extract<LiveEntry, { kind: "delta" }>;
type RunChange = Extract<Change, { kind: "run" }>;
type MessageChange = Extract<Change, { kind: "message" }>;
type CallChange = Extract<Change, { kind: "call" }>;

/**
 * The events of a change. A tool call is also a state of its run. A compaction has a run of its own in the ledger, which
 * ends while the run of its session goes on, and says nothing about the session.
 */
export async function tellChange(change: Change, store: Cortex["store"]): Promise<StreamEvent[]> {
  if (change.kind === "run" && change.state === "completed") {
    const turn = await store.turns.get(change.turn);
    if (turn?.type === "compaction") return [];
  }
  const at = isoTime(change.atMs);
  const { type, ...fields } = await describe(change, store);
  const event = { type, at, ...fields };
  if (change.kind !== "call") return [event];
  const state = change.status === "started" ? "tool" : "streaming";
  return [event, { type: "run.state", at, ...ofRun(change), state }];
}

async function describe(change: Change, store: Cortex["store"]): Promise<Described> {
  switch (change.kind) {
    case "event": {
      const { event: eventId, channel, direction } = change;
      return { type: "event.accepted", eventId, channel, direction };
    }
    case "dispatch": {
      const { dispatch: dispatchId, hook, event: eventId, item: itemId, session, outcome } = change;
      return { type: "dispatch.created", dispatchId, hook, eventId, itemId, session, outcome };
    }
    case "item": {
      const { item: itemId, session, state } = change;
      return { type: "queue.changed", itemId, session, state };
    }
    case "run":
      return { type: "run.state", ...ofRun(change), attempt: change.attempt, ...runState(change) };
    case "compacting":
      return { type: "run.state", ...ofRun(change), state: change.isBegun ? "compacting" : "streaming" };
    case "message":
      return describeMessage(change, store);
    case "call":
      return describeCall(change, store);
    case "turn": {
      const { turn: turnId, parent, session, type: turnType, status } = change;
      return { type: "turn.committed", session, turnId, parentId: parent ?? null, turnType, status };
    }
    case "delivery": {
      const { delivery: deliveryId, turn, state } = change;
      return { type: "delivery.changed", deliveryId, turnId: turn ?? null, state };
    }
    case "approval": {
      const { approval: approvalId, turn: turnId, session, chat, state } = change;
      return { type: "approval.changed", approvalId, session, chat, turnId, state };
    }
    case "delegation": {
      const { delegation: delegationId, caller, callerTurn: callerTurnId, session, state } = change;
      return { type: "delegation.changed", delegationId, session, caller, callerTurnId, state };
    }
    case "relay":
      return { type: "relay.changed", ...(await describeRelay(change, store)) };
    case "hook":
      return { type: "hook.changed", hook: change.hook, state: change.state };
    case "hook_run": {
      const { hook, event: eventId, outcome } = change;
      return { type: outcome === "fired" ? "hook.fired" : "hook.failed", hook, eventId };
    }
    case "session":
      return { type: "session.changed", session: change.session, what: change.what };
  }
}

async function describeMessage(change: MessageChange, store: Cortex["store"]): Promise<Described> {
  const { message: messageId, role } = change;
  const content = (await store.runs.readMessage(change.run, change.place))?.content ?? "";
  return { type: "message.completed", ...ofRun(change), messageId, role, ...cutText("content", content) };
}

async function describeCall(change: CallChange, store: Cortex["store"]): Promise<Described> {
  const { callId, tool: name, status } = change;
  const call = { ...ofRun(change), callId, name };
  const found = await store.runs.readCall(change.run, change.ordinal);
  const { args = null, result = null, durationMs = null } = found === undefined ? {} : toolCallView(found);
  return status === "started"
    ? { type: "tool.started", ...call, ...cutValue("args", args) }
    : { type: "tool.finished", ...call, status, durationMs, ...cutText("result", result ?? "") };
}

/** As it is now, which may be further than the change was. */
async function describeRelay(
  { relay: relayId, state }: Extract<Change, { kind: "relay" }>,
  store: Cortex["store"],
): Promise<Fields> {
  const stored = await store.relays.get(relayId);
  if (stored === undefined) return { relayId, state };
  const { template, record, detail } = stored;
  const { currentStepIndex, activeAgent, activeStage, totalCostUsd, stopReason, ending } = record as Fields;
  // The index is that of the step to come: where none comes any more, the number of steps.
  const isOver = stored.endedAtMs !== undefined || (ending ?? null) !== null;
  const { session = null } = (detail ?? {}) as { readonly session?: string };
  return {
    relayId,
    state: stored.state,
    template,
    session,
    step: typeof currentStepIndex === "number" ? currentStepIndex + (isOver ? 0 : 1) : null,
    agent: activeAgent ?? null,
    stage: activeStage ?? null,
    costUsd: totalCostUsd ?? null,
    stopReason: stopReason ?? null,
  };
}

export function tellDelta({ session, turn: turnId, run: runId, atMs, delta }: Delta): StreamEvent {
  const { kind, text } = delta;
  return { type: "message.delta", at: isoTime(atMs), session, turnId, runId, kind, text };
}

function ofRun({ session, turn: turnId, run: runId }: Pick<RunChange, "session" | "turn" | "run">) {
  return { session, turnId, runId };
}

/** The state of a session, from that of its run: a run that is over leaves its session idle. */
function runState({ state, wait }: RunChange): Fields {
  switch (state) {
    case "running":
      return { state: "streaming" };
    case "resumable":
      return { state: "queued" };
    case "suspended":
      return { state, wait: wait ?? null };
    case "completed":
    case "failed":
    case "aborted":
      return { state: "idle", outcome: state };
  }
}

function cutText(field: string, text: string): Fields {
  if (text.length <= MAX_STREAM_TEXT) return { [field]: text };
  return { [field]: text.slice(0, MAX_STREAM_TEXT).toWellFormed(), truncated: true };
}

function cutValue(field: string, value: Json): Fields {
  const isLong = JSON.stringify(value).length > MAX_STREAM_TEXT;
  return isLong ? { [field]: null, truncated: true } : { [field]: value };
}
