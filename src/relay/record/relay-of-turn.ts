/** An ordinary turn as a relay of one step: to be looked at, or kept because an agent is to be added to it. */
import { createHash } from "node:crypto";

import { CortexError } from "../../model/errors.ts";
import type { RelayId, TurnId } from "../../model/ids.ts";
import { close, finish } from "./ending.ts";
import { toRelayId } from "./keys.ts";
import { toStepChange, toStored } from "./kept-relay.ts";
import { newRecord } from "./new-record.ts";
import { beginSteps, recordStep } from "./record-step.ts";
import type { RelayRecord, ThreadRecord } from "./record.ts";
import type { Ledger, Store, TurnContent } from "../../store/store.ts";

type Reads = Pick<Ledger, "turns" | "events">;

/**
 * Undefined: there is no such turn. Until an agent is added to it, it has no id of a relay that anybody could name, and
 * is called by that of the turn.
 */
export async function viewTurn(
  id: TurnId,
  store: Reads & Pick<Ledger, "relays">,
): Promise<RelayRecord | undefined> {
  const record = await recordOfTurn(id, store);
  if (record === undefined) return undefined;
  const kept = await store.relays.get(record.id);
  return kept === undefined ? { ...record, id: id as string as RelayId } : record;
}

async function recordOfTurn(id: TurnId, store: Reads): Promise<RelayRecord | undefined> {
  const content = await store.turns.read(id);
  return content === undefined ? undefined : relayOf(content, store);
}

/** Kept once: the id of such a relay is made from the turn's. `turn_unknown`. */
export async function keepTurn(turn: TurnId, store: Reads & Pick<Store, "relays">): Promise<RelayId> {
  const record = await recordOfTurn(turn, store);
  if (record === undefined) {
    throw new CortexError("turn_unknown", `No turn has the id "${turn}"`, {
      hint: "`cortex log` shows the turns of a session.",
    });
  }
  await store.relays.create({
    id: record.id,
    template: record.templateName,
    state: record.status,
    record: toStored(record),
    channel: record.channel,
    steps: record.steps.map((step) => toStepChange(step)),
    times: { createdAtMs: Date.parse(record.createdAt), endedAtMs: Date.parse(record.endedAt!) },
  });
  return record.id;
}

/** The channel of such a relay is the session, as that of one which was started there. */
async function relayOf({ turn, messages }: TurnContent, store: Reads): Promise<RelayRecord> {
  const source = turn.sourceEvent === undefined ? undefined : await store.events.get(turn.sourceEvent);
  const answers = messages.filter(({ role }) => role === "assistant");
  return relayOfTurn({
    turn: turn.id,
    kind: source?.direction === "received" ? "chat" : "agent",
    agent: turn.agent,
    profile: turn.facts.profile,
    session: turn.session,
    channel: turn.session,
    ...(source?.topic === undefined ? {} : { topic: source.topic }),
    question: messages.find(({ role }) => role === "user")?.content ?? "",
    answer: answers.at(-1)?.content ?? null,
    costUsd: turn.facts.costUsd,
    numTurns: answers.length,
    ...(turn.status === "completed" ? {} : { error: "The turn was aborted" }),
    startedAtMs: turn.startedAtMs,
    endedAtMs: turn.completedAtMs,
  });
}

/** The name that a relay has in place of a template's, where it is a message of a chat. */
const CHAT_TEMPLATE = "default";

export interface EndedTurn {
  readonly turn: string;
  /** `agent`: a single agent was asked, and not in a chat. */
  readonly kind: "chat" | "agent";
  readonly agent: string;
  readonly profile: string;
  readonly session: string;
  readonly channel: string;
  readonly topic?: string;
  readonly question: string;
  readonly answer: string | null;
  readonly costUsd: number | null;
  readonly numTurns: number | null;
  /** Undefined: it came to a good end. */
  readonly error?: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

/** The record of a relay that has done this turn and nothing else. */
export function relayOfTurn(turn: EndedTurn): RelayRecord {
  const { agent, profile, session, question, startedAtMs, endedAtMs, error } = turn;
  const record = newRecord({
    id: idOfTurn(turn.turn),
    templateName: turn.kind === "chat" ? CHAT_TEMPLATE : null,
    configHash: "",
    slots: [{ slotId: agent, profile, persistSession: true }],
    entry: { agent, stage: null },
    channel: turn.channel,
    ...(turn.topic === undefined ? {} : { platformThreadId: turn.topic }),
    userMessage: question,
    nowMs: startedAtMs,
  });
  const begun = beginSteps(
    record,
    [{ kind: "agent", slot: agent, stage: null, input: question, session }],
    startedAtMs,
  );
  const { answer: output, costUsd, numTurns } = turn;
  const status = error === undefined ? "completed" : "failed";
  const outcome = { status, output, costUsd, numTurns, turn: turn.turn, artifactHash: null } as const;
  const ended = recordStep(begun, 0, error === undefined ? outcome : { ...outcome, error }, endedAtMs);
  const ending =
    error === undefined
      ? ({ stopReason: "no_matching_transition" } as const)
      : ({ stopReason: "failed", error } as const);
  return close(finish(ended, ending, endedAtMs), endedAtMs);
}

/** Always the same for a turn. */
function idOfTurn(turn: string): RelayId {
  return toRelayId(createHash("sha256").update(turn).digest("hex"));
}

/** A record in the form of `threads.json`: without what only the engine needs. */
export function showRecord(
  record: RelayRecord,
): ThreadRecord & Pick<RelayRecord, "stopReason" | "configHash"> {
  const { phase: _phase, active: _active, leg: _leg, ending: _ending, steps, ...shown } = record;
  return { ...shown, steps: steps.map(({ leg: _stepLeg, ...step }) => step) };
}
