import type { Database } from "better-sqlite3";

import type { TurnId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { Refusal } from "./operation.ts";
import { sessionUnknown } from "./unknown.ts";
import { number, record, textOf } from "./wire.ts";

export const leaseCodec = record({ session: textOf<SessionKey>(), epoch: number });

/** A session with a valid lease, and the run that it is held for. */
export interface Held {
  readonly key: number;
  readonly epoch: number;
  readonly holder: string;
  readonly head: number | null;
  readonly head_id: TurnId | null;
  readonly agent: string;
  readonly persona: string;
  readonly run: number;
  readonly run_id: string;
  readonly turn: number;
  readonly turn_id: TurnId;
  readonly parent: number | null;
  readonly item: number | null;
  readonly source: number | null;
  readonly merged: number;
  readonly progress: number;
  readonly started_ms: number;
  readonly abort: string | null;
  readonly compacting_ms: number | null;
}

/**
 * The fence. A lease is valid while the session is held with the same epoch: taking a session over raises the epoch,
 * and the old holder can write nothing from then on.
 */
export function prepareHeld(
  db: Database,
): (lease: { readonly session: string; readonly epoch: number }, run: string) => Held | Refusal {
  const find = db.prepare<
    [string],
    Held | { key: number; epoch: number; holder: string | null; run_id: null }
  >(
    `select s.key, s.epoch, s.holder, s.head, h.id as head_id, s.agent, s.persona, s.run, r.id as run_id, r.turn, r.turn_id,
            r.parent, r.item, r.source, r.merged, r.progress, r.started_ms, r.abort,
            r.compacting_ms
     from session s left join run r on r.key = s.run left join turn h on h.key = s.head where s.label = ?`,
  );
  return (lease, run) => {
    const held = find.get(lease.session);
    if (held === undefined) return sessionUnknown(lease.session);
    if (held.epoch !== lease.epoch || held.holder === null || held.run_id !== run) {
      return new Refusal(
        "lease_lost",
        `Run ${run} has lost lease ${lease.epoch} on session "${lease.session}"`,
        "Another process has taken the session over, or the run has ended. Stop this run without writing.",
      );
    }
    return held;
  };
}
