/** What waits in a session, and from when on the session is ready for it. */
import type { Database } from "better-sqlite3";

import { MAX_QUIET_WINDOWS } from "../store.ts";
import { oncePerDatabase } from "./once.ts";
import { prepareRecorder } from "./record-changes.ts";

export const prepareWaiting = oncePerDatabase((db: Database) => {
  const drop = db.prepare(
    "update item set state = 'dropped', policy = ?, settled_ms = ?, turn = null where key = ?",
  );
  const move = db.prepare<[{ session: number; dueMs: number; longestMs: number }]>(
    `update item set due_ms = min(@dueMs, queued_ms + @longestMs)
     where session = @session and settled_ms is null and state = 'queued' and mode = 'collect' and turn is null
       and due_ms <> min(@dueMs, queued_ms + @longestMs)`,
  );
  const refresh = db.prepare<[{ session: number; nowMs: number }]>(
    `update session set ready_ms = (
       select iif(min(i.due_ms) <= @nowMs, min(coalesce(session.ready_ms, @nowMs), @nowMs), min(i.due_ms))
       from item i where i.session = session.key and i.settled_ms is null and i.state = 'queued')
     where key = @session and run is null`,
  );
  const changes = prepareRecorder(db);

  return {
    dropItem(key: number, policy: string, nowMs: number): void {
      drop.run(policy, nowMs, key);
      changes.item(key, "dropped");
    },

    /**
     * Begins the quiet window of a session anew, for what it has collected so far. A turn that is to be
     * tried again has its messages together and does not wait for more. True: something was moved.
     */
    moveCollected(session: number, dueMs: number, nowMs: number): boolean {
      const longestMs = MAX_QUIET_WINDOWS * (dueMs - nowMs);
      return move.run({ session, dueMs, longestMs }).changes > 0;
    },

    /**
     * Sets anew when a session that nobody works on is ready, after its queue has changed. One that is
     * ready already keeps its place among those that wait: a message that pushes another out must not
     * send its session to the end of the line.
     */
    refreshReady(session: number, nowMs: number): void {
      refresh.run({ session, nowMs });
    },
  };
});
