import type { Wait } from "../store.ts";
import { prepareAborts } from "./abort.ts";
import { prepareRequests, requestCodec } from "./approval-requests.ts";
import { leaseCodec, prepareHeld } from "./held.ts";
import { entryCodec, prepareJournal } from "./journal.ts";
import { operation, Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { prepareSessionRun } from "./session-run.ts";
import { prepareWaitingTurns } from "./waiting-turns.ts";
import { json, list, record, text, textOf, words } from "./wire.ts";

export const suspend = operation(
  record({
    lease: leaseCodec,
    run: text,
    id: text,
    kind: textOf<Wait["kind"]>(),
    detail: json,
    requests: list(requestCodec),
  }),
  (db) => {
    const findHeld = prepareHeld(db);
    const isSuspended = db
      .prepare<[string, string, number], number>(
        `select 1 from run r join session s on s.run = r.key
       where r.id = ? and r.state = 'suspended' and r.wait_id = ? and s.epoch = ?`,
      )
      .pluck();
    const park = db.prepare(
      "update run set state = 'suspended', wait_id = ?, wait_kind = ?, wait_detail = ? where key = ?",
    );
    const leave = db.prepare("update session set holder = null, ready_ms = null where key = ?");
    const changes = prepareRecorder(db);
    const runs = prepareSessionRun(db);
    const aborts = prepareAborts(db);
    const waitingTurns = prepareWaitingTurns(db);
    const approvals = prepareRequests(db);
    return ({ lease, run, id, kind, detail, requests }, moment) => {
      const held = findHeld(lease, run);
      if (held instanceof Refusal) {
        return isSuspended.get(run, id, lease.epoch) === undefined ? held : null; // the same call came before
      }
      const isDecided = approvals.ask(requests, held, moment);
      if (isDecided instanceof Refusal) return isDecided;
      park.run(id, kind, detail, held.run);
      leave.run(held.key);
      changes.run(held.run, "suspended", kind);
      moment.wake("runs");
      // An abort, an answer or a report that arrived while the run was working woke nothing.
      const parked = runs.findByKey(held.run);
      if (parked.abort !== null) aborts.abort(parked, parked.abort, moment);
      else if (isDecided || waitingTurns.isTold(held.turn)) {
        runs.wake(parked, moment.nowMs);
        moment.wake("queue");
      }
      return null;
    };
  },
);

export const resume = operation(record({ run: text, wait: text, entries: list(entryCodec) }), (db) => {
  const runs = prepareSessionRun(db);
  const write = prepareJournal(db);
  return ({ run, wait, entries }, { nowMs, wake }): boolean | Refusal => {
    const waiting = runs.find(run);
    if (waiting instanceof Refusal) return waiting;
    if (waiting.state !== "suspended" || waiting.wait_id !== wait) return false;
    const refused = write(waiting, entries, nowMs);
    if (refused !== undefined) return refused;
    runs.wake(waiting, nowMs);
    wake("queue");
    return true;
  };
});

export const requestAbort = operation(record({ run: text, reason: words }), (db) => {
  const runs = prepareSessionRun(db);
  const aborts = prepareAborts(db);
  return ({ run, reason }, moment): boolean | Refusal => {
    const target = runs.find(run);
    if (target instanceof Refusal) return target;
    if (target.current !== target.run) return false;
    aborts.abort(target, reason, moment);
    return true;
  };
});
