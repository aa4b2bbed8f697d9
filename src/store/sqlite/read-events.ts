import type { Database } from "better-sqlite3";

import type { Direction } from "../../model/event.ts";
import type { EventId } from "../../model/ids.ts";
import type { StoredEvent } from "../store.ts";
import { defined, json } from "./row.ts";

export interface EventRow {
  readonly id: string;
  readonly at_ms: number;
  readonly received_ms: number;
  readonly channel: string;
  readonly direction: Direction;
  readonly sender: string | null;
  readonly account: string | null;
  readonly place: string | null;
  readonly topic: string | null;
  readonly reply_to: string | null;
  readonly content: string | null;
  readonly content_type: string;
  readonly attachments: string | null;
  readonly payload: string | null;
  readonly metadata: string | null;
  readonly differing: number;
}

export const EVENT_COLUMNS = `e.id, e.at_ms, e.received_ms, e.channel, e.direction, e.sender, p.account, p.place,
  p.topic, e.reply_to, coalesce(e.content, m.content) as content, e.content_type, e.attachments, e.payload,
  e.metadata, e.differing`;

export const EVENT_TABLES =
  "event e left join place p on p.key = e.place left join message m on m.key = e.message";

export function prepareReadEvent(db: Database): (id: EventId) => StoredEvent | undefined {
  const find = db.prepare<[string], EventRow>(`select ${EVENT_COLUMNS} from ${EVENT_TABLES} where e.id = ?`);
  return (id) => {
    const row = find.get(id);
    return row === undefined ? undefined : toEvent(row);
  };
}

export function toEvent(row: EventRow): StoredEvent {
  return {
    id: row.id as EventId,
    channel: row.channel,
    direction: row.direction,
    content: row.content,
    contentType: row.content_type,
    atMs: row.at_ms,
    receivedAtMs: row.received_ms,
    differing: row.differing,
    ...defined({
      sender: row.sender,
      account: row.account,
      place: row.place,
      topic: row.topic,
      replyTo: row.reply_to,
      attachments: json(row.attachments),
      payload: json(row.payload),
      metadata: json(row.metadata),
    }),
  };
}
