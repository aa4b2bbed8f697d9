/** Requests of a run to a person: asking, and withdrawing requests that need no decision any more. */
import type { Database } from "better-sqlite3";

import type { Held } from "./held.ts";
import { type DeliveryInput, deliveryCodec, prepareInsertDeliveries } from "./insert-delivery.ts";
import { oncePerDatabase } from "./once.ts";
import { type OperationTime, Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { required } from "./row.ts";
import { prepareShowDecision } from "./show-decision.ts";
import { type Decoded, json, list, number, optional, record, text } from "./wire.ts";

/** The latest time a date can hold, for requests that do not expire. */
export const NEVER_MS = 8_640_000_000_000_000;

export const requestCodec = record({
  id: text,
  kind: text,
  callHash: text,
  request: json,
  expiresMs: number,
  notice: optional(deliveryCodec),
  replaces: optional(text),
});

/** What is sent once a person approves it. */
export const heldCodec = record({
  request: requestCodec,
  deliveries: list(deliveryCodec),
  refused: list(deliveryCodec),
});

type RequestInput = Decoded<typeof requestCodec>;

/** What is sent once a person has decided about an answer. */
export interface HeldDeliveries {
  /** That of the answer. */
  readonly message: number | null;
  readonly approved: readonly DeliveryInput[];
  readonly refused: readonly DeliveryInput[];
}

export const prepareRequests = oncePerDatabase((db: Database) => {
  const insert = db.prepare(
    `insert into approval (id, run, kind, call_hash, request, state, expires_ms, asked_ms, chat, notice, held)
     values (@id, @run, @kind, @callHash, @request, 'open', @expiresMs, @nowMs, @chat, @notice, @held)`,
  );
  const findChat = prepareChatOf(db);
  const insertDeliveries = prepareInsertDeliveries(db);
  const find = db.prepare<[string], { turn: number; state: string }>(
    "select r.turn, a.state from approval a join run r on r.key = a.run where a.id = ?",
  );
  const replace = db
    .prepare<[string, number], number>(
      `update approval set state = 'void'
       where id = ? and state in ('open', 'approved') and run in (select key from run where turn = ?)
       returning key`,
    )
    .pluck();
  // An earlier attempt at the turn may have asked. This index lacks only runs that completed a turn.
  const takeBack = db
    .prepare<[string], number>(
      `update approval set state = 'void'
       where state = 'open' and run in (select key from run where turn_id = ? and state <> 'completed')
       returning key`,
    )
    .pluck();
  const changes = prepareRecorder(db);
  const showDecision = prepareShowDecision(db);

  return {
    /** Asks those that were not asked before. True: one is no longer open, so the run need not wait. */
    ask(
      requests: readonly RequestInput[],
      { key: session, run, turn }: Pick<Held, "key" | "run" | "turn">,
      moment: OperationTime,
    ): boolean | Refusal {
      const { nowMs, wake } = moment;
      let isDecided = false;
      const chat = requests.length === 0 ? null : findChat(session);
      for (const { notice, replaces, ...asked } of requests) {
        const { id } = asked;
        const before = find.get(id);
        if (before === undefined) {
          const { lastInsertRowid } = insert.run({
            ...asked,
            run,
            nowMs,
            chat,
            notice: notice?.id ?? null,
            held: null,
          });
          changes.approval(Number(lastInsertRowid), "open");
          if (replaces !== undefined)
            for (const key of replace.all(replaces, turn)) {
              changes.approval(key, "void");
              showDecision(key, { state: "void", isAskedAgain: true }, moment);
            }
          if (notice === undefined) continue;
          insertDeliveries([notice], { turn, message: null }, nowMs);
          wake("outbox");
        } else if (before.turn !== turn) return askedElsewhere(id);
        else isDecided ||= before.state !== "open";
      }
      return isDecided;
    },

    /** Asks whether an answer may be sent. Its turn is committed, so nothing waits for it but the deliveries. */
    hold(
      { id, kind, callHash, request, expiresMs }: RequestInput,
      held: HeldDeliveries,
      { key: session, run }: Pick<Held, "key" | "run">,
      { nowMs, wake }: OperationTime,
    ): void {
      const asked = { id, kind, callHash, request, expiresMs, chat: findChat(session), notice: null };
      const row = { ...asked, run, nowMs, held: JSON.stringify(held) };
      changes.approval(Number(insert.run(row).lastInsertRowid), "open");
      wake("runs");
    },

    /** Call it before the run is marked as completed. */
    takeBack(turn: string, moment: OperationTime): void {
      for (const key of takeBack.all(turn)) {
        changes.approval(key, "void");
        showDecision(key, { state: "void" }, moment);
      }
    },
  };
});

function askedElsewhere(id: string): Refusal {
  return new Refusal(
    "state_conflict",
    `Approval ${id} belongs to another turn`,
    "Use a new id for each request.",
  );
}

/** How far work is traced back to its origin: further than work can be delegated. */
const MAX_ORIGINS = 16;

/** The session at the origin of another's work: the one whose worker it is, or in which its relay was started. */
function prepareChatOf(db: Database): (session: number) => string | null {
  const find = db.prepare<[{ session: number; max: number }], { label: string; distance: number }>(
    `with recursive origin (label, distance) as (
       select label, 0 from session where key = @session
       union all
       select coalesce(
           (select p.label from session s join session p on p.key = s.parent_session where s.label = o.label),
           (select json_extract(r.detail, '$.session') from relay r
            where o.label >= 'thr:' and o.label < 'thr;' and r.id = substr(o.label, 5, 12))) as next,
         o.distance + 1
       from origin o where o.label is not null and o.distance < @max)
     select label, distance from origin where label is not null order by distance desc limit 1`,
  );
  return (session) => {
    const { label, distance } = required(find.get({ session, max: MAX_ORIGINS }));
    return distance === 0 ? null : label;
  };
}
