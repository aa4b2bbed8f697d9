import type { Database } from "better-sqlite3";

import type { DelegationId } from "../../model/ids.ts";
import type { DelegationState } from "../store.ts";
import { OPEN_DELEGATION, type OpenDelegation, prepareAborts } from "./abort.ts";
import { prepareAccept } from "./accept-event.ts";
import { claimCodec, type ClaimRow } from "./claim.ts";
import { dispatchCodec } from "./dispatch.ts";
import { prepareShareTrust } from "./inherit-trust.ts";
import { eventCodec } from "./insert-event.ts";
import { operation, Refusal } from "./operation.ts";
import { delegationUnknown, sessionUnknown } from "./unknown.ts";
import { prepareWaitingTurns } from "./waiting-turns.ts";
import { optional, record, text, words } from "./wire.ts";

/** The reason that a deadline gives the run it aborts. */
const TIMED_OUT = "timed out";

interface DelegationRow {
  readonly key: number;
  readonly caller: number;
  readonly caller_turn: number;
  readonly session: number;
  readonly waits: number;
  readonly state: DelegationState;
  readonly reported_ms: number | null;
}

export interface ReportedRow {
  readonly reported: boolean;
  readonly claim: ClaimRow | undefined;
}

export const reportDelegation = operation(
  record({
    id: text,
    message: optional(record({ event: eventCodec, dispatch: dispatchCodec, claim: optional(claimCodec) })),
  }),
  (db) => {
    const find = prepareFind(db);
    const note = db.prepare("update delegation set reported_ms = ? where key = ?");
    const shareTrust = prepareShareTrust(db);
    const waitingTurns = prepareWaitingTurns(db);
    const accept = prepareAccept(db);
    return ({ id, message }, moment): ReportedRow | Refusal => {
      const delegation = find(id);
      if (delegation instanceof Refusal) return delegation;
      const { key, caller, session, state } = delegation;
      if (state === "open") return stillOpen(id);
      if (state === "cancelled" || delegation.reported_ms !== null)
        return { reported: false, claim: undefined };
      note.run(moment.nowMs, key);
      if (delegation.waits === 1) {
        // The turn itself takes over the label of what it reads.
        waitingTurns.wakeIfTold(caller, delegation.caller_turn, moment);
        return { reported: true, claim: undefined };
      }
      shareTrust(session, caller, moment.nowMs);
      if (message === undefined) return { reported: true, claim: undefined };
      const accepted = accept({ ...message, judge: 0 }, moment);
      if (accepted instanceof Refusal) return accepted;
      return { reported: true, claim: accepted.dispatched?.claim };
    };
  },
);

export const expireDelegations = operation(record({}), (db) => {
  // Oldest first: delegations that a worker made in turn end with it.
  const findLate = db.prepare<[number], OpenDelegation & { id: DelegationId }>(
    `select ${OPEN_DELEGATION}, id from delegation
     where state = 'open' and deadline_ms is not null and deadline_ms <= ? order by key`,
  );
  const aborts = prepareAborts(db);
  return (_, moment): DelegationId[] => {
    const late = findLate.all(moment.nowMs);
    const ended = late.filter((delegation) => aborts.end(delegation, "timeout", TIMED_OUT, moment) > 0);
    if (ended.length > 0) moment.wake("queue");
    return ended.map(({ id }) => id);
  };
});

export const cancelDelegations = operation(record({ caller: text, reason: words }), (db) => {
  const findSession = db.prepare<[string], number>("select key from session where label = ?").pluck();
  const findOpen = db.prepare<[number], OpenDelegation>(
    `select ${OPEN_DELEGATION} from delegation where caller = ? and state = 'open' order by key`,
  );
  const aborts = prepareAborts(db);
  return ({ caller, reason }, moment): number | Refusal => {
    const session = findSession.get(caller);
    if (session === undefined) return sessionUnknown(caller);
    let ended = 0;
    for (const delegation of findOpen.all(session)) {
      ended += aborts.end(delegation, "cancelled", reason, moment);
    }
    return ended;
  };
});

function prepareFind(db: Database): (id: string) => DelegationRow | Refusal {
  const find = db.prepare<[string], DelegationRow>(
    "select key, caller, caller_turn, session, waits, state, reported_ms from delegation where id = ?",
  );
  return (id) => find.get(id) ?? delegationUnknown(id);
}

function stillOpen(id: string): Refusal {
  return new Refusal("state_conflict", `Delegation ${id} is still open`, "Report it after it has ended.");
}
