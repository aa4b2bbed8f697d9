import type { Database } from "better-sqlite3";

import type { ToolStatus } from "../../model/message.ts";
import { KEPT_CHANGES, type RunState, type Wait } from "../store.ts";
import {
  APPROVAL_STATE_CODES,
  CALL_STATUS_CODES,
  DELEGATION_STATE_CODES,
  DELIVERY_STATE_CODES,
  FACT,
  HOOK_OUTCOMES,
  HOOK_STATE_CODES,
  ITEM_STATE_CODES,
  RELAY_STATE_CODES,
  RUN_STATE_CODES,
  SESSION_CHANGES,
  WAITS,
} from "./change-entry.ts";
import { oncePerDatabase } from "./once.ts";
import { required } from "./row.ts";

/** Old entries are deleted in steps of this size: a page or two, well under a millisecond. */
export const TRIM_STEP = 256;

/**
 * Collects the changes of an operation, where the rows are written, and writes them as one entry of the feed when the
 * operation is done. Each connection has one, so helpers that several operations share can note their changes without
 * being passed anything.
 */
export const prepareRecorder = oncePerDatabase((db: Database) => {
  const insert = db.prepare("insert into change (at_ms, facts) values (?, ?)");
  const trim = db.prepare("delete from change where seq < ?");
  let first = required(db.prepare<[], number>("select coalesce(min(seq), 1) from change").pluck().get());
  const facts: number[] = [];

  return {
    event: (seq: number): void => void facts.push(FACT.event, seq),
    dispatch: (key: number): void => void facts.push(FACT.dispatch, key),
    turn: (key: number): void => void facts.push(FACT.turn, key),
    run(key: number, state: RunState, wait?: Wait["kind"]): void {
      facts.push(FACT.run, key, RUN_STATE_CODES.indexOf(state), WAITS.indexOf(wait));
    },
    compacting(run: number, isBegun: boolean): void {
      facts.push(FACT.compacting, run, Number(isBegun));
    },
    messages(run: number, place: number, count: number): void {
      if (count > 0) facts.push(FACT.messages, run, place, count);
    },
    call(run: number, ordinal: number, status: ToolStatus): void {
      facts.push(FACT.call, run, ordinal, CALL_STATUS_CODES.indexOf(status));
    },
    item: stateRecorder(FACT.item, ITEM_STATE_CODES),
    delivery: stateRecorder(FACT.delivery, DELIVERY_STATE_CODES),
    approval: stateRecorder(FACT.approval, APPROVAL_STATE_CODES),
    /** Delegations that end because their message is settled are not noted: see read-changes.ts. */
    delegation: stateRecorder(FACT.delegation, DELEGATION_STATE_CODES),
    relay: stateRecorder(FACT.relay, RELAY_STATE_CODES),
    hook: stateRecorder(FACT.hook, HOOK_STATE_CODES),
    hookRun: stateRecorder(FACT.hookRun, HOOK_OUTCOMES),
    session: stateRecorder(FACT.session, SESSION_CHANGES),

    /** Forgets the notes of an operation that was undone. */
    discard(): void {
      facts.length = 0;
    },

    /** Writes the notes, inside the transaction that they are about. False: nothing was noted. */
    write(nowMs: number): boolean {
      if (facts.length === 0) return false;
      const seq = Number(insert.run(nowMs, JSON.stringify(facts)).lastInsertRowid);
      facts.length = 0;
      if (seq - first >= KEPT_CHANGES + TRIM_STEP) trim.run((first += TRIM_STEP));
      return true;
    },
  };

  function stateRecorder<State>(fact: number, states: readonly State[]): (key: number, state: State) => void {
    return (key, state) => void facts.push(fact, key, states.indexOf(state));
  }
});
