/** Whether messages that interrupt a turn have ended it, and are answered by another. */
import type { Database } from "better-sqlite3";

import { list } from "../structure.ts";

interface Progress {
  readonly said: number;
  readonly called: number;
}

/** The turns that a death found interrupted, by their keys, with what they had done by then. */
export type Interrupted = Map<number, Progress>;

const PROGRESS = `(select count(*) from message m where m.key / 65536 = r.turn and m.role = 'assistant') as said,
  (select count(*) from tool_call c where c.key / 65536 = r.turn) as called`;

/**
 * The note that a run is to end is kept with the message that ends it. So the run has one, and if the server dies
 * before the run has ended, the next one must not go on with it.
 */
export function interruptions(db: Database, interrupted: Interrupted): string[] {
  const find = db.prepare<[number], Progress & { id: string; status: string }>(
    `select r.id, r.status, ${PROGRESS} from (select key as turn, id, status from turn) r where r.turn = ?`,
  );
  const wentOn = [...interrupted].flatMap(([key, { said, called }]) => {
    const turn = find.get(key);
    if (turn === undefined) return [];
    const { id, status } = turn;
    return status === "aborted" && turn.said === said && turn.called === called
      ? []
      : [`turn ${id} was interrupted before a crash, and went on after it`];
  });
  // The run of a compaction is for no message, and is not what a message interrupts.
  const missed = db.prepare<[], { item: string; run: string }>(
    `select i.id as item, r.id as run from item i join run r on r.session = i.session
     where i.mode = 'interrupt' and r.item is not null and r.abort is null and r.started_ms < i.queued_ms and r.ended_ms > i.queued_ms`,
  );
  noteInterrupted(db, interrupted);
  return [
    ...wentOn,
    ...missed.all().map(({ item, run }) => `run ${run} was not told to end by ${item}, which interrupts`),
    ...list(
      db,
      "message that was swallowed by a turn that it aborted, or that was aborted before it came",
      `select i.id || ' of ' || t.id from turn t join run r on r.key = t.run join item i on i.turn = t.key
       where t.status = 'aborted' and i.state in ('done', 'merged') and i.key >= r.abort_item`,
    ),
  ];
}

function noteInterrupted(db: Database, interrupted: Interrupted): void {
  const runs = db.prepare<[], Progress & { turn: number }>(
    `select r.turn, ${PROGRESS} from session s join run r on r.key = s.run
     where r.abort is not null and r.state in ('running', 'resumable')`,
  );
  for (const { turn, ...progress } of runs.all()) if (!interrupted.has(turn)) interrupted.set(turn, progress);
}
