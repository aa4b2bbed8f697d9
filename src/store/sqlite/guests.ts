/** Events of guests, who anybody can be: only so many are stored in a day. Others are counted. Days are those of UTC. */
import type { Database } from "better-sqlite3";

import { DAY_MS } from "../../model/durations.ts";
import { type Decoded, number, record, text } from "./wire.ts";

export const guestCodec = record({ guest: text, perDay: number, allPerDay: number });

type GuestInput = Decoded<typeof guestCodec>;

/** The row of all guests. */
const ALL = "";

/** Counts an event of a guest. False: it must not be stored. */
export function prepareCountGuest(db: Database): (guest: GuestInput, nowMs: number) => boolean {
  const find = db
    .prepare<[number, string], number>("select events - unkept from guest_day where day = ? and guest = ?")
    .pluck();
  const add = db.prepare(
    `insert into guest_day (day, guest, events, unkept) values (@day, @guest, 1, @unkept)
     on conflict (day, guest) do update set events = events + 1, unkept = unkept + @unkept`,
  );
  const forget = db.prepare("delete from guest_day where day < ?");
  return ({ guest, perDay, allPerDay }, nowMs) => {
    const day = Math.floor(nowMs / DAY_MS);
    const kept = find.get(day, ALL);
    if (kept === undefined) forget.run(day);
    const isFull = (kept ?? 0) >= allPerDay;
    const isKept = !isFull && (find.get(day, guest) ?? 0) < perDay;
    const unkept = Number(!isKept);
    add.run({ day, guest: ALL, unkept });
    // There may be any number of guests, so only those with an event in the ledger have a row of their own.
    if (isKept) add.run({ day, guest, unkept });
    return isKept;
  };
}
