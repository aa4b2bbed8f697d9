import type { Database } from "better-sqlite3";

import type { DelegationId, ItemId, TurnId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { Delegation, DelegationState, Listed, ListOptions } from "../store.ts";
import { checkPage, listPage } from "./page.ts";
import { parseJson, maybe } from "./row.ts";

interface DelegationRow {
  readonly key: number;
  readonly id: DelegationId;
  readonly caller: SessionKey;
  readonly caller_turn: TurnId;
  readonly ordinal: number;
  readonly session: SessionKey;
  readonly item: ItemId;
  readonly waits: number;
  readonly state: DelegationState;
  readonly turn: TurnId | null;
  readonly error: string | null;
  readonly deadline_ms: number | null;
  readonly detail: string | null;
  readonly started_ms: number;
  readonly ended_ms: number | null;
  readonly reported_ms: number | null;
}

const COLUMNS = `d.key, d.id, c.label as caller, r.turn_id as caller_turn, d.ordinal, s.label as session, i.id as item,
  d.waits, d.state, t.id as turn, d.error, d.deadline_ms, d.detail, d.started_ms, d.ended_ms, d.reported_ms`;

/** The fate of a retried dead letter is no outcome of the delegation. */
export const DELEGATION_TABLES = `delegation d join session c on c.key = d.caller join run r on r.key = d.caller_turn
  join session s on s.key = d.session join item i on i.key = d.item
  left join turn t on t.key = i.turn and i.state in ('done', 'merged') and d.state <> 'failed'`;

type Filter = ListOptions & {
  readonly caller?: SessionKey;
  readonly session?: SessionKey;
  readonly state?: DelegationState;
};

export function prepareReadDelegations(db: Database) {
  const find = db.prepare<[string], DelegationRow>(
    `select ${COLUMNS} from ${DELEGATION_TABLES} where d.id = ?`,
  );
  const findUnreported = db.prepare<[number], DelegationRow>(
    `select ${COLUMNS} from ${DELEGATION_TABLES}
     where d.ended_ms is not null and d.reported_ms is null and d.state <> 'cancelled'
     order by d.ended_ms, d.key limit ?`,
  );
  const findDeadline = db
    .prepare<[], number | null>(
      "select min(deadline_ms) from delegation where state = 'open' and deadline_ms is not null",
    )
    .pluck();
  return {
    get: (id: DelegationId): Delegation | undefined => maybe(find.get(id), toDelegation),
    list: (options: Filter = {}): Listed<Delegation> => {
      const { caller, session, state } = options;
      const list = prepareList(db, options);
      return listPage({
        name: "delegations",
        options,
        find: ([, key], limit) => list.all({ key, limit, caller, session, state }),
        place: ({ key }) => [0, key],
        toItem: toDelegation,
      });
    },
    unreported: ({ limit }: { limit?: number } = {}): Delegation[] =>
      findUnreported.all(checkPage(limit)).map(toDelegation),
    nextDeadlineMs: (): number | undefined => findDeadline.get() ?? undefined,
  };
}

/** The SQL names only the given conditions, so that SQLite finds their index. Open delegations are few. */
function prepareList(db: Database, { caller, session, state }: Filter) {
  const isOpen = state === "open";
  const tables = isOpen
    ? DELEGATION_TABLES.replace("delegation d", "delegation d indexed by delegation_open")
    : DELEGATION_TABLES;
  const conditions = [
    "d.key < @key",
    ...(caller === undefined ? [] : ["d.caller = (select key from session where label = @caller)"]),
    ...(session === undefined ? [] : ["d.session = (select key from session where label = @session)"]),
    ...(state === undefined ? [] : [isOpen ? "d.state = 'open'" : "d.state = @state"]),
  ];
  return db.prepare<[object], DelegationRow>(
    `select ${COLUMNS} from ${tables} where ${conditions.join(" and ")} order by d.key desc limit @limit`,
  );
}

function toDelegation(row: DelegationRow): Delegation {
  return {
    id: row.id,
    caller: row.caller,
    callerTurn: row.caller_turn,
    ordinal: row.ordinal,
    session: row.session,
    item: row.item,
    waits: row.waits === 1,
    state: row.state,
    turn: row.turn ?? undefined,
    error: row.error ?? undefined,
    deadlineMs: row.deadline_ms ?? undefined,
    detail: parseJson(row.detail),
    startedAtMs: row.started_ms,
    endedAtMs: row.ended_ms ?? undefined,
    reportedAtMs: row.reported_ms ?? undefined,
  };
}
