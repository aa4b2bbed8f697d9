import type { Database } from "better-sqlite3";

import type { Counts } from "../store.ts";
import { HELD_SESSIONS } from "./lane.ts";
import { IS_TOLD } from "./read-queue.ts";
import { required } from "./row.ts";

interface CountsRow extends Omit<Counts, "deliveries"> {
  readonly delivery_pending: number;
  readonly delivery_sending: number;
  readonly delivery_unknown: number;
  readonly delivery_dead: number;
}

/**
 * Counts from indexes, all exact at one moment. Events are numbered from 1 without gaps and never deleted, so the
 * last number is their count. Turns and sessions are counted in an index, a few hundred pages for 100,000 of them.
 * The rest costs in proportion to open, suspended or dead work.
 */
export function prepareReadCounts(db: Database): { counts(): Counts } {
  const count = db.prepare<[], CountsRow>(
    `select (select coalesce(max(seq), 0) from event) as events,
       (select count(*) from turn) as turns,
       (select count(*) from session) as sessions,
       (select count(*) from item indexed by item_open where settled_ms is null and state = 'queued') as queued,
       (select count(*) from (${HELD_SESSIONS})) as running,
       (select count(*) from run where state = 'suspended') as suspended,
       (select count(*) from item i where i.state = 'dead' and not ${IS_TOLD}) as dead,
       d.pending as delivery_pending, d.sending as delivery_sending, d.unknown as delivery_unknown,
       (select count(*) from delivery where state = 'dead') as delivery_dead
     from (select count(*) filter (where state = 'pending') as pending,
                  count(*) filter (where state = 'sending') as sending,
                  count(*) filter (where state = 'unknown') as unknown
           from delivery indexed by delivery_due where settled_ms is null) d`,
  );
  const counts = (): Counts => {
    const { delivery_pending, delivery_sending, delivery_unknown, delivery_dead, ...rest } = required(
      count.get(),
    );
    const deliveries = {
      pending: delivery_pending,
      sending: delivery_sending,
      unknown: delivery_unknown,
      dead: delivery_dead,
    };
    return { ...rest, deliveries };
  };
  return { counts };
}
