import type { Database } from "better-sqlite3";

import type { DispatchId, ItemId, TurnId } from "../../model/ids.ts";
import type { QueueMode } from "../../model/queue-mode.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { Principal } from "../../model/principal.ts";
import type {
  DispatchInput,
  ItemOutcome,
  ItemState,
  LeaseRequest,
  Listed,
  ListOptions,
  QueueItem,
} from "../store.ts";
import { prepareCountOthers, toLane } from "./lane.ts";
import { checkPage, listPage } from "./page.ts";
import { EVENT_COLUMNS, EVENT_TABLES, type EventRow, toEvent } from "./read-events.ts";
import { defined, parseJson, known, maybe } from "./row.ts";
import { sessionUnknown } from "./unknown.ts";

interface ItemRow extends EventRow {
  readonly item: ItemId;
  readonly itemKey: number;
  readonly eventSeq: number;
  readonly causeSeq: number | null;
  readonly session: SessionKey;
  readonly state: ItemState;
  readonly mode: QueueMode;
  readonly dueMs: number;
  readonly queuedAtMs: number;
}

interface TurnRow {
  readonly turn: number;
  readonly session: number;
  readonly source: number | null;
}

interface DispatchRow {
  readonly id: DispatchId;
  readonly hook: string;
  readonly message: string | null;
  readonly context: string | null;
  readonly permissions: string | null;
  readonly profile: string | null;
  readonly delivery: string | null;
}

const ITEM_COLUMNS = `i.id as item, i.key as itemKey, i.event as eventSeq, e.cause as causeSeq, s.label as session, i.state,
  i.mode, i.due_ms as dueMs, i.queued_ms as queuedAtMs, ${EVENT_COLUMNS}`;

const ITEM_TABLES = `join session s on s.key = i.session join ${EVENT_TABLES.replace("event e", "event e on e.seq = i.event")}`;

const SELECT_ITEMS = `select ${ITEM_COLUMNS} from item i ${ITEM_TABLES}`;

const IS_PENDING = "i.session = ? and i.settled_ms is null and i.state = 'queued'";

/** Each arm has an index that holds only rare or open items; the items of a turn need no large one. */
const ITEMS_OF_TURN = `select key from item where event = @source and session = @session
  union all select key from item where session = @session and settled_ms is null and turn = @turn
  union all select key from item where turn = @turn and state = 'merged'
  union all select key from item where turn = @turn and state = 'dead'`;

/** The last run of the turn that an item is part of. `i` is the item. */
export const LAST_RUN = `(select max(b.key) from run a join run b on b.turn_id = a.turn_id
  where a.key = i.turn and b.state <> 'completed')`;

/** An item whose caller is told how it ended: its failure is no dead letter. `i` is the item. */
export const IS_TOLD = "exists (select 1 from delegation d where d.item = i.key)";

export function prepareReadQueue(db: Database) {
  const sql = prepareStatements(db);
  const countOthers = prepareCountOthers(db);

  return {
    pending: (session: SessionKey, { limit }: { limit?: number } = {}): QueueItem[] =>
      sql.pending.all(keyOf(session), checkPage(limit)).map(toItem),
    list(options: ListOptions & { session?: SessionKey } = {}): Listed<QueueItem> {
      const session = options.session === undefined ? undefined : keyOf(options.session);
      return listPage({
        name: "queue",
        options,
        find: ([, key], limit) =>
          session === undefined ? sql.page.all(key, limit) : sql.sessionPage.all(session, key, limit),
        place: (row) => [0, row.itemKey],
        toItem,
      });
    },
    unseenDrops: (
      session: SessionKey,
      { limit, principal }: { limit?: number; principal?: Principal } = {},
    ): QueueItem[] => {
      const of = principal === undefined ? { isAny: 1, lane: null } : { isAny: 0, lane: toLane(principal) };
      return sql.unseen.all({ session: keyOf(session), limit: checkPage(limit), ...of }).map(toItem);
    },
    nextReadyMs: ({ holder, others }: Partial<LeaseRequest> = {}): number | undefined => {
      const isFull = holder !== undefined && others !== undefined && countOthers(holder) >= others;
      const ofOthers = isFull ? null : sql.nextReadyOfOthers.get();
      const next = Math.min(sql.nextReady.get() ?? Infinity, ofOthers ?? Infinity);
      return next === Infinity ? undefined : next;
    },
    item: (id: ItemId): QueueItem | undefined => maybe(sql.item.get(id), toItem),
    outcome: (id: ItemId): ItemOutcome | undefined => maybe(sql.outcome.get(id), toOutcome),
    itemsOf(id: TurnId): QueueItem[] {
      const turn = sql.turn.get(id, id);
      return turn === undefined ? [] : sql.itemsOfTurn.all(turn).map(toItem);
    },
  };

  function keyOf(session: SessionKey): number {
    return known(sql.session.get(session), sessionUnknown, session);
  }

  function toItem(row: ItemRow): QueueItem {
    const { item, session, state, mode, dueMs, queuedAtMs } = row;
    return {
      id: item,
      session,
      state,
      mode,
      dueMs,
      queuedAtMs,
      event: toEvent(row),
      dispatches: sql.dispatches.all(row.eventSeq, row.causeSeq, row.itemKey).map(toDispatch),
    };
  }
}

