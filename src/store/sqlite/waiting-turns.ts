/** Turns that are suspended until their delegated work has ended. */
import type { Database } from "better-sqlite3";

import { oncePerDatabase } from "./once.ts";
import type { OperationTime } from "./operation.ts";
import { prepareSessionRun } from "./session-run.ts";

export const prepareWaitingTurns = oncePerDatabase((db: Database) => {
  // A call with a result no longer waits.
  const readTold = db
    .prepare<[{ turn: number }], number | null>(
      `select min(g.told) from (
         select caller_turn, ordinal, state = 'cancelled' or reported_ms is not null as told
         from delegation where caller_turn = @turn and waits = 1
         union all
         select caller_turn, ordinal, ended_ms is not null from relay where caller_turn = @turn) g
       left join tool_call c on c.key = g.caller_turn * 65536 + g.ordinal
       where coalesce(c.status, 'started') = 'started'`,
    )
    .pluck();
  const findRun = db.prepare<[number], number | null>("select run from session where key = ?").pluck();
  const runs = prepareSessionRun(db);

  /** Whether a turn waits for work, and all of it has ended. */
  function isTold(turn: number): boolean {
    return readTold.get({ turn }) === 1;
  }

  return {
    isTold,

    /** Makes a session's run ready if it is suspended until its delegated work ends. A working run finds out itself. */
    wakeIfTold(session: number, turn: number, { nowMs, wake }: OperationTime): void {
      const run = findRun.get(session) ?? null;
      if (run === null || !isTold(turn)) return;
      const current = runs.findByKey(run);
      if (current.turn !== turn || current.state !== "suspended") return;
      runs.wake(current, nowMs);
      wake("queue");
    },
  };
});
