/**
 * Whose work something is. Runs of others share what the owner's leave, and each of the others has a lane of their own:
 * no one's messages displace those of another, or delay them for longer than a turn.
 */
import type { Database } from "better-sqlite3";

import { OWNER_PRINCIPAL, type Principal, principalBefore } from "../../model/principal.ts";
import { oncePerDatabase } from "./once.ts";
import { required } from "./row.ts";

/** The principal. Null: the owner, so that the indexes of the others' lanes hold nothing of theirs. */
export type Lane = Principal | null;

/** Whether a column of principals holds one of the others in terms of money: see `isOthers` of the model. */
export function isOthersSql(column: string): string {
  return `${column} <> 'owner' and ${column} not glob 'source:timer*'`;
}

interface EventRow {
  readonly id: string;
  readonly channel: string;
  readonly sender: string | null;
  readonly principal: Principal | null;
}

export const prepareLaneOf = oncePerDatabase((db: Database): ((event: number) => Lane) => {
  const find = db.prepare<[number], EventRow>(
    "select id, channel, sender, principal from event where seq = ?",
  );
  return (event) => {
    const row = required(find.get(event));
    return toLane(row.principal ?? principalBefore(row));
  };
});

export function toLane(principal: Principal): Lane {
  return principal === OWNER_PRINCIPAL ? null : principal;
}

/** The keys of all sessions that are held. */
export const HELD_SESSIONS = `select key from session indexed by session_ready
    where ready_ms is not null and lane is null and holder is not null
  union all select key from session indexed by session_others_held where holder is not null and lane is not null`;

/** Counts the sessions of others that a holder has. */
export function prepareCountOthers(db: Database): (holder: string) => number {
  const count = db
    .prepare<[string], number>(
      `select count(*) from session indexed by session_others_held
       where holder = ? and holder is not null and lane is not null`,
    )
    .pluck();
  return (holder) => required(count.get(holder));
}

/**
 * The next session of others that is ready: of the principal with the fewest runs, and of several, of the one served
 * least recently. The lanes are found one by one in their index, so that a long lane costs no more than a short one.
 */
export function prepareFindOthers(db: Database) {
  const count = prepareCountOthers(db);
  const find = db
    .prepare<[{ nowMs: number; holder: string; except: number }], number>(
      `with recursive waiting (lane) as (
         select min(lane) from session indexed by session_others where ready_ms is not null and lane is not null
         union all
         select (select min(lane) from session indexed by session_others
                 where ready_ms is not null and lane is not null and lane > w.lane)
         from waiting w where w.lane is not null
       ), ready as (
         select lane,
           (select key from session s indexed by session_others
            where s.lane = w.lane and s.lane is not null and s.ready_ms <= @nowMs
              and (s.holder is null or s.holder <> @holder) and s.key <> @except
            order by s.ready_ms, s.epoch limit 1) as key
         from waiting w where w.lane is not null
       )
       select r.key from ready r join session s on s.key = r.key
       order by (select count(*) from session h where h.holder is not null and h.lane = r.lane),
         (select served_run from lane_served l where l.lane = r.lane), s.ready_ms, s.epoch
       limit 1`,
    )
    .pluck();
  const note = db.prepare(
    `insert into lane_served (lane, served_run) values (?, ?)
     on conflict (lane) do update set served_run = excluded.served_run`,
  );
  return {
    /** Whether a holder may have another run of others. */
    hasRoom: ({ holder, others }: { readonly holder: string; readonly others: number | null }): boolean =>
      others === null || count(holder) < others,

    find: (nowMs: number, holder: string, except: number): number | undefined =>
      find.get({ nowMs, holder, except }),

    noteServed: (lane: Lane, run: number): void => {
      if (lane !== null) note.run(lane, run);
    },
  };
}
