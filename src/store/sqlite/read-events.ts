import type { Database } from "better-sqlite3";

import { CortexError } from "../../model/errors.ts";
import type { Direction, PlaceKind } from "../../model/event.ts";
import type { DispatchId, EventId, ItemId, TurnId } from "../../model/ids.ts";
import { principalBefore } from "../../model/principal.ts";
import type { SessionKey } from "../../model/session-key.ts";
import {
  type ChainLink,
  type ChannelAccount,
  type DeliveryTarget,
  type DispatchOutcome,
  type EventDispatch,
  type EventFilter,
  type Listed,
  type ListOptions,
  MAX_CHAIN_READ,
  type PlaceMessage,
  type StoredEvent,
} from "../store.ts";
import { columnsOf, namesOf, selectFields } from "./columns.ts";
import { EVENT_FIELDS } from "./insert-event.ts";
import { parseLabel } from "./labels.ts";
import { listPage, START } from "./page.ts";
import { placeId } from "./place-id.ts";
import { definedOf, parseJson, maybe, orUndefined } from "./row.ts";
import type { DecodedFields } from "./wire.ts";

export interface EventRow extends DecodedFields<typeof EVENT_FIELDS> {
  readonly receivedAtMs: number;
  readonly account: string | null;
  readonly place: string | null;
  readonly topic: string | null;
  readonly placeKind: PlaceKind | null;
  readonly differing: number;
  readonly prunedAtMs: number | null;
  readonly cause: EventId | null;
  readonly depth: number;
  readonly returned: number;
}

/** The fields of an event, each with the SQL that reads it. */
const EVENT_SQL = {
  ...columnsOf("e", EVENT_FIELDS),
  content: "coalesce(e.content, m.content)",
  receivedAtMs: "e.received_ms",
  account: "p.account",
  place: "p.place",
  topic: "p.topic",
  placeKind: "p.kind",
  differing: "e.differing",
  prunedAtMs: "e.pruned_ms",
  cause: "(select c.id from event c where c.seq = e.cause)",
  depth: "e.depth",
  returned: "e.returned",
};

export const EVENT_COLUMNS = selectFields(EVENT_SQL);

const PLAIN_FIELDS = namesOf(EVENT_SQL, [
  "content",
  "attachments",
  "payload",
  "metadata",
  "mentionsMe",
  "principal",
  "label",
]);

export const EVENT_TABLES =
  "event e left join place p on p.key = e.place left join message m on m.key = e.message";

