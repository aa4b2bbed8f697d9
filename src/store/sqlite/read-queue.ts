import type { Database } from "better-sqlite3";

import type { DispatchId, EventId, ItemId, RunId, TurnId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import type { QueueMode } from "../../model/queue-mode.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type {
  DeadLetter,
  DispatchInput,
  ItemState,
  Journal,
  QueueItem,
  RunState,
  StoredRun,
  Wait,
} from "../store.ts";
import { prepareReadJournal } from "./commit-turn.ts";
import { EVENT_COLUMNS, EVENT_TABLES, type EventRow, toEvent } from "./read-events.ts";
import { toMessage, toToolCall } from "./read-turns.ts";
import { defined, json } from "./row.ts";

interface ItemRow extends EventRow {
  readonly item: string;
  readonly item_key: number;
  readonly event_seq: number;
  readonly session: string;
  readonly state: ItemState;
  readonly mode: QueueMode;
  readonly due_ms: number;
  readonly queued_ms: number;
}

interface DispatchRow {
  readonly id: string;
  readonly hook: string;
  readonly message: string | null;
  readonly context: string | null;
  readonly permissions: string | null;
  readonly profile: string | null;
  readonly delivery: string | null;
}

interface RunRow {
  readonly id: string;
  readonly turn_id: string;
  readonly session: string;
  readonly attempt: number;
  readonly state: RunState;
  readonly interruptions: number;
  readonly wait_id: string | null;
  readonly wait_kind: Wait["kind"] | null;
  readonly wait_detail: string | null;
  readonly abort: string | null;
  readonly error: string | null;
  readonly started_ms: number;
  readonly ended_ms: number | null;
}

const ITEM_COLUMNS = `i.id as item, i.key as item_key, i.event as event_seq, s.label as session, i.state, i.mode,
  i.due_ms, i.queued_ms, ${EVENT_COLUMNS}`;

const ITEM_TABLES = `join session s on s.key = i.session join ${EVENT_TABLES.replace("event e", "event e on e.seq = i.event")}`;

const RUN_COLUMNS = `r.id, r.turn_id, s.label as session, r.attempt, r.state, r.interruptions, r.wait_id, r.wait_kind, r.wait_detail,
  r.abort, r.error, r.started_ms, r.ended_ms`;

