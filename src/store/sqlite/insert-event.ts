import type { Database } from "better-sqlite3";

import { prepareRecorder } from "./record-changes.ts";
import { type Decoded, jsonOrNull, number, optional, record, text, words, wordsOrNull } from "./wire.ts";

const placeCodec = record({ id: words, account: words, place: words, topic: wordsOrNull });

/** An event as it is stored: JSON is text already. */
export const eventCodec = record({
  id: text,
  atMs: number,
  channel: text,
  direction: text,
  sender: wordsOrNull,
  place: optional(placeCodec),
  replyTo: wordsOrNull,
  content: wordsOrNull,
  contentType: words,
  attachments: jsonOrNull,
  payload: jsonOrNull,
  metadata: jsonOrNull,
});

export type EventInput = Decoded<typeof eventCodec>;

/** Inserts an event that is known to be new. `message` is where an answer's content is kept. */
export function prepareInsertEvent(
  db: Database,
): (event: EventInput, nowMs: number, message: number | null) => number {
  const findPlace = db.prepare<[string], number>("select key from place where id = ?").pluck();
  const insertPlace = db.prepare(
    "insert into place (id, channel, account, place, topic, first_ms) values (?, ?, ?, ?, ?, ?)",
  );
  const insert = db.prepare(
    `insert into event (id, at_ms, received_ms, channel, direction, sender, place, reply_to, content, content_type,
                        attachments, payload, metadata, message)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const changes = prepareRecorder(db);

  return (event, nowMs, message) => {
    const place = event.place === undefined ? null : placeKey(event.channel, event.place, nowMs);
    const { lastInsertRowid } = insert.run(
      event.id,
      event.atMs,
      nowMs,
      event.channel,
      event.direction,
      event.sender,
      place,
      event.replyTo,
      event.content,
      event.contentType,
      event.attachments,
      event.payload,
      event.metadata,
      message,
    );
    const seq = Number(lastInsertRowid);
    changes.event(seq);
    return seq;
  };

  function placeKey(channel: string, place: NonNullable<EventInput["place"]>, nowMs: number): number {
    const known = findPlace.get(place.id);
    if (known !== undefined) return known;
    const { id, account, topic } = place;
    return Number(insertPlace.run(id, channel, account, place.place, topic, nowMs).lastInsertRowid);
  }
}
