/** What a live view is told of each change: its type, when, where, and as much of it as it needs to be shown. */
import type { Json } from "../model/json.ts";
import type { Cortex } from "../runtime/cortex.ts";
import type { LiveEntry } from "../feature/live.ts";
import { isoTime, toolCallView } from "../feature/views.ts";

/** A text or value that is longer is cut, and says so; the whole of it is in the turn. */
export const MAX_STREAM_TEXT = 64 * 1024;

export type StreamEvent = { readonly type: string; readonly at: string; readonly [field: string]: Json };

type Change = Extract<LiveEntry, { kind: "change" }>["change"];
type Delta = Extract<LiveEntry, { kind: "delta" }>;
type RunChange = Extract<Change, { kind: "run" }>;

/**
 * What a change tells. A tool call is also a state of its run. A compaction has a run of its own in the ledger, which
 * ends while that of its session goes on, and says nothing of the session.
 */
export async function tellChange(change: Change, store: Cortex["store"]): Promise<StreamEvent[]> {
  if (change.kind === "run" && change.state === "completed") {
    const turn = await store.turns.get(change.turn);
    if (turn?.type === "compaction") return [];
  }
  const event = await describe(change, store);
  if (change.kind !== "call") return [event];
  const state = change.status === "started" ? "tool" : "streaming";
  return [event, { type: "run.state", at: event.at, ...ofRun(change), state }];
}

async function describe(change: Change, store: Cortex["store"]): Promise<StreamEvent> {
  const at = isoTime(change.atMs);
  switch (change.kind) {
    case "event": {
      const { event: eventId, channel, direction } = change;
      return { type: "event.accepted", at, eventId, channel, direction };
    }
    case "dispatch": {
      const { dispatch: dispatchId, hook, event: eventId, item: itemId, session, outcome } = change;
      return { type: "dispatch.created", at, dispatchId, hook, eventId, itemId, session, outcome };
    }
    case "item": {
      const { item: itemId, session, state } = change;
      return { type: "queue.changed", at, itemId, session, state };
    }
    case "run":
      return { type: "run.state", at, ...ofRun(change), attempt: change.attempt, ...runState(change) };
    case "compacting":
      return {
        type: "run.state",
        at,
        ...ofRun(change),
        state: change.isBegun ? "compacting" : "streaming",
      };
    case "message": {
      const { message: messageId, role } = change;
      const content = (await store.runs.readMessage(change.run, change.place))?.content ?? "";
      return {
        type: "message.completed",
        at,
        ...ofRun(change),
        messageId,
        role,
        ...cutText("content", content),
      };
    }
    case "call": {
      const { callId, tool: name, status } = change;
      const call = { at, ...ofRun(change), callId, name };
      const found = await store.runs.readCall(change.run, change.ordinal);
      const view = found === undefined ? undefined : toolCallView(found);
      if (status === "started")
        return { type: "tool.started", ...call, ...cutValue("args", view?.args ?? null) };
      const { result = null, durationMs = null } = view ?? {};
      return { type: "tool.finished", ...call, status, durationMs, ...cutText("result", result ?? "") };
    }
    case "turn": {
      const { turn: turnId, parent, session, type: turnType, status } = change;
      return { type: "turn.committed", at, session, turnId, parentId: parent ?? null, turnType, status };
    }
    case "delivery": {
      const { delivery: deliveryId, turn, state } = change;
      return { type: "delivery.changed", at, deliveryId, turnId: turn ?? null, state };
    }
    case "approval": {
      const { approval: approvalId, turn: turnId, session, chat, state } = change;
      return { type: "approval.changed", at, approvalId, session, chat, turnId, state };
    }
    case "delegation": {
      const { delegation: delegationId, caller, callerTurn, session, state } = change;
      return {
        type: "delegation.changed",
        at,
        delegationId,
        session,
        caller,
        callerTurnId: callerTurn,
        state,
      };
    }
    case "relay":
      return { type: "relay.changed", at, ...(await describeRelay(change, store)) };
    case "hook": {
      const { hook, state } = change;
      return { type: "hook.changed", at, hook, state };
    }
    case "hook_run": {
      const { hook, event: eventId, outcome } = change;
      return { type: outcome === "fired" ? "hook.fired" : "hook.failed", at, hook, eventId };
    }
    case "session": {
      const { session, what } = change;
      return { type: "session.changed", at, session, what };
    }
  }
}

/** As it is now, which may be further than the change was. */
async function describeRelay(
  { relay: relayId, state }: Extract<Change, { kind: "relay" }>,
  store: Cortex["store"],
): Promise<{ readonly [field: string]: Json }> {
  const stored = await store.relays.get(relayId);
  if (stored === undefined) return { relayId, state };
  const { template, record, detail } = stored;
  const { currentStepIndex, activeAgent, activeStage, totalCostUsd, stopReason, ending } = record as {
    readonly [field: string]: Json;
  };
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

/** A run in the words for sessions: one that is over leaves its session idle, and says how it ended. */
function runState({ state, wait }: RunChange): { readonly [field: string]: Json } {
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

function cutText(field: string, text: string): { readonly [field: string]: Json } {
  if (text.length <= MAX_STREAM_TEXT) return { [field]: text };
  return { [field]: text.slice(0, MAX_STREAM_TEXT).toWellFormed(), truncated: true };
}

function cutValue(field: string, value: Json): { readonly [field: string]: Json } {
  const isLong = JSON.stringify(value).length > MAX_STREAM_TEXT;
  return isLong ? { [field]: null, truncated: true } : { [field]: value };
}
