/** The run that occupies a session: waking it where it waits, and asking it to end. */
import type { Database } from "better-sqlite3";

import { prepareRequests } from "./approval-requests.ts";
import type { Moment, Refusal } from "./operation.ts";
import { oncePerDatabase } from "./once.ts";
import { prepareRecorder } from "./record-changes.ts";
import { runUnknown } from "./unknown.ts";

interface SessionRun {
  readonly run: number;
  readonly turn: number;
  readonly turn_id: string;
  readonly state: string;
  readonly wait_id: string | null;
  /** The session, and the run that it is occupied by. */
  readonly key: number;
  readonly current: number | null;
  readonly holder: string | null;
  readonly abort: string | null;
}

export const prepareSessionRun = oncePerDatabase((db: Database) => {
  const columns = `r.key as run, r.turn, r.turn_id, r.state, r.wait_id, s.key, s.run as current, s.holder, r.abort`;
  const tables = `run r join session s on s.key = r.session`;
  const findById = db.prepare<[string], SessionRun>(`select ${columns} from ${tables} where r.id = ?`);
  const findByKey = db.prepare<[number], SessionRun>(`select ${columns} from ${tables} where r.key = ?`);
  const note = db.prepare("update run set abort = coalesce(abort, ?) where key = ?");
  const wakeRun = db.prepare("update run set state = 'resumable' where key = ? and state = 'suspended'");
  const wakeSession = db.prepare(
    "update session set ready_ms = min(coalesce(ready_ms, @nowMs), @nowMs) where key = @key",
  );
  const changes = prepareRecorder(db);
  const requests = prepareRequests(db);

  /** A failed run keeps its state: the next claim of its session starts a new attempt. */
  function wakeUp(run: SessionRun, nowMs: number): void {
    if (wakeRun.run(run.run).changes > 0) changes.run(run.run, "resumable");
    wakeSession.run({ key: run.key, nowMs });
  }

  return {
    find: (id: string): SessionRun | Refusal => findById.get(id) ?? runUnknown(id),
    findByKey: (key: number): SessionRun => findByKey.get(key)!,
    wake: wakeUp,

    /**
     * Asks a run to end that is not over: one that works reads the note at its next step, one that waits is
     * woken for it. The first reason stays. Nobody has to decide any more what it has asked.
     */
    abort(run: SessionRun, reason: string, { nowMs, wake }: Moment): void {
      note.run(reason, run.run);
      requests.takeBack(run.turn_id);
      if (run.holder === null) wakeUp(run, nowMs);
      wake(run.holder === null ? "queue" : "runs");
    },
  };
});
