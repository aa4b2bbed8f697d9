/** An ordinary turn as a relay of one step: to be looked at, or kept because an agent is to be added to it. */
import { CortexError } from "../../model/errors.ts";
import type { RelayId, TurnId } from "../../model/ids.ts";
import { toStepChange, toStored } from "./kept-relay.ts";
import { relayOfTurn } from "./turn-view.ts";
import type { RelayRecord } from "./record.ts";
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
  const kept = await store.relays.get(record.id as RelayId);
  return kept === undefined ? { ...record, id } : record;
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
    id: record.id as RelayId,
    template: record.templateName,
    state: record.status,
    record: toStored(record),
    channel: record.channel,
    steps: record.steps.map((step) => toStepChange(step)),
    times: { createdAtMs: Date.parse(record.createdAt), endedAtMs: Date.parse(record.endedAt!) },
  });
  return record.id as RelayId;
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
