/**
 * An ordinary turn, seen as a relay of one step. Nothing is kept of such a view; but an agent can be added to it, which
 * makes a relay of it that begins with the turn.
 */
import { createHash } from "node:crypto";
import { newRecord } from "./new-record.ts";
import type { RelayRecord, ThreadRecord } from "./record.ts";
import { close, finish } from "./ending.ts";
import { beginSteps, recordStep } from "./record-step.ts";

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
function idOfTurn(turn: string): string {
  return `thr_${createHash("sha256").update(turn).digest("hex").slice(0, 8)}`;
}

/** A record in the form of `threads.json`: without what only the engine needs. */
export function showRecord(
  record: RelayRecord,
): ThreadRecord & Pick<RelayRecord, "stopReason" | "configHash"> {
  const { phase: _phase, active: _active, leg: _leg, ending: _ending, steps, ...shown } = record;
  return { ...shown, steps: steps.map(({ leg: _stepLeg, ...step }) => step) };
}
