import type { Wait } from "../store.ts";
import { leaseCodec, prepareHeld } from "./held.ts";
import { entryCodec, prepareJournal } from "./journal.ts";
import { operation, Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { runUnknown } from "./unknown.ts";
import { list, record, text } from "./wire.ts";

interface WaitingRun {
  readonly run: number;
  readonly turn: number;
  readonly state: string;
  readonly wait_id: string | null;
  /** The session, where the run is the one that it waits with. */
  readonly key: number;
  readonly current: number | null;
  readonly holder: string | null;
}

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
    return ({ lease, run, id, kind, detail }, { wake }) => {
      const held = findHeld(lease, run);
      if (held instanceof Refusal) {
        return isSuspended.get(run, id, lease.epoch) === undefined ? held : null; // the same call came before
      }
      park.run(id, kind, detail, held.run);
      leave.run(held.key);
      changes.run(held.run, "suspended", kind as Wait["kind"]);
      wake("runs");
      return null;
    };
  },
);

export const resume = operation(record({ run: text, wait: text, entries: list(entryCodec) }), (db) => {
  const find = prepareFind(db);
  const write = prepareJournal(db);
  const ready = prepareReady(db);
  return ({ run, wait, entries }, { nowMs, wake }): boolean | Refusal => {
    const waiting = find(run);
    if (waiting instanceof Refusal) return waiting;
    if (waiting.state !== "suspended" || waiting.wait_id !== wait) return false;
    const refused = write(waiting, entries);
    if (refused !== undefined) return refused;
    ready(waiting, nowMs);
    wake("queue");
    return true;
  };
});

/** A run that works reads the note at its next step; one that waits is woken to end itself. */
export const requestAbort = operation(record({ run: text, reason: text }), (db) => {
  const find = prepareFind(db);
  const note = db.prepare("update run set abort = coalesce(abort, ?) where key = ?");
  const ready = prepareReady(db);
  return ({ run, reason }, { nowMs, wake }): boolean | Refusal => {
    const target = find(run);
    if (target instanceof Refusal) return target;
    if (target.current !== target.run) return false;
    note.run(reason, target.run);
    if (target.holder === null) ready(target, nowMs);
    wake(target.holder === null ? "queue" : "runs");
    return true;
  };
});

type Db = Parameters<Parameters<typeof operation>[1]>[0];

function prepareFind(db: Db): (run: string) => WaitingRun | Refusal {
  const find = db.prepare<[string], WaitingRun>(
    `select r.key as run, r.turn, r.state, r.wait_id, s.key, s.run as current, s.holder
     from run r join session s on s.key = r.session where r.id = ?`,
  );
  return (run) => find.get(run) ?? runUnknown(run);
}

/** A failed run keeps its state: the next claim of its session starts a new attempt. */
function prepareReady(db: Db): (run: WaitingRun, nowMs: number) => void {
  const wakeRun = db.prepare("update run set state = 'resumable' where key = ? and state = 'suspended'");
  const wakeSession = db.prepare("update session set ready_ms = ? where key = ?");
  const changes = prepareRecorder(db);
  return (run, nowMs) => {
    if (wakeRun.run(run.run).changes > 0) changes.run(run.run, "resumable");
    wakeSession.run(nowMs, run.key);
  };
}