export function prepareReadEvents(db: Database) {
  const find = db.prepare<[string], EventRow>(`select ${EVENT_COLUMNS} from ${EVENT_TABLES} where e.id = ?`);
  const findLast = db.prepare<[string, string], EventRow>(
    `select ${EVENT_COLUMNS} from ${EVENT_TABLES} where e.id > ? and e.id < ? order by e.id desc limit 1`,
  );
  // The index covers the inner query, so only the events of the page are read.
  const list = db.prepare<[ListBounds], ListedRow>(
    `select e.seq, ${EVENT_COLUMNS}
     from (select seq from event
           where at_ms >= @sinceMs and (at_ms, seq) < (@atMs, @seq)
             and (@channel is null or channel = @channel) and (@direction is null or direction = @direction)
           order by at_ms desc, seq desc limit @limit) w
       join ${EVENT_TABLES.replace("event e", "event e on e.seq = w.seq")}
     order by e.at_ms desc, e.seq desc`,
  );
  const findDispatches = db.prepare<[string], DispatchRow>(
    `select d.id, d.hook, s.label as session, i.id as item, d.outcome, d.at_ms,
            iif(i.state = 'dropped', null, r.turn_id) as turn
     from dispatch d join item i on i.key = d.item join session s on s.key = i.session
       left join run r on r.key = i.turn
     where d.event = (select seq from event where id = ?) order by d.key`,
  );
  const findMessage = db.prepare<[string, string], EventRow>(
    `select ${EVENT_COLUMNS} from ${EVENT_TABLES}
     where e.place = (select key from place where id = ?) and e.message_id = ? order by e.seq limit 1`,
  );
  const findNewest = db.prepare<[string, string, number], PlaceMessageRow>(
    `select p.place, p.topic, p.kind, e.message_id as messageId, e.at_ms as atMs
     from place p join event e on e.seq = (
       select max(seq) from event n where n.place = p.key and n.message_id is not null and n.direction = 'received')
     where p.channel = ? and p.account = ? order by e.seq desc limit ?`,
  );
  const readFiled = db
    .prepare<[], string>("select distinct sha256 from attachments where status = 'stored'")
    .pluck();
  const findChain = db.prepare<[string, number], ChainRow>(
    `with recursive chain (seq, cause, link) as (
       select seq, cause, 0 from event where id = ?
       union all select e.seq, e.cause, link + 1 from chain join event e on e.seq = chain.cause where link < ?)
     select e.id, e.channel, e.depth from chain join event e on e.seq = chain.seq order by link`,
  );
  return {
    chain: (id: EventId): ChainLink[] => findChain.all(id, MAX_CHAIN_READ) as ChainLink[],
    get: (id: EventId): StoredEvent | undefined => maybe(find.get(id), toEvent),
    // The semicolon is the character after the colon.
    lastOf: (adapter: string): StoredEvent | undefined =>
      maybe(findLast.get(`${adapter}:`, `${adapter};`), toEvent),
    list(options: ListOptions & EventFilter = {}): Listed<StoredEvent> {
      const { channel = null, direction = null } = options;
      const sinceMs = checkMoment(options.sinceMs ?? -START);
      const untilMs = checkMoment(options.untilMs ?? START);
      return listPage({
        name: "events",
        options,
        find([cursorMs, seq], limit) {
          const [atMs, before] = cursorMs < untilMs ? [cursorMs, seq] : [untilMs, 0];
          return list.all({ channel, direction, sinceMs, atMs, seq: before, limit });
        },
        place: (row) => [row.atMs, row.seq],
        toItem: toEvent,
      });
    },
    findMessage: (place: DeliveryTarget, messageId: string): StoredEvent | undefined =>
      maybe(findMessage.get(placeId(place), messageId), toEvent),
    newestMessages: ({ channel, account }: ChannelAccount, limit: number): PlaceMessage[] =>
      findNewest.all(channel, account, limit).map((row) => orUndefined(row, PLACE_MESSAGE)),
    filed: (): string[] => readFiled.all(),
    dispatches: (id: EventId): EventDispatch[] => findDispatches.all(id).map(toDispatch),
  };
}

export function checkMoment(ms: number): number {
  if (Number.isSafeInteger(ms)) return ms;
  throw new CortexError("request_invalid", `Invalid time ${ms}`, {
    hint: "Use an integer of milliseconds since 1970.",
  });
}

interface ListBounds {
  readonly channel: string | null;
  readonly direction: Direction | null;
  readonly sinceMs: number;
  readonly atMs: number;
  readonly seq: number;
  readonly limit: number;
}

interface ListedRow extends EventRow {
  readonly seq: number;
}

interface PlaceMessageRow {
  readonly place: string;
  readonly topic: string | null;
  readonly kind: PlaceKind | null;
  readonly messageId: string;
  readonly atMs: number;
}

const PLACE_MESSAGE = ["place", "topic", "kind", "messageId", "atMs"] as const;

type ChainRow = Readonly<Record<"id" | "channel", string> & { depth: number }>;

interface DispatchRow {
  readonly id: DispatchId;
  readonly hook: string;
  readonly session: SessionKey;
  readonly item: ItemId;
  readonly outcome: DispatchOutcome;
  readonly turn: TurnId | null;
  readonly at_ms: number;
}

function toDispatch(row: DispatchRow): EventDispatch {
  return {
    id: row.id,
    hook: row.hook,
    session: row.session,
    item: row.item,
    outcome: row.outcome,
    turn: row.turn ?? undefined,
    atMs: row.at_ms,
  };
}

/** The row may hold more than an event. */
export function toEvent(row: EventRow): StoredEvent {
  const { content, attachments, payload, metadata, mentionsMe } = row;
  const principal = row.principal ?? principalBefore(row);
  const event: Writable<StoredEvent> = Object.assign(definedOf(row, PLAIN_FIELDS), { content, principal });
  if (row.label !== null) event.label = parseLabel(row.label);
  if (attachments !== null) event.attachments = parseJson(attachments);
  if (payload !== null) event.payload = parseJson(payload);
  if (metadata !== null) event.metadata = parseJson(metadata);
  if (mentionsMe !== null) event.mentionsMe = mentionsMe === 1;
  return event;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };
