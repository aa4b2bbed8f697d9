import type { Database } from "better-sqlite3";

import type { DeliveryId } from "../../model/ids.ts";
import { insertInto } from "./columns.ts";
import type { OperationTime } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { type Decoded, json, jsonOrNull, record, text, textOf, words, wordsOrNull } from "./wire.ts";

/** The fields of a queued delivery, each a column. */
export const DELIVERY_FIELDS = {
  id: textOf<DeliveryId>(),
  channel: text,
  account: words,
  place: words,
  topic: wordsOrNull,
  replyTo: wordsOrNull,
  content: wordsOrNull,
  extras: jsonOrNull,
};

export const deliveryCodec = record({ ...DELIVERY_FIELDS, target: json });

const STORED_FIELDS = [
  ...Object.keys(DELIVERY_FIELDS),
  "target",
  "turn",
  "message",
  "state",
  "dueMs",
  "createdMs",
];

export type DeliveryInput = Decoded<typeof deliveryCodec>;

/** Answers that an older version held lack the fields that are newer. */
const NO_FIELDS = Object.fromEntries(Object.keys(DELIVERY_FIELDS).map((field) => [field, null]));

/** Queues deliveries. A delivery without content carries the turn's answer. */
export function prepareInsertDeliveries(db: Database) {
  const insert = db.prepare(insertInto("delivery", STORED_FIELDS));
  const changes = prepareRecorder(db);
  return (
    deliveries: readonly DeliveryInput[],
    /** Deliveries of relays belong to no turn. */
    answer: { readonly turn: number | null; readonly message: number | null },
    nowMs: number,
  ): void => {
    for (const delivery of deliveries) {
      const message = delivery.content === null ? answer.message : null;
      const row = {
        ...NO_FIELDS,
        ...delivery,
        turn: answer.turn,
        message,
        state: "pending",
        dueMs: nowMs,
        createdMs: nowMs,
      };
      const inserted = insert.run(row);
      changes.delivery(Number(inserted.lastInsertRowid), "pending");
    }
  };
}

/** Queues notices of Cortex itself, for no turn. One whose id is known is not queued again. */
export function prepareNotices(db: Database) {
  const isThere = db.prepare<[string], number>("select 1 from delivery where id = ?").pluck();
  const insertDeliveries = prepareInsertDeliveries(db);
  return (notices: readonly DeliveryInput[], { nowMs, wake }: OperationTime): void => {
    for (const notice of notices) {
      if (isThere.get(notice.id) !== undefined) continue;
      insertDeliveries([notice], { turn: null, message: null }, nowMs);
      wake("outbox");
    }
  };
}
