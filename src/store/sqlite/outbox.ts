/**
 * The outbox. For each target only the oldest unsettled delivery can be claimed, which keeps the order. Each claim
 * has its own epoch, so that a sender that was presumed dead can record nothing.
 */
import type { Database } from "better-sqlite3";

import type { DeliveryId } from "../../model/ids.ts";
import type { ChunkOutcome, DeliveryClaim, DeliveryState } from "../store.ts";
import { leaseCodec, prepareHeld } from "./held.ts";
import { deliveryCodec, prepareInsertDeliveries, prepareNotices } from "./insert-delivery.ts";
import { operation, Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import {
  type Decoded,
  number,
  numberOrNull,
  list,
  record,
  text,
  textOf,
  words,
  wordsOrNull,
} from "./wire.ts";

const fenceCodec = record({ delivery: text, epoch: number });

type Fence = Decoded<typeof fenceCodec>;

interface DeliveryRow {
  readonly key: number;
  readonly epoch: number;
  readonly state: string;
}

/** Queues a delivery of a turn before the turn ends. */
export const addDelivery = operation(
  record({ lease: leaseCodec, run: text, delivery: deliveryCodec }),
  (db) => {
    const findHeld = prepareHeld(db);
    const isThere = db.prepare<[string], number>("select 1 from delivery where id = ?").pluck();
    const insertDeliveries = prepareInsertDeliveries(db);
    return ({ lease, run, delivery }, { nowMs, wake }): null | Refusal => {
      const held = findHeld(lease, run);
      if (held instanceof Refusal) return held;
      if (isThere.get(delivery.id) !== undefined) return null; // the same call came before
      insertDeliveries([delivery], { turn: held.turn, message: null }, nowMs);
      wake("outbox");
      return null;
    };
  },
);

/** Queues a notice of Cortex itself. */
export const addNotice = operation(record({ delivery: deliveryCodec }), (db) => {
  const notify = prepareNotices(db);
  return ({ delivery }, moment): null => {
    notify([delivery], moment);
    return null;
  };
});

/** A send cut off by the expiry of its lease is `unknown`, like one cut off by a crash. */
export const claimDeliveries = operation(record({ holder: text, ttlMs: number, max: number }), (db) => {
  const expire = prepareExpire(db);
  const find = db.prepare<[number, number], DeliveryRow & { id: DeliveryId; state: DeliveryClaim["state"] }>(
    `select d.key, d.id, d.epoch, d.state from delivery d
     where d.settled_ms is null and d.state <> 'sending' and d.due_ms <= ?
       and not exists (select 1 from delivery e
                       where e.target = d.target and e.key < d.key and e.settled_ms is null)
     order by +d.key limit ?`,
  );
  const take = db.prepare(
    "update delivery set state = 'sending', epoch = ?, holder = ?, attempt = attempt + 1, due_ms = ? where key = ?",
  );
  const changes = prepareRecorder(db);
  return ({ holder, ttlMs, max }, { nowMs }) => {
    expire(nowMs);
    const found = find.all(nowMs, max);
    for (const { key, epoch } of found) {
      take.run(epoch + 1, holder, nowMs + ttlMs, key);
      changes.delivery(key, "sending");
    }
    return found.map(({ id, epoch, state }) => ({ delivery: id, epoch: epoch + 1, state }));
  };
});

export const planDelivery = operation(record({ fence: fenceCodec, chunks: list(words) }), (db) => {
  const find = prepareFence(db);
  const isPlanned = db.prepare<[number], number>("select 1 from chunk where delivery = ? limit 1").pluck();
  const insert = db.prepare(
    "insert into chunk (delivery, place, content, state) values (?, ?, ?, 'pending')",
  );
  return ({ fence, chunks }): null | Refusal => {
    const delivery = find(fence);
    if (delivery instanceof Refusal) return delivery;
    if (isPlanned.get(delivery.key) !== undefined) return null;
    chunks.forEach((content, place) => insert.run(delivery.key, place, content));
    return null;
  };
});

export const sendingChunk = operation(record({ fence: fenceCodec, chunk: number }), (db) => {
  const find = prepareFence(db);
  const findChunk = prepareFindChunk(db);
  const mark = db.prepare("update chunk set state = 'sending' where delivery = ? and place = ?");
  return ({ fence, chunk }): null | Refusal => {
    const delivery = find(fence);
    if (delivery instanceof Refusal) return delivery;
    const state = findChunk(fence, delivery.key, chunk);
    if (state instanceof Refusal) return state;
    if (state === "sent") {
      return new Refusal(
        "state_conflict",
        `Chunk ${chunk} of delivery ${fence.delivery} was already sent`,
        "Continue with the next chunk.",
      );
    }
    mark.run(delivery.key, chunk);
    return null;
  };
});

export const settleChunk = operation(
  record({
    fence: fenceCodec,
    chunk: number,
    kind: textOf<ChunkOutcome["kind"]>(),
    platformId: wordsOrNull,
    error: wordsOrNull,
    retryAtMs: numberOrNull,
    isRepeat: number,
  }),
  (db) => {
    const find = prepareFence(db);
    const findChunk = prepareFindChunk(db);
    const markChunk = db.prepare(
      "update chunk set state = ?, platform_id = ?, repeated = max(repeated, ?) where delivery = ? and place = ?",
    );
    const isLast = db
      .prepare<[number], number>("select 1 from chunk where delivery = ? and state <> 'sent' limit 1")
      .pluck();
    const settle = db.prepare(
      "update delivery set state = 'sent', holder = null, error = null, settled_ms = ? where key = ?",
    );
    const end = prepareEnd(db);
    const isSettled = prepareIsSettled(db);
    const changes = prepareRecorder(db);
    return (
      { fence, chunk, kind, platformId, error, retryAtMs, isRepeat },
      { nowMs, wake },
    ): null | Refusal => {
      const delivery = find(fence);
      if (delivery instanceof Refusal) return isSettled(fence, kind) ? null : delivery;
      const state = findChunk(fence, delivery.key, chunk);
      if (state instanceof Refusal) return state;
      if (state === "sent") return null; // the same call came before
      wake("outbox");
      if (kind === "sent") {
        markChunk.run("sent", platformId, 0, delivery.key, chunk);
        if (isLast.get(delivery.key) !== undefined) return null;
        settle.run(nowMs, delivery.key);
        changes.delivery(delivery.key, "sent");
        return null;
      }
      markChunk.run(kind === "unknown" ? "unknown" : "pending", null, isRepeat, delivery.key, chunk);
      end(delivery.key, { kind, error, retryAtMs }, nowMs);
      return null;
    };
  },
);

/** Nothing was sent at all, so no chunk changes. */
export const failDelivery = operation(
  record({ fence: fenceCodec, kind: textOf<"retry" | "dead">(), error: words, retryAtMs: numberOrNull }),
  (db) => {
    const find = prepareFence(db);
    const end = prepareEnd(db);
    const isSettled = prepareIsSettled(db);
    return ({ fence, kind, error, retryAtMs }, { nowMs, wake }): null | Refusal => {
      const delivery = find(fence);
      if (delivery instanceof Refusal) return isSettled(fence, kind) ? null : delivery;
      end(delivery.key, { kind, error, retryAtMs }, nowMs);
      wake("outbox");
      return null;
    };
  },
);

export const releaseDeliveries = operation(record({ fences: list(fenceCodec) }), (db) => {
  const find = prepareFence(db);
  const abandon = prepareAbandon(db);
  return ({ fences }, { nowMs, wake }) => {
    for (const fence of fences) {
      const delivery = find(fence);
      if (delivery instanceof Refusal || delivery.state !== "sending") continue;
      abandon(delivery.key, nowMs);
      wake("outbox");
    }
    return null;
  };
});

export const retryDelivery = operation(record({ delivery: text }), (db) => {
  const find = db.prepare<[string], DeliveryRow>("select key, epoch, state from delivery where id = ?");
  const reopen = db.prepare(
    "update delivery set state = 'pending', settled_ms = null, attempt = 0, due_ms = ? where key = ?",
  );
  const startOver = db.prepare("update chunk set repeated = 0 where delivery = ? and state = 'unknown'");
  const changes = prepareRecorder(db);
  return ({ delivery }, { nowMs, wake }): null | Refusal => {
    const row = find.get(delivery);
    if (row === undefined) return deliveryUnknown(delivery);
    if (row.state === "pending") return null; // the same call came before
    if (row.state !== "dead") return notDead(delivery, row.state);
    reopen.run(nowMs, row.key);
    startOver.run(row.key);
    changes.delivery(row.key, "pending");
    wake("outbox");
    return null;
  };
});

export const dropDeadDelivery = operation(record({ delivery: text }), (db) => {
  const find = db.prepare<[string], DeliveryRow>("select key, epoch, state from delivery where id = ?");
  const drop = db.prepare("update delivery set state = 'dropped', settled_ms = ? where key = ?");
  const changes = prepareRecorder(db);
  return ({ delivery }, { nowMs }): null | Refusal => {
    const row = find.get(delivery);
    if (row === undefined) return deliveryUnknown(delivery);
    if (row.state === "dropped") return null; // the same call came before
    if (row.state !== "dead") return notDead(delivery, row.state);
    drop.run(nowMs, row.key);
    changes.delivery(row.key, "dropped");
    return null;
  };
});

/** Ends expired claims. Their holders can record nothing any more. */
function prepareExpire(db: Database): (nowMs: number) => void {
  const findExpired = db.prepare<[number], { key: number }>(
    "select key from delivery where settled_ms is null and due_ms <= ? and state = 'sending'",
  );
  const abandon = prepareAbandon(db);
  return (nowMs) => {
    for (const { key } of findExpired.all(nowMs)) abandon(key, nowMs);
  };
}

/** A chunk that was being sent may have arrived, so the delivery must be reconciled, not sent again. */
function prepareAbandon(db: Database): (delivery: number, dueMs: number) => void {
  const doubt = db.prepare("update chunk set state = 'unknown' where delivery = ? and state = 'sending'");
  const isDoubtful = db
    .prepare<[number], number>("select 1 from chunk where delivery = ? and state = 'unknown' limit 1")
    .pluck();
  const leave = db.prepare(
    "update delivery set state = ?, holder = null, due_ms = min(due_ms, ?) where key = ?",
  );
  const changes = prepareRecorder(db);
  return (delivery, dueMs) => {
    doubt.run(delivery);
    const state = isDoubtful.get(delivery) === undefined ? "pending" : "unknown";
    leave.run(state, dueMs, delivery);
    changes.delivery(delivery, state);
  };
}

/** Ends a claim without success. The epoch stays, so that a repeated call is recognized. */
function prepareEnd(db: Database) {
  const leave = db.prepare(
    "update delivery set state = ?, holder = null, error = ?, due_ms = coalesce(?, due_ms), settled_ms = ? where key = ?",
  );
  const changes = prepareRecorder(db);
  return (
    delivery: number,
    outcome: {
      readonly kind: ChunkOutcome["kind"];
      readonly error: string | null;
      readonly retryAtMs: number | null;
    },
    nowMs: number,
  ): void => {
    const { kind, error, retryAtMs } = outcome;
    const dead = kind === "dead";
    const state = STATE_AFTER[kind];
    leave.run(state, error, dead ? null : retryAtMs, dead ? nowMs : null, delivery);
    changes.delivery(delivery, state);
  };
}

const STATE_AFTER: Readonly<Record<ChunkOutcome["kind"], DeliveryState>> = {
  sent: "sent",
  dead: "dead",
  unknown: "unknown",
  retry: "pending",
};

function prepareIsSettled(db: Database): (fence: Fence, kind: ChunkOutcome["kind"]) => boolean {
  const find = db
    .prepare<[string, number, string], number>(
      "select 1 from delivery where id = ? and epoch = ? and state = ?",
    )
    .pluck();
  return (fence, kind) => find.get(fence.delivery, fence.epoch, STATE_AFTER[kind]) !== undefined;
}

function prepareFence(db: Database): (fence: Fence) => DeliveryRow | Refusal {
  const find = db.prepare<[string], DeliveryRow>("select key, epoch, state from delivery where id = ?");
  return (fence) => {
    const row = find.get(fence.delivery);
    if (row === undefined) return deliveryUnknown(fence.delivery);
    if (row.epoch === fence.epoch && (row.state === "sending" || row.state === "sent")) return row;
    return new Refusal(
      "lease_lost",
      `Lost claim ${fence.epoch} on delivery ${fence.delivery}`,
      "Another sender has taken the delivery over. Stop sending it.",
    );
  };
}

function prepareFindChunk(db: Database): (fence: Fence, delivery: number, chunk: number) => string | Refusal {
  const find = db
    .prepare<[number, number], string>("select state from chunk where delivery = ? and place = ?")
    .pluck();
  return (fence, delivery, chunk) =>
    find.get(delivery, chunk) ??
    new Refusal(
      "delivery_unknown",
      `Delivery ${fence.delivery} has no chunk ${chunk}`,
      "Plan the delivery before sending it.",
    );
}

function deliveryUnknown(delivery: string): Refusal {
  return new Refusal(
    "delivery_unknown",
    `Unknown delivery "${delivery}"`,
    "GET /api/deliveries lists deliveries.",
  );
}

function notDead(delivery: string, state: string): Refusal {
  return new Refusal(
    "state_conflict",
    `Delivery ${delivery} is ${state}, not dead`,
    "Run `cortex dead list` to list dead letters.",
  );
}
