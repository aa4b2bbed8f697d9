import type { Database } from "better-sqlite3";

import { MAX_PULSE_RUNS, type Pulse, type RunPulse } from "../store.ts";
import { FIRST_KEY_OF_RUN, LAST_KEY_OF_RUN } from "./keys.ts";
import { required } from "./row.ts";
import { HELD_SESSIONS } from "./lane.ts";

interface WaitingRow {
  readonly sessions: number;
  readonly oldest: number | null;
}

/** Calls of one message run concurrently, and an early one may end last. */
const CALLS_LOOKED_AT = 16;

/** Late work, from the indexes of open work. Costs in proportion to waiting and running work. */
export function prepareReadPulse(db: Database): { pulse(nowMs: number): Pulse } {
  const findWaiting = db.prepare<[number], WaitingRow>(
    `select count(*) as sessions, min(w.since) as oldest
     from (select session, min(max(queued_ms, due_ms)) as since from item indexed by item_open
           where settled_ms is null and state = 'queued' and due_ms <= ? group by session) w
       join session s on s.key = w.session left join run r on r.key = s.run
     where r.state is null or r.state <> 'suspended'`,
  );
  const findRuns = db.prepare<[number], RunPulse>(
    `select r.id as run, r.turn_id as turn, s.label as session,
       max(r.started_ms,
           coalesce((select at_ms from message where key between ${FIRST_KEY_OF_RUN} and ${LAST_KEY_OF_RUN}
                     order by key desc limit 1), 0),
           coalesce((select max(moved_ms)
                     from (select max(started_ms, coalesce(completed_ms, 0)) as moved_ms from tool_call
                           where key between ${FIRST_KEY_OF_RUN} and ${LAST_KEY_OF_RUN}
                           order by key desc limit ${CALLS_LOOKED_AT})), 0)) as movedAtMs
     from (${HELD_SESSIONS}) h join session s on s.key = h.key join run r on r.key = s.run
     order by movedAtMs, r.key limit ?`,
  );
  const findUnknown = db
    .prepare<[], number | null>(
      "select min(created_ms) from delivery indexed by delivery_due where settled_ms is null and state = 'unknown'",
    )
    .pluck();
  const findUnjudged = db
    .prepare<[], number>(
      "select received_ms from event where seq = (select event from unjudged order by event limit 1)",
    )
    .pluck();
  const pulse = (nowMs: number): Pulse => {
    const { sessions, oldest } = required(findWaiting.get(nowMs));
    return {
      sessionsWaiting: sessions,
      waitingSinceMs: oldest ?? undefined,
      runs: findRuns.all(MAX_PULSE_RUNS),
      unknownSinceMs: findUnknown.get() ?? undefined,
      unjudgedSinceMs: findUnjudged.get(),
    };
  };
  return { pulse };
}
