/** The waiting items of a session, and when the session is ready for them. */
import type { Database } from "better-sqlite3";

import { MAX_QUIET_WINDOWS } from "../store.ts";
import type { Lane } from "./lane.ts";
import { oncePerDatabase } from "./once.ts";
import { prepareRecorder } from "./record-changes.ts";

/** Orders the waiting items of a session by when it has to be ready for them. Those of the owner come first. */
export const NEXT_FIRST = "i.lane is not null, i.due_ms, i.key";

export const prepareWaiting = oncePerDatabase((db: Database) => {
  const drop = db.prepare(
    "update item set state = 'dropped', policy = ?, settled_ms = ?, turn = null where key = ?",
  );
  const move = db.prepare<[{ session: number; lane: Lane; dueMs: number; longestMs: number }]>(
    `update item set due_ms = min(@dueMs, queued_ms + @longestMs)
     where session = @session and settled_ms is null and state = 'queued' and mode = 'collect' and turn is null
       and lane is @lane
       and due_ms <> min(@dueMs, queued_ms + @longestMs)`,
  );
  const refresh = db.prepare<[{ session: number; nowMs: number }]>(
    `update session set (lane, ready_ms) = (
       select i.lane, iif(i.due_ms <= @nowMs, min(coalesce(session.ready_ms, @nowMs), @nowMs), i.due_ms)
       from item i where i.session = session.key and i.settled_ms is null and i.state = 'queued'
       order by ${NEXT_FIRST} limit 1)
     where key = @session and run is null`,
  );
  const changes = prepareRecorder(db);

  return {
    dropItem(key: number, policy: string, nowMs: number): void {
      drop.run(policy, nowMs, key);
      changes.item(key, "dropped");
    },

    /**
     * Restarts the quiet window of a session for the items of a lane that were collected so far. A turn that waits for a retry has its
     * messages and does not wait for more. True: an item was moved.
     */
    moveCollected(
      queue: { readonly session: number; readonly lane: Lane },
      dueMs: number,
      nowMs: number,
    ): boolean {
      const longestMs = MAX_QUIET_WINDOWS * (dueMs - nowMs);
      return move.run({ ...queue, dueMs, longestMs }).changes > 0;
    },

    /**
     * Updates when an idle session is ready, after its queue changed. A session that is ready already keeps its place
     * in line: a message that displaces another must not send its session to the end.
     */
    refreshReady(session: number, nowMs: number): void {
      refresh.run({ session, nowMs });
    },
  };
});
