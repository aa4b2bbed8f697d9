import type { Wait } from "../store.ts";
import { leaseCodec, prepareHeld } from "./held.ts";
import { entryCodec, prepareJournal } from "./journal.ts";
import { operation, Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { prepareSessionRun } from "./session-run.ts";
import { list, record, text } from "./wire.ts";

export const suspend = operation(
  record({ lease: leaseCodec, run: text, id: text, kind: text, detail: text }),
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
    return ({ lease, run, id, kind, detail }, { nowMs, wake }) => {
      const held = findHeld(lease, run);
      if (held instanceof Refusal) {
        return isSuspended.get(run, id, lease.epoch) === undefined ? held : null; // the same call came before
      }
      park.run(id, kind, detail, held.run);
      leave.run(held.key);
      changes.run(held.run, "suspended", kind as Wait["kind"]);
      wake("runs");
      const parked = runs.findByKey(held.run);
      if (parked.abort === null) return null;
      runs.wake(parked, nowMs); // whoever asked for the end found a run at work, and woke nobody
      wake("queue");
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
    const refused = write(waiting, entries);
    if (refused !== undefined) return refused;
    runs.wake(waiting, nowMs);
    wake("queue");
    return true;
  };
});

export const requestAbort = operation(record({ run: text, reason: text }), (db) => {
  const runs = prepareSessionRun(db);
  return ({ run, reason }, moment): boolean | Refusal => {
    const target = runs.find(run);
    if (target instanceof Refusal) return target;
    if (target.current !== target.run) return false;
    runs.abort(target, reason, moment);
    return true;
  };
});
