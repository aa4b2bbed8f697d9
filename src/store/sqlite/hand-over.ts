/**
 * What a message from an agent carries: the labels of the sender's session, which the message and its receiver get, and
 * the delegation if the message is delegated work.
 */
import type { Database } from "better-sqlite3";

import type { DelegationState } from "../store.ts";
import { prepareLabelWords, prepareShareTrust } from "./inherit-trust.ts";
import { oncePerDatabase } from "./once.ts";
import { type OperationTime, Refusal } from "./operation.ts";
import { LAST_RUN } from "./read-queue.ts";
import { prepareRecorder } from "./record-changes.ts";
import { required } from "./row.ts";
import { sessionUnknown } from "./unknown.ts";
import { type Decoded, jsonOrNull, number, numberOrNull, record, text } from "./wire.ts";

export const delegationCodec = record({
  id: text,
  turn: text,
  ordinal: number,
  waits: number,
  deadlineMs: numberOrNull,
  detail: jsonOrNull,
});

type DelegationInput = Decoded<typeof delegationCodec>;

/** A session with the turn that it works on. */
export interface SenderRow {
  readonly key: number;
  readonly turn: number | null;
  readonly turn_id: string | null;
  readonly abort: string | null;
}

export const prepareHandOver = oncePerDatabase((db: Database) => {
  const findSender = db.prepare<[string], SenderRow>(
    `select s.key, r.turn, r.turn_id, r.abort from session s left join run r on r.key = s.run where s.label = ?`,
  );
  const isGiven = db.prepare<[string], number>("select 1 from delegation where id = ?").pluck();
  // A message that was dropped on arrival or is repeated may be settled already.
  const insert = db.prepare<[NewRow], { key: number; state: DelegationState }>(
    `insert into delegation (id, caller, caller_turn, ordinal, session, item, waits, state, error, deadline_ms,
                             detail, started_ms, ended_ms)
     select @id, @caller, @callerTurn, @ordinal, @session, i.key, @waits,
       case i.state when 'dropped' then 'dropped' when 'dead' then 'failed'
         else iif(i.settled_ms is null, 'open',
           iif((select status from turn where key = i.turn) = 'completed', 'done', 'aborted')) end,
       iif(i.state = 'dead', (select error from run where key = ${LAST_RUN}), null),
       @deadlineMs, @detail, @nowMs, iif(i.settled_ms is null, null, @nowMs)
     from item i where i.key = @item
     returning key, state`,
  );
  const labelWords = prepareLabelWords(db);
  const shareTrust = prepareShareTrust(db);
  const changes = prepareRecorder(db);

  return {
    /** Undefined: the sender is no agent. */
    findSender({ from, delegation }: Sent): SenderRow | Refusal | undefined {
      if (from === null) return undefined;
      const sender = findSender.get(from);
      if (sender === undefined) return sessionUnknown(from);
      if (delegation === undefined) return sender;
      if (sender.turn_id !== delegation.turn) return notUnderWay(delegation.turn, from);
      if (sender.abort !== null) return beingAborted(delegation.turn, sender.abort);
      return isGiven.get(delegation.id) === undefined ? sender : delegationExists(delegation.id);
    },

    give(
      sender: SenderRow,
      delegation: DelegationInput | undefined,
      { event, session, item }: Readonly<Record<"event" | "session" | "item", number>>,
      { nowMs, wake }: OperationTime,
    ): void {
      labelWords(sender.key, event);
      shareTrust(sender.key, session, nowMs);
      if (delegation === undefined) return;
      const { id, ordinal, waits, deadlineMs, detail } = delegation;
      const of = { caller: sender.key, callerTurn: sender.turn!, session, item };
      const { key, state } = required(insert.get({ id, ...of, ordinal, waits, deadlineMs, detail, nowMs }));
      changes.delegation(key, state);
      wake("queue"); // for its deadline, and for its end where that has come already
    },
  };
});

interface Sent {
  readonly from: string | null;
  readonly delegation: DelegationInput | undefined;
}

interface NewRow extends Omit<DelegationInput, "turn"> {
  readonly caller: number;
  readonly callerTurn: number;
  readonly session: number;
  readonly item: number;
  readonly nowMs: number;
}

function notUnderWay(turn: string, session: string): Refusal {
  return new Refusal(
    "state_conflict",
    `Turn ${turn} is not running in session "${session}"`,
    "Only a running turn can delegate work.",
  );
}

/** Nothing would end the work: the aborted turn has already ended its delegations. */
function beingAborted(turn: string, reason: string): Refusal {
  return new Refusal(
    "state_conflict",
    `Turn ${turn} is being aborted (${reason}) and cannot delegate work`,
    "Send a new message if you still want the work done.",
  );
}

function delegationExists(id: string): Refusal {
  return new Refusal(
    "state_conflict",
    `Delegation ${id} belongs to another message`,
    "Use a new id for each delegation.",
  );
}
