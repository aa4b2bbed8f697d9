/**
 * Asking a run to end, and with it all that its turn has given to others: whoever works for a turn that will not be
 * works for nobody. The two go down together, delegation by run by delegation, in one transaction.
 */
import type { Database } from "better-sqlite3";

import { prepareRequests } from "./approval-requests.ts";
import { required } from "./row.ts";
import { prepareWaitingTurns } from "./waiting-turns.ts";
import { prepareForget } from "./items.ts";
import { oncePerDatabase } from "./once.ts";
import type { Moment } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { prepareSessionRun, type SessionRun } from "./session-run.ts";
import { prepareWaiting } from "./waiting.ts";

/** A delegation that is open. */
export interface OpenDelegation {
  readonly key: number;
  readonly caller: number;
  readonly caller_turn: number;
  readonly item: number;
  readonly waits: number;
}

export const OPEN_DELEGATION = "key, caller, caller_turn, item, waits";

interface ItemRow {
  readonly state: string;
  readonly turn: number | null;
  readonly session: number;
  /** That the session is occupied by. */
  readonly run: number | null;
}

export const prepareAborts = oncePerDatabase((db: Database) => {
  const note = db.prepare("update run set abort = ?, abort_item = ? where key = ? and abort is null");
  const findGiven = db.prepare<[number], OpenDelegation>(
    `select ${OPEN_DELEGATION} from delegation where caller_turn = ? and state = 'open' order by key`,
  );
  // Whoever looks at the relay next sees that nobody waits for it any more.
  const disown = db.prepare(
    `update relay set detail = json_set(coalesce(detail, '{}'), '$.unwanted', ?), due_ms = ?, version = version + 1
     where caller_turn = ? and ended_ms is null`,
  );
  const close = db.prepare("update delegation set state = ?, ended_ms = ? where key = ? and state = 'open'");
  const findItem = db.prepare<[number], ItemRow>(
    "select i.state, i.turn, i.session, s.run from item i join session s on s.key = i.session where i.key = ?",
  );
  const runs = prepareSessionRun(db);
  const requests = prepareRequests(db);
  const waiting = prepareWaiting(db);
  const waitingTurns = prepareWaitingTurns(db);
  const forget = prepareForget(db);
  const changes = prepareRecorder(db);

  return { abort, end, cancelGiven, stopWork };

  /**
   * Asks a run to end that is not over: one that works reads the note at its next step, one that waits is
   * woken for it. The first reason stays, with the message that interrupted it if there is one. Nobody has to
   * decide any more what it has asked, or to finish what it has given. Returns how many delegations ended with it.
   */
  function abort(
    run: SessionRun,
    reason: string,
    moment: Moment,
    interruptedBy: number | null = null,
  ): number {
    note.run(reason, interruptedBy, run.run);
    requests.takeBack(run.turn_id);
    const ended = cancelGiven(run.turn, reason, moment);
    if (run.holder === null) runs.wake(run, moment.nowMs);
    moment.wake(run.holder === null ? "queue" : "runs");
    return ended;
  }

  /** Ends all that a turn has given and that is open, and what was given on from there; and the relays it waits for. */
  function cancelGiven(turn: number, reason: string, moment: Moment): number {
    if (disown.run(reason, moment.nowMs, turn).changes > 0) moment.wake("queue");
    let ended = 0;
    for (const given of findGiven.all(turn)) ended += end(given, "cancelled", reason, moment);
    return ended;
  }

  /** Ends a delegation before its message is settled. What ends with it is counted too. */
  function end(
    delegation: OpenDelegation,
    state: "cancelled" | "timeout",
    reason: string,
    moment: Moment,
  ): number {
    if (close.run(state, moment.nowMs, delegation.key).changes === 0) return 0; // with one that it was part of
    changes.delegation(delegation.key, state);
    const ended = 1 + stopWork(delegation.item, state, reason, moment);
    if (state === "cancelled" && delegation.waits === 1) {
      waitingTurns.wakeIfTold(delegation.caller, delegation.caller_turn, moment);
    }
    return ended;
  }

  /** Ends the work on a message. A turn that is for another message, and has only taken this one in, goes on. */
  function stopWork(key: number, policy: string, reason: string, moment: Moment): number {
    const { state, turn, session, run } = required(findItem.get(key));
    if (state === "queued") {
      waiting.dropItem(key, policy, moment.nowMs);
      if (turn !== null) forget(turn); // a dead letter that was to be tried again
      waiting.refreshReady(session, moment.nowMs);
      moment.wake("queue");
    } else if (state === "claimed") {
      const current = runs.findByKey(run!);
      if (current.item === key) return abort(current, reason, moment);
    }
    return 0;
  }
});
