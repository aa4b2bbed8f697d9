/** Dispatches of an event that wait for its other hooks. */
import type { Database } from "better-sqlite3";

import { SILENCED } from "./dispatch.ts";
import { oncePerDatabase } from "./once.ts";
import type { OperationTime } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { prepareWaiting } from "./waiting.ts";

interface AskedRow {
  readonly dispatch: number;
  readonly item: number;
  readonly session: number;
  readonly others: number;
}

export const prepareGathering = oncePerDatabase((db: Database) => {
  // Items of mode collect have their own window.
  const release = db
    .prepare<[{ event: number; nowMs: number }], number>(
      `update item set due_ms = @nowMs
       where event = @event and settled_ms is null and state = 'queued' and turn is null and mode <> 'collect'
         and due_ms > @nowMs
       returning session`,
    )
    .pluck();
  const findAsked = db.prepare<[number, string], AskedRow>(
    `select d.key as dispatch, i.key as item, i.session,
       (select count(*) from dispatch o
        where o.event = d.event and o.item = i.key and o.hook <> d.hook and o.outcome <> 'silenced') as others
     from dispatch d join item i on i.key = d.item
     where d.event = ? and d.hook = ? and d.outcome <> 'silenced' and i.state = 'queued' and i.turn is null`,
  );
  const silence = db.prepare("update dispatch set outcome = 'silenced' where key = ?");
  const postpone = db.prepare<[{ item: number; untilMs: number }]>(
    "update item set due_ms = @untilMs where key = @item and mode <> 'collect' and due_ms < @untilMs",
  );
  const waiting = prepareWaiting(db);
  const changes = prepareRecorder(db);

  return {
    /** All hooks have judged the event: its turn need not wait any longer. */
    end(event: number, { nowMs, wake }: OperationTime): void {
      const sessions = release.all({ event, nowMs });
      for (const session of sessions) waiting.refreshReady(session, nowMs);
      if (sessions.length > 0) wake("queue");
    },

    /** Postpones a hook's dispatch, unless a turn has started with it. */
    hold(
      event: number,
      hook: string,
      { forMs, nowMs }: { readonly forMs: number; readonly nowMs: number },
    ): void {
      const asked = findAsked.get(event, hook);
      if (asked === undefined) return;
      postpone.run({ item: asked.item, untilMs: nowMs + forMs });
      waiting.refreshReady(asked.session, nowMs);
    },

    /** Withdraws a hook's dispatch, unless a turn has started with it. */
    silence(event: number, hook: string, { nowMs, wake }: OperationTime): void {
      const asked = findAsked.get(event, hook);
      if (asked === undefined) return;
      silence.run(asked.dispatch);
      changes.dispatch(asked.dispatch);
      if (asked.others > 0) return;
      waiting.dropItem(asked.item, SILENCED, nowMs);
      waiting.refreshReady(asked.session, nowMs);
      wake("queue");
    },
  };
});
