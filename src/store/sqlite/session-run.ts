/** The run that a session is held for, and how to wake it. */
import type { Database } from "better-sqlite3";

import type { TurnId } from "../../model/ids.ts";
import type { Lane } from "./lane.ts";
import type { Refusal } from "./operation.ts";
import { oncePerDatabase } from "./once.ts";
import { prepareRecorder } from "./record-changes.ts";
import { required } from "./row.ts";
import { runUnknown } from "./unknown.ts";

export interface SessionRun {
  readonly run: number;
  /** The item that the run is for. */
  readonly item: number | null;
  readonly turn: number;
  readonly turn_id: TurnId;
  readonly state: string;
  readonly wait_id: string | null;
  /** The session, and its current run. */
  readonly key: number;
  readonly current: number | null;
  readonly holder: string | null;
  readonly abort: string | null;
  readonly lane: Lane;
}

export const prepareSessionRun = oncePerDatabase((db: Database) => {
  const columns = `r.key as run, r.item, r.turn, r.turn_id, r.state, r.wait_id, s.key, s.run as current, s.holder, r.abort, r.lane`;
  const tables = `run r join session s on s.key = r.session`;
  const findById = db.prepare<[string], SessionRun>(`select ${columns} from ${tables} where r.id = ?`);
  const findByKey = db.prepare<[number], SessionRun>(`select ${columns} from ${tables} where r.key = ?`);
  const wakeRun = db.prepare("update run set state = 'resumable' where key = ? and state = 'suspended'");
  const wakeSession = db.prepare(
    "update session set ready_ms = min(coalesce(ready_ms, @nowMs), @nowMs) where key = @key",
  );
  const changes = prepareRecorder(db);

  /** A failed run keeps its state: the next claim of its session starts a new attempt. */
  function wakeUp(run: SessionRun, nowMs: number): void {
    if (wakeRun.run(run.run).changes > 0) changes.run(run.run, "resumable");
    wakeSession.run({ key: run.key, nowMs });
  }

  return {
    find: (id: string): SessionRun | Refusal => findById.get(id) ?? runUnknown(id),
    findByKey: (key: number): SessionRun => required(findByKey.get(key)),
    wake: wakeUp,
  };
});
