import type { Database } from "better-sqlite3";

import type { Direction } from "../../model/event.ts";
import type { EventId } from "../../model/ids.ts";
import { type Principal, principalBefore } from "../../model/principal.ts";
import { insertInto } from "./columns.ts";
import { prepareRecorder } from "./record-changes.ts";
import {
  type Decoded,
  jsonOrNull,
  list,
  number,
  numberOrNull,
  record,
  text,
  textOf,
  textOrNull,
  words,
  wordsOrNull,
  wordsOrNullOf,
} from "./wire.ts";

const placeCodec = record({
  id: words,
  account: words,
  place: words,
  topic: wordsOrNull,
  kind: textOrNull,
  name: wordsOrNull,
});

/** The fields of a new event, each a column. JSON is text already. */
export const EVENT_FIELDS = {
  id: textOf<EventId>(),
  atMs: number,
  channel: text,
  direction: textOf<Direction>(),
  sender: wordsOrNull,
  mentionsMe: numberOrNull,
  replyTo: wordsOrNull,
  messageId: wordsOrNull,
  about: wordsOrNull,
  content: wordsOrNull,
  contentType: words,
  attachments: jsonOrNull,
  payload: jsonOrNull,
  metadata: jsonOrNull,
  principal: wordsOrNullOf<Principal>(),
  label: jsonOrNull,
  audience: wordsOrNull,
  token: wordsOrNull,
};

export const eventCodec = record({
  ...EVENT_FIELDS,
  /** From the outermost place to the innermost. Empty: the event has no place. */
  places: list(placeCodec),
  cause: textOrNull,
  returns: number,
});

const STORED_FIELDS = [
  ...Object.keys(EVENT_FIELDS),
  "receivedMs",
  "place",
  "message",
  "cause",
  "depth",
  "returned",
];

export type EventInput = Decoded<typeof eventCodec>;

/** For an answer: the event that its turn was for, and the message that holds its content. */
interface Answered {
  readonly source: number | null;
  readonly message: number | null;
}

interface CauseRow {
  readonly seq: number;
  readonly depth: number;
  readonly returned: number;
  readonly principal: Principal | null;
  readonly audience: string | null;
  readonly id: string;
  readonly channel: string;
  readonly sender: string | null;
}

const CAUSE = "select id, seq, depth, returned, principal, audience, channel, sender from event";

/** What is caused happens on the same authority, also if an older version stored the cause. */
function principalOf(cause: CauseRow | undefined): Principal | null {
  return cause === undefined ? null : (cause.principal ?? principalBefore(cause));
}

/** Inserts an event that is known to be new. */
export function prepareInsertEvent(
  db: Database,
): (event: EventInput, nowMs: number, answered?: Answered) => number {
  const findCause = db.prepare<[string], CauseRow>(`${CAUSE} where id = ?`);
  const findSource = db.prepare<[number | null], CauseRow>(`${CAUSE} where seq = ?`);
  const findPlace = db.prepare<[string], PlaceRow>("select key, kind, name, parent from place where id = ?");
  const insertPlace = db.prepare(
    `insert into place (id, channel, account, place, topic, kind, name, parent, first_ms)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const changePlace = db.prepare(
    `update place set dm_until = iif(@opens, (select max(seq) from event), dm_until),
       kind = @kind, name = @name, parent = @parent where key = @key`,
  );
  const insert = db.prepare(insertInto("event", STORED_FIELDS));
  const changes = prepareRecorder(db);

  return (event, nowMs, answered) => {
    const cause =
      answered === undefined
        ? event.cause === null
          ? undefined
          : findCause.get(event.cause)
        : findSource.get(answered.source);
    let place: number | null = null;
    for (const found of event.places) place = placeKey(event.channel, found, place, nowMs);
    const { lastInsertRowid } = insert.run({
      ...event,
      receivedMs: nowMs,
      place,
      message: answered?.message ?? null,
      principal: event.principal ?? principalOf(cause),
      audience: event.audience ?? cause?.audience ?? null,
      cause: cause?.seq ?? null,
      depth: cause === undefined ? 0 : cause.depth + 1 - event.returns,
      returned: cause === undefined ? 0 : cause.returned + event.returns,
    });
    const seq = Number(lastInsertRowid);
    changes.event(seq);
    return seq;
  };

  function placeKey(channel: string, found: Place, around: number | null, nowMs: number): number {
    const { id, account, place, topic, kind, name } = found;
    const known = findPlace.get(id);
    if (known === undefined) {
      const row = [id, channel, account, place, topic, kind, name, around, nowMs];
      return Number(insertPlace.run(...row).lastInsertRowid);
    }
    const now = { kind: kind ?? known.kind, name: name ?? known.name, parent: around ?? known.parent };
    if (now.kind !== known.kind || now.name !== known.name || now.parent !== known.parent)
      changePlace.run({ ...now, key: known.key, opens: Number(!isRoom(known.kind) && isRoom(now.kind)) });
    return known.key;
  }
}

/** While nobody has said so, a place is none: what was said there is shown to fewer. */
function isRoom(kind: string | null): boolean {
  return kind !== null && kind !== "dm";
}

type Place = EventInput["places"][number];

interface PlaceRow {
  readonly key: number;
  readonly kind: string | null;
  readonly name: string | null;
  readonly parent: number | null;
}
