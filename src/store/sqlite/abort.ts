/**
 * Aborts: a run is asked to end together with all work that its turn has delegated, since nobody needs the results any
 * more. All delegations and runs below it are aborted in one transaction.
 */
import type { Database } from "better-sqlite3";

import { prepareRequests } from "./approval-requests.ts";
import { required } from "./row.ts";
import { prepareWaitingTurns } from "./waiting-turns.ts";
import { prepareDropQueued } from "./items.ts";
import { oncePerDatabase } from "./once.ts";
import type { OperationTime } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { prepareSessionRun, type SessionRun } from "./session-run.ts";

export interface OpenDelegation {
  readonly key: number;
  readonly caller: number;
  readonly caller_turn: number;
  readonly item: number;
  readonly waits: number;
}

type EndState = "cancelled" | "timeout";

export const OPEN_DELEGATION = "key, caller, caller_turn, item, waits";

interface ItemRow {
  readonly key: number;
  readonly state: string;
  readonly turn: number | null;
  readonly session: number;
  /** The run that the session is held for. */
  readonly run: number | null;
}

export const prepareAborts = oncePerDatabase((db: Database) => {
  const sql = prepareStatements(db);
  const runs = prepareSessionRun(db);
  const requests = prepareRequests(db);
  const dropQueued = prepareDropQueued(db);
  const waitingTurns = prepareWaitingTurns(db);
  const changes = prepareRecorder(db);

  return { abort, end, cancelGiven, stopWork };

  /**
   * Asks an unfinished run to end: a working run reads the note at its next step, a waiting run is woken for it. The
   * first reason stays, with the item that interrupted it if any. The run's open requests and delegations end too.
   * Returns how many delegations ended.
   */
  function abort(run: SessionRun, reason: string, moment: OperationTime, item: number | null = null): number {
    sql.note.run(reason, item, run.run);
    requests.takeBack(run.turn_id, moment);
    const ended = cancelGiven(run.turn, reason, moment);
    if (run.holder === null) runs.wake(run, moment.nowMs);
    moment.wake(run.holder === null ? "queue" : "runs");
    return ended;
  }

  /** Ends all open delegations of a turn, those that its workers made in turn, and the relays it waits for. */
  function cancelGiven(turn: number, reason: string, moment: OperationTime): number {
    if (sql.disown.run(reason, moment.nowMs, turn).changes > 0) moment.wake("queue");
    let ended = 0;
    for (const given of sql.given.all(turn)) ended += end(given, "cancelled", reason, moment);
    return ended;
  }

  /** Ends a delegation before its message is settled. Counts all delegations that end with it. */
  function end(delegation: OpenDelegation, state: EndState, reason: string, moment: OperationTime): number {
    if (sql.close.run(state, moment.nowMs, delegation.key).changes === 0) return 0; // ended with an outer one
    changes.delegation(delegation.key, state);
    const ended = 1 + stopWork(delegation.item, state, reason, moment);
    if (state === "cancelled" && delegation.waits === 1) {
      waitingTurns.wakeIfTold(delegation.caller, delegation.caller_turn, moment);
    }
    return ended;
  }

  /** Ends the work on a message. A turn for another message that has only taken this one in continues. */
  function stopWork(key: number, policy: string, reason: string, moment: OperationTime): number {
    const item = required(sql.item.get(key));
    if (item.state === "queued") {
      dropQueued(item, policy, moment.nowMs);
      moment.wake("queue");
    } else if (item.state === "claimed") {
      const current = runs.findByKey(item.run!);
      if (current.item === key) return abort(current, reason, moment);
    }
    return 0;
  }
});

function prepareStatements(db: Database) {
  return {
    note: db.prepare("update run set abort = ?, abort_item = ? where key = ? and abort is null"),
    given: db.prepare<[number], OpenDelegation>(
      `select ${OPEN_DELEGATION} from delegation where caller_turn = ? and state = 'open' order by key`,
    ),
    // The relay's next step finds that no turn waits for it any more.
    disown: db.prepare(
      `update relay set detail = json_set(coalesce(detail, '{}'), '$.unwanted', ?), due_ms = ?, version = version + 1
       where caller_turn = ? and ended_ms is null`,
    ),
    close: db.prepare("update delegation set state = ?, ended_ms = ? where key = ? and state = 'open'"),
    item: db.prepare<[number], ItemRow>(
      `select i.key, i.state, i.turn, i.session, s.run from item i join session s on s.key = i.session
       where i.key = ?`,
    ),
  };
}