export function prepareReadQueue(db: Database) {
  const findSession = db.prepare<[string], number>("select 1 from session where label = ?").pluck();
  const findPending = db.prepare<[string, number, number], ItemRow>(
    `select ${ITEM_COLUMNS} from item i ${ITEM_TABLES}
     where i.session = (select key from session where label = ?) and i.settled_ms is null and i.state = 'queued'
     order by i.key limit ? offset ?`,
  );
  const findTurn = db.prepare<[string, string], { turn: number; session: number; source: number | null }>(
    `select key as turn, session, source from turn where id = ?
     union all select turn, session, null from run where turn_id = ? and state <> 'completed' limit 1`,
  );
  // Each arm has an index that holds only what is rare or open; the items of a turn need no large one.
  const findOfTurn = db.prepare<[{ turn: number; session: number; source: number | null }], ItemRow>(
    `select ${ITEM_COLUMNS} from item i ${ITEM_TABLES}
     where i.key in (select key from item where event = @source and session = @session
                     union all select key from item where session = @session and settled_ms is null and turn = @turn
                     union all select key from item where turn = @turn and state = 'merged'
                     union all select key from item where turn = @turn and state = 'dead')
     order by i.key`,
  );
  const findDispatches = db.prepare<[number, number], DispatchRow>(
    `select id, hook, message, context, permissions, profile, delivery from dispatch
     where event = ? and item = ? and outcome <> 'merged' order by hook`,
  );
  const findDead = db.prepare<[number, number], DeadRow>(
    `select i.id as item, r.turn_id as turn, s.label as session, e.id as event, r.error, r.attempt as attempts,
            i.settled_ms as died
     from item i join session s on s.key = i.session join event e on e.seq = i.event
       join run r on r.key = (select max(b.key) from run a join run b on b.turn_id = a.turn_id where a.key = i.turn and b.state <> 'completed')
     where i.state = 'dead' order by i.settled_ms desc, i.key desc limit ? offset ?`,
  );
  const findRun = db.prepare<[string], RunRow>(
    `select ${RUN_COLUMNS} from run r join session s on s.key = r.session where r.id = ?`,
  );
  const findActive = db.prepare<[number, number], RunRow>(
    `select ${RUN_COLUMNS} from session s join run r on r.key = s.run order by r.key limit ? offset ?`,
  );
  const findJournal = db.prepare<
    [string],
    Pick<RunRow, "wait_id" | "wait_kind" | "wait_detail"> & { turn: number; pinned: string | null }
  >("select turn, pinned, wait_id, wait_kind, wait_detail from run where id = ?");
  const readJournal = prepareReadJournal(db);

  return {
    hasSession: (session: SessionKey): boolean => findSession.get(session) !== undefined,
    pending: (session: SessionKey, limit: number, offset: number): QueueItem[] =>
      findPending.all(session, limit, offset).map(toItem),
    itemsOf(id: TurnId): QueueItem[] {
      const turn = findTurn.get(id, id);
      return turn === undefined ? [] : findOfTurn.all(turn).map(toItem);
    },
    dead: (limit: number, offset: number): DeadLetter[] => findDead.all(limit, offset).map(toDead),
    run: (id: RunId): StoredRun | undefined => {
      const row = findRun.get(id);
      return row === undefined ? undefined : toRun(row);
    },
    active: (limit: number, offset: number): StoredRun[] => findActive.all(limit, offset).map(toRun),
    journal(id: RunId): Journal | undefined {
      const run = findJournal.get(id);
      if (run === undefined) return undefined;
      const { messages, toolCalls } = readJournal(run.turn);
      return {
        messages: messages.map(toMessage),
        toolCalls: toolCalls.map(toToolCall),
        pinned: json(run.pinned),
        wait: toWait(run),
      };
    },
  };

  function toItem(row: ItemRow): QueueItem {
    return {
      id: row.item as ItemId,
      session: row.session as SessionKey,
      state: row.state,
      mode: row.mode,
      dueMs: row.due_ms,
      queuedAtMs: row.queued_ms,
      event: toEvent(row),
      dispatches: findDispatches.all(row.event_seq, row.item_key).map(toDispatch),
    };
  }
}

interface DeadRow {
  readonly item: string;
  readonly turn: string;
  readonly session: string;
  readonly event: string;
  readonly error: string;
  readonly attempts: number;
  readonly died: number;
}

function toDead(row: DeadRow): DeadLetter {
  return {
    item: row.item as ItemId,
    turn: row.turn as TurnId,
    session: row.session as SessionKey,
    event: row.event as EventId,
    error: row.error,
    attempts: row.attempts,
    diedAtMs: row.died,
  };
}

function toDispatch(row: DispatchRow): DispatchInput {
  const { id, hook, message, profile } = row;
  return {
    id: id as DispatchId,
    hook,
    ...defined({
      message,
      profile,
      context: json(row.context),
      permissions: json(row.permissions),
      delivery: json(row.delivery),
    }),
  };
}

function toRun(row: RunRow): StoredRun {
  return {
    id: row.id as RunId,
    turn: row.turn_id as TurnId,
    session: row.session as SessionKey,
    attempt: row.attempt,
    state: row.state,
    interruptions: row.interruptions,
    wait: toWait(row),
    abort: row.abort ?? undefined,
    error: row.error ?? undefined,
    startedAtMs: row.started_ms,
    endedAtMs: row.ended_ms ?? undefined,
  };
}

function toWait(row: Pick<RunRow, "wait_id" | "wait_kind" | "wait_detail">): Wait | undefined {
  if (row.wait_kind === null) return undefined;
  return { id: row.wait_id!, kind: row.wait_kind, detail: JSON.parse(row.wait_detail!) as Json };
}
