/** An ordinary turn as a relay of one step: shown as one, or stored because an agent is added to it. */
import { createHash } from "node:crypto";

import { CortexError } from "../../model/errors.ts";
import type { RelayId, TurnId } from "../../model/ids.ts";
import { present } from "../../model/present.ts";
import { close, finish } from "./ending.ts";
import { toRelayId } from "./keys.ts";
import { type RelayDetail, toEndedRelay } from "./kept-relay.ts";
import { newRecord } from "./new-record.ts";
import { beginSteps, recordStep } from "./record-step.ts";
import type { RelayRecord } from "./record.ts";
import type { Ledger, Store, TurnContent } from "../../store/store.ts";

type Reads = Pick<Ledger, "turns" | "events">;

/** Undefined: unknown turn. Until an agent is added, the relay is not stored and has the id of the turn. */
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

/** Stores it once: its id is derived from that of the turn. `turn_unknown`. */
export async function keepTurn(turn: TurnId, store: Reads & Pick<Store, "relays">): Promise<RelayId> {
  const content = await store.turns.read(turn);
  if (content === undefined) {
    throw new CortexError("turn_unknown", `Unknown turn "${turn}"`, {
      hint: "`cortex log` shows the turns of a session.",
    });
  }
  const record = await relayOf(content, store);
  const { createdAt, endedAt } = record;
  const times = { createdAtMs: Date.parse(createdAt), endedAtMs: Date.parse(endedAt ?? createdAt) };
  const { principal, trust: label } = content.turn; // its session may have been reset since
  await store.relays.create({
    ...toEndedRelay(record, times),
    detail: { ...present({ principal, label }) } satisfies RelayDetail,
  });
  return record.id;
}

/** Its channel is the session, like that of a relay started there. */
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

/** The template name of a relay made from a chat message. */
const CHAT_TEMPLATE = "default";

export interface EndedTurn {
  readonly turn: string;
  /** `agent`: not from a chat. */
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
  /** Undefined: completed. */
  readonly error?: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

/** The record of a relay with this turn as its only step. */
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

/** Deterministic. */
function idOfTurn(turn: string): RelayId {
  return toRelayId(createHash("sha256").update(turn).digest("hex"));
}
