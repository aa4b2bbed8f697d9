import type { Database } from "better-sqlite3";

import { prepareRecorder } from "./record-changes.ts";
import { type Decoded, json, record, text, words, wordsOrNull } from "./wire.ts";

export const deliveryCodec = record({
  id: text,
  target: json,
  channel: text,
  account: words,
  place: words,
  topic: wordsOrNull,
  replyTo: wordsOrNull,
  content: wordsOrNull,
});

type DeliveryInput = Decoded<typeof deliveryCodec>;

/** Puts deliveries into the outbox. Without content of its own, a delivery carries the turn's answer. */
export function prepareInsertDeliveries(db: Database) {
  const insert = db.prepare(
    `insert into delivery (id, turn, target, channel, account, place, topic, reply_to, content, message, state,
                           due_ms, created_ms)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
  );
  const changes = prepareRecorder(db);
  return (
    deliveries: readonly DeliveryInput[],
    /** A relay's are of no turn. */
    answer: { readonly turn: number | null; readonly message: number | null },
    nowMs: number,
  ): void => {
    for (const { id, target, channel, account, place, topic, replyTo, content } of deliveries) {
      const message = content === null ? answer.message : null;
      const inserted = insert.run(
        id,
        answer.turn,
        target,
        channel,
        account,
        place,
        topic,
        replyTo,
        content,
        message,
        nowMs,
        nowMs,
      );
      changes.delivery(Number(inserted.lastInsertRowid), "pending");
    }
  };
}
