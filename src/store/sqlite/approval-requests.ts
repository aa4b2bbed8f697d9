/** The requests of a run to a person: asking, and taking back what nobody has to decide any more. */
import type { Database } from "better-sqlite3";

import type { Held } from "./held.ts";
import { oncePerDatabase } from "./once.ts";
import { Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { type Decoded, json, number, record, text } from "./wire.ts";

/** The last moment that a date can hold: of a request that does not expire. */
export const NEVER_MS = 8_640_000_000_000_000;

export const requestCodec = record({
  id: text,
  kind: text,
  callHash: text,
  request: json,
  expiresMs: number,
});

type RequestInput = Decoded<typeof requestCodec>;

export const prepareRequests = oncePerDatabase((db: Database) => {
  const insert = db.prepare(
    `insert into approval (id, run, kind, call_hash, request, state, expires_ms, asked_ms)
     values (?, ?, ?, ?, ?, 'open', ?, ?)`,
  );
  const find = db.prepare<[string], { turn: number; state: string }>(
    "select r.turn, a.state from approval a join run r on r.key = a.run where a.id = ?",
  );
  // An earlier attempt at the turn may have asked. Only the one that completes a turn is not in this index.
  const takeBack = db
    .prepare<[string], number>(
      `update approval set state = 'void'
       where state = 'open' and run in (select key from run where turn_id = ? and state <> 'completed')
       returning key`,
    )
    .pluck();
  const changes = prepareRecorder(db);

  return {
    /** Asks what was not asked before. True: one of them is not open any more, so there is nothing to wait for. */
    ask(
      requests: readonly RequestInput[],
      { run, turn }: Pick<Held, "run" | "turn">,
      nowMs: number,
    ): boolean | Refusal {
      let isDecided = false;
      for (const { id, kind, callHash, request, expiresMs } of requests) {
        const before = find.get(id);
        if (before === undefined) {
          const { lastInsertRowid } = insert.run(id, run, kind, callHash, request, expiresMs, nowMs);
          changes.approval(Number(lastInsertRowid), "open");
        } else if (before.turn !== turn) return askedElsewhere(id);
        else isDecided ||= before.state !== "open";
      }
      return isDecided;
    },

    /** To be called before the run is noted as completed. */
    takeBack(turn: string): void {
      for (const key of takeBack.all(turn)) changes.approval(key, "void");
    },
  };
});

function askedElsewhere(id: string): Refusal {
  return new Refusal(
    "state_conflict",
    `Approval ${id} was asked for by another turn`,
    "Make a new id for each new request.",
  );
}