function prepareStatements(db: Database) {
  return {
    session: db.prepare<[string], number>("select key from session where label = ?").pluck(),
    item: db.prepare<[string], ItemRow>(`${SELECT_ITEMS} where i.id = ?`),
    outcome: db.prepare<[string], OutcomeRow>(
      `select i.state, s.label as session, r.turn_id as turn, i.policy, i.settled_ms as settled,
              iif(i.state = 'dead', (select error from run where key = ${LAST_RUN}), null) as error,
              (select c.label from delegation d join session c on c.key = d.caller
                where d.item = i.key order by d.key desc limit 1) as caller
       from item i join session s on s.key = i.session left join run r on r.key = i.turn where i.id = ?`,
    ),
    pending: db.prepare<[number, number], ItemRow>(
      `${SELECT_ITEMS} where ${IS_PENDING} order by i.key limit ?`,
    ),
    sessionPage: db.prepare<[number, number, number], ItemRow>(
      `${SELECT_ITEMS} where ${IS_PENDING} and i.key < ? order by i.key desc limit ?`,
    ),
    // The index of open items is small; the order of keys would lead through all that are settled.
    page: db.prepare<[number, number], ItemRow>(
      `select ${ITEM_COLUMNS}
       from (select key from item indexed by item_open where settled_ms is null and state = 'queued' and +key < ?
             order by +key desc limit ?) w
         join item i on i.key = w.key ${ITEM_TABLES} order by i.key desc`,
    ),
    unseen: db.prepare<[{ session: number; limit: number; isAny: number; lane: string | null }], ItemRow>(
      `select ${ITEM_COLUMNS}
       from (select key from item indexed by item_unseen
             where session = @session and state = 'dropped' and policy = 'summarize' and turn is null
               and (@isAny or lane is @lane
                 or exists (select 1 from event e where e.seq = item.event and e.direction in ('observed', 'deleted')))
             order by key limit @limit) w
         join item i on i.key = w.key ${ITEM_TABLES} order by i.key`,
    ),
    // Skips held sessions, which are as many as there are runs.
    nextReady: db
      .prepare<[], number>(
        `select ready_ms from session indexed by session_ready
         where ready_ms is not null and lane is null and holder is null order by ready_ms limit 1`,
      )
      .pluck(),
    nextReadyOfOthers: db
      .prepare<[], number | null>(
        `select min(ready_ms) from session indexed by session_others
         where ready_ms is not null and lane is not null and holder is null`,
      )
      .pluck(),
    turn: db.prepare<[string, string], TurnRow>(
      `select key as turn, session, source from turn where id = ?
       union all select turn, session, null from run where turn_id = ? and state <> 'completed' limit 1`,
    ),
    itemsOfTurn: db.prepare<[TurnRow], ItemRow>(
      `${SELECT_ITEMS} where i.key in (${ITEMS_OF_TURN}) order by i.key`,
    ),
    // A hook's late text is an event of its own, caused by the event that the hook judged.
    dispatches: db.prepare<[number, number | null, number], DispatchRow>(
      `select id, hook, message, context, permissions, profile, delivery from dispatch
       where event in (?, ?) and item = ? and outcome not in ('merged', 'silenced') order by hook`,
    ),
  };
}

interface OutcomeRow {
  readonly state: ItemState;
  readonly session: SessionKey;
  readonly turn: TurnId | null;
  readonly policy: string | null;
  readonly settled: number | null;
  readonly error: string | null;
  readonly caller: SessionKey | null;
}

/** A dropped item keeps its turn: the one that was told of the drop, or the failed one of a dead letter. */
function toOutcome({ state, session, turn, policy, settled, error, caller }: OutcomeRow): ItemOutcome {
  const known = turn ?? undefined;
  return {
    state,
    session,
    turn: state === "dropped" ? undefined : known,
    policy: policy ?? undefined,
    error: error ?? undefined,
    caller: caller ?? undefined,
    formerTurn: state === "dropped" ? known : undefined,
    settledAtMs: settled ?? undefined,
  };
}

function toDispatch(row: DispatchRow): DispatchInput {
  const { id, hook, message, profile } = row;
  return {
    id,
    hook,
    ...defined({
      message,
      profile,
      context: parseJson(row.context),
      permissions: parseJson(row.permissions),
      delivery: parseJson(row.delivery),
    }),
  };
}
