import type { Database } from "better-sqlite3";

import type { ToolStatus } from "../../model/message.ts";
import {
  type ApprovalState,
  type DelegationState,
  type DeliveryState,
  type HookState,
  type ItemState,
  KEPT_CHANGES,
  type RelayState,
  type RunState,
  type Wait,
} from "../store.ts";
import {
  APPROVAL_STATES,
  CALL_STATUSES,
  DELEGATION_STATES,
  DELIVERY_STATES,
  FACT,
  HOOK_OUTCOMES,
  HOOK_STATES,
  type HookOutcome,
  ITEM_STATES,
  RELAY_STATES,
  RUN_STATES,
  SESSION_CHANGES,
  type SessionChange,
  WAITS,
} from "./change-entry.ts";
import { oncePerDatabase } from "./once.ts";

/** Old entries go by this many at a time: a page or two of them, well under a millisecond. */
export const TRIM_STEP = 256;

/**
 * Collects what an operation changes, where the rows are written, and writes it as one entry of the feed
 * when the operation is done. There is one for each connection, so that helpers which several operations
 * share can note what they do without being handed anything.
 */
export const prepareRecorder = oncePerDatabase((db: Database) => {
  const insert = db.prepare("insert into change (at_ms, facts) values (?, ?)");
  const trim = db.prepare("delete from change where seq < ?");
  let first = db.prepare<[], number>("select coalesce(min(seq), 1) from change").pluck().get()!;
  const facts: number[] = [];

  return {
    event(seq: number): void {
      facts.push(FACT.event, seq);
    },
    dispatch(key: number): void {
      facts.push(FACT.dispatch, key);
    },
    item(key: number, state: ItemState): void {
      facts.push(FACT.item, key, ITEM_STATES.indexOf(state));
    },
    run(key: number, state: RunState, wait?: Wait["kind"]): void {
      facts.push(FACT.run, key, RUN_STATES.indexOf(state), WAITS.indexOf(wait));
    },
    compacting(run: number, isBegun: boolean): void {
      facts.push(FACT.compacting, run, Number(isBegun));
    },
    messages(run: number, place: number, count: number): void {
      if (count > 0) facts.push(FACT.messages, run, place, count);
    },
    call(run: number, ordinal: number, status: ToolStatus): void {
      facts.push(FACT.call, run, ordinal, CALL_STATUSES.indexOf(status));
    },
    turn(key: number): void {
      facts.push(FACT.turn, key);
    },
    delivery(key: number, state: DeliveryState): void {
      facts.push(FACT.delivery, key, DELIVERY_STATES.indexOf(state));
    },
    approval(key: number, state: ApprovalState): void {
      facts.push(FACT.approval, key, APPROVAL_STATES.indexOf(state));
    },
    /** What ends because its message is settled is not noted: see read-changes.ts. */
    delegation(key: number, state: DelegationState): void {
      facts.push(FACT.delegation, key, DELEGATION_STATES.indexOf(state));
    },
    relay(key: number, state: RelayState): void {
      facts.push(FACT.relay, key, RELAY_STATES.indexOf(state));
    },
    hook(key: number, state: HookState): void {
      facts.push(FACT.hook, key, HOOK_STATES.indexOf(state));
    },
    hookRun(key: number, outcome: HookOutcome): void {
      facts.push(FACT.hookRun, key, HOOK_OUTCOMES.indexOf(outcome));
    },
    session(key: number, what: SessionChange): void {
      facts.push(FACT.session, key, SESSION_CHANGES.indexOf(what));
    },

    /** Forgets what was noted: the operation that noted it is undone. */
    discard(): void {
      facts.length = 0;
    },

    /** Writes what was noted, inside the transaction that it is about. False: there was nothing. */
    write(nowMs: number): boolean {
      if (facts.length === 0) return false;
      const seq = Number(insert.run(nowMs, JSON.stringify(facts)).lastInsertRowid);
      facts.length = 0;
      if (seq - first >= KEPT_CHANGES + TRIM_STEP) trim.run((first += TRIM_STEP));
      return true;
    },
  };
});
