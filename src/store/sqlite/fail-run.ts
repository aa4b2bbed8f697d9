import { prepareRequests } from "./approval-requests.ts";
import { claimCodec, prepareClaims } from "./claim.ts";
import type { FinishedRow } from "./commit-turn.ts";
import { leaseCodec, prepareHeld } from "./held.ts";
import { deliveryCodec, prepareInsertDeliveries } from "./insert-delivery.ts";
import { operation, Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { numberOrNull, list, optional, record, text, words } from "./wire.ts";

/** Ends an attempt. Without `retryAtMs`, the items of the turn become dead letters. */
export const failRun = operation(
  record({
    lease: leaseCodec,
    run: text,
    error: words,
    retryAtMs: numberOrNull,
    deliveries: list(deliveryCodec),
    claim: optional(claimCodec),
  }),
  (db) => {
    const findHeld = prepareHeld(db);
    const isFailed = db
      .prepare<[string, number], number>(
        "select 1 from run where id = ? and state = 'failed' and ended_epoch = ?",
      )
      .pluck();
    const endRun = db.prepare(
      "update run set state = 'failed', error = ?, ended_ms = ?, ended_epoch = ? where key = ?",
    );
    const letGo = db.prepare("update session set holder = null, ready_ms = ? where key = ?");
    const bury = db
      .prepare<[number, number], number>(
        `update item set state = 'dead', settled_ms = ?
         where session = ? and settled_ms is null and state = 'claimed' returning key`,
      )
      .pluck();
    const insertDeliveries = prepareInsertDeliveries(db);
    const requests = prepareRequests(db);
    const claims = prepareClaims(db);
    const changes = prepareRecorder(db);

    return (input, moment): FinishedRow | Refusal => {
      const { nowMs, wake } = moment;
      const held = findHeld(input.lease, input.run);
      if (held instanceof Refusal)
        return isFailed.get(input.run, input.lease.epoch) === undefined ? held : { next: undefined };
      endRun.run(input.error, nowMs, held.epoch, held.run);
      changes.run(held.run, "failed");
      insertDeliveries(input.deliveries, { turn: held.turn, message: null }, nowMs);
      if (input.deliveries.length > 0) wake("outbox");
      wake("queue");
      if (input.retryAtMs === null) {
        requests.takeBack(held.turn_id, moment);
        for (const item of bury.all(nowMs, held.key)) changes.item(item, "dead");
        const session = { ...held, label: input.lease.session, run: null, ready_ms: null, lane: null };
        return { next: claims.finish(session, input.claim, nowMs) };
      }
      // An aborted run is not retried, and its caller must not wait for the time of a retry.
      letGo.run(held.abort === null ? input.retryAtMs : nowMs, held.key);
      if (input.claim === undefined) return { next: undefined };
      const ready = claims.findReady(input.claim, nowMs);
      return { next: ready === undefined ? undefined : claims.claimSession(ready, input.claim, nowMs) };
    };
  },
);
