/** Dead letters: messages and deliveries in one list, by when they died. They are few, since people deal with them. */
import type { Database } from "better-sqlite3";

import type { DeliveryId, EventId, ItemId, TurnId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { DeadLetter, DeadMessage, Listed, ListOptions } from "../store.ts";
import { listPage } from "./page.ts";
import { IS_TOLD, LAST_RUN } from "./read-queue.ts";
import { defined, maybe } from "./row.ts";

interface MessageRow {
  readonly kind: "message";
  readonly place: number;
  readonly id: ItemId;
  readonly turn: TurnId;
  readonly session: SessionKey;
  readonly event: EventId;
  readonly error: string;
  readonly attempts: number;
  readonly died: number;
}

interface DeliveryRow {
  readonly kind: "delivery";
  readonly place: number;
  readonly id: DeliveryId;
  readonly turn: TurnId | null;
  readonly session: SessionKey | null;
  readonly event: EventId | null;
  readonly error: string | null;
  readonly attempts: number;
  readonly died: number;
  readonly channel: string;
  readonly account: string;
  readonly at: string;
  readonly topic: string | null;
}

/** Keys of two tables: even ones are messages, odd ones deliveries. */
const MESSAGES = `select 'message' as kind, i.key * 2 as place, i.id, r.turn_id as turn, s.label as session,
    e.id as event, r.error, r.attempt as attempts, i.settled_ms as died,
    null as channel, null as account, null as at, null as topic
  from item i join session s on s.key = i.session join event e on e.seq = i.event join run r on r.key = ${LAST_RUN}
  where i.state = 'dead'`;

/** A message found by its id may also be failed work whose caller was told. */
const LISTED_MESSAGES = `${MESSAGES} and not ${IS_TOLD}`;

const DELIVERIES = `select 'delivery' as kind, d.key * 2 + 1 as place, d.id, r.turn_id as turn, s.label as session,
    e.id as event, d.error, d.attempt as attempts, d.settled_ms as died,
    d.channel, d.account, d.place as at, d.topic
  from delivery d left join run r on r.key = d.turn left join session s on s.key = r.session
    left join event e on e.seq = r.source
  where d.state = 'dead'`;

const PAGE = "where (died, place) < (?, ?) order by died desc, place desc limit ?";

export function prepareReadDead(db: Database) {
  const listAll = db.prepare<[number, number, number], MessageRow | DeliveryRow>(
    `select * from (${LISTED_MESSAGES} union all ${DELIVERIES}) ${PAGE}`,
  );
  const listMessages = db.prepare<[number, number, number], MessageRow>(
    `select * from (${LISTED_MESSAGES}) ${PAGE}`,
  );
  const find = db.prepare<[string, string], MessageRow | DeliveryRow>(
    `${MESSAGES} and i.id = ? union all ${DELIVERIES} and d.id = ?`,
  );
  return {
    list: (options?: ListOptions): Listed<DeadLetter> =>
      listPage({
        name: "dead",
        options,
        find: ([died, place], limit) => listAll.all(died, place, limit),
        place: ({ died, place }) => [died, place],
        toItem: toLetter,
      }),
    messages: (options?: ListOptions): Listed<DeadMessage> =>
      listPage({
        name: "dead-messages",
        options,
        find: ([died, place], limit) => listMessages.all(died, place, limit),
        place: ({ died, place }) => [died, place],
        toItem: toMessage,
      }),
    get: (id: string): DeadLetter | undefined => maybe(find.get(id, id), toLetter),
  };
}

function toLetter(row: MessageRow | DeliveryRow): DeadLetter {
  if (row.kind === "message") return toMessage(row);
  const { channel, account, at: place, topic } = row;
  return {
    kind: "delivery",
    delivery: row.id,
    turn: row.turn ?? undefined,
    session: row.session ?? undefined,
    event: row.event ?? undefined,
    target: { channel, account, place, ...defined({ topic }) },
    error: row.error ?? "",
    attempts: row.attempts,
    diedAtMs: row.died,
  };
}

function toMessage(row: MessageRow): DeadMessage {
  return {
    kind: "message",
    item: row.id,
    turn: row.turn,
    session: row.session,
    event: row.event,
    error: row.error,
    attempts: row.attempts,
    diedAtMs: row.died,
  };
}
