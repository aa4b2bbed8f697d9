/** Talks that go on in another session than the one their place is in by the configuration. */
import type { Database } from "better-sqlite3";

import { DEFAULT_ACCOUNT, type EventId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { DeliveryTarget } from "../store.ts";
import { placeId } from "./place-id.ts";
import { type Decoded, record, textOf } from "./wire.ts";

export const moveCodec = record({ from: textOf<SessionKey>(), to: textOf<SessionKey>() });

/** The event that asks for it is its key, and says where and when. */
export function prepareMove(db: Database) {
  const insert = db.prepare(
    `insert into move (event, place, "from", "to")
     select seq, place, @from, @to from event where id = @event and place is not null`,
  );
  return (event: string, move: Decoded<typeof moveCodec>): void => void insert.run({ ...move, event });
}

export function prepareReadMoves(db: Database) {
  const find = db
    .prepare<[{ id: string; from: string; before: string | null }], SessionKey>(
      `select "to" from move
       where place = (select key from place where id = @id) and "from" = @from
         and event < coalesce((select seq from event where id = @before), 9e15)
       order by event desc limit 1`,
    )
    .pluck();
  return (
    { channel, account = DEFAULT_ACCOUNT, place, topic }: DeliveryTarget,
    from: SessionKey,
    before?: EventId,
  ): SessionKey | undefined => {
    const at = { channel, account, place, ...(topic === undefined ? {} : { topic }) };
    return find.get({ id: placeId(at), from, before: before ?? null });
  };
}
