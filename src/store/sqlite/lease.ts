import type { Database } from "better-sqlite3";

import type { DeliveryState } from "../store.ts";
import { claimCodec, type ClaimRow, prepareClaims, type SessionRow } from "./claim.ts";
import { leaseCodec } from "./held.ts";
import { operation } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { number, list, record, text } from "./wire.ts";

/** One request per session, because each may need its own ids. */
export const leaseSessions = operation(record({ requests: list(claimCodec) }), (db) => {
  const claims = prepareClaims(db);
  return ({ requests }, { nowMs }): ClaimRow[] => {
    const claimed: ClaimRow[] = [];
    for (const request of requests) {
      let claim: ClaimRow | undefined;
      for (let session: SessionRow | undefined; claim === undefined;) {
        session = claims.findReady(request, nowMs);
        if (session === undefined) return claimed;
        claim = claims.claimSession(session, request, nowMs);
      }
      claimed.push(claim);
    }
    return claimed;
  };
});

/** Returns the positions of the lost leases in the list. */
export const renewLeases = operation(
  record({ holder: text, ttlMs: number, leases: list(leaseCodec) }),
  (db) => {
    const renew = db.prepare(
      "update session set ready_ms = ? where label = ? and epoch = ? and holder = ? and run is not null",
    );
    return ({ holder, ttlMs, leases }, { nowMs }) => {
      const lost: number[] = [];
      leases.forEach(({ session, epoch }, place) => {
        if (renew.run(nowMs + ttlMs, session, epoch, holder).changes === 0) lost.push(place);
      });
      return lost;
    };
  },
);

export const releaseLeases = operation(record({ leases: list(leaseCodec) }), (db) => {
  const find = db.prepare<[string, number], { key: number; run: number }>(
    "select key, run from session where label = ? and epoch = ? and holder is not null",
  );
  const release = db.prepare("update session set holder = null, ready_ms = ? where key = ?");
  const park = db.prepare("update run set state = 'resumable' where key = ? and state = 'running'");
  const changes = prepareRecorder(db);
  return ({ leases }, { nowMs, wake }) => {
    for (const { session, epoch } of leases) {
      const held = find.get(session, epoch);
      if (held === undefined) continue;
      if (park.run(held.run).changes > 0) changes.run(held.run, "resumable");
      release.run(nowMs, held.key);
      wake("queue");
    }
    return null;
  };
});

/**
 * Voids all leases when the writer starts, since their holders are dead. Runs keep their state, so that the next
 * claim counts the interruption; an unfinished send becomes `unknown`.
 */
export function voidLeases(db: Database, nowMs: number): void {
  const changes = prepareRecorder(db);
  db.transaction(() => {
    db.prepare("update session set holder = null, ready_ms = ? where holder is not null").run(nowMs);
    db.prepare("update labelled_command set ended_ms = ? where ended_ms is null").run(nowMs);
    db.prepare(
      `update chunk set state = 'unknown'
       where state = 'sending' and delivery in (select key from delivery where settled_ms is null)`,
    ).run();
    const left = db.prepare<[number], { key: number; state: DeliveryState }>(
      `update delivery set holder = null, due_ms = min(due_ms, ?),
         state = iif(exists (select 1 from chunk c where c.delivery = delivery.key and c.state = 'unknown'),
                     'unknown', 'pending')
       where settled_ms is null and state = 'sending' returning key, state`,
    );
    for (const { key, state } of left.all(nowMs)) changes.delivery(key, state);
    changes.write(nowMs);
  })();
}
