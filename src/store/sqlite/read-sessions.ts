import type { Database } from "better-sqlite3";

import type { AgentId, PersonaId, RunId, TurnId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { Listed, ListOptions, RunState, SessionState, Settings, StoredSession, Wait } from "../store.ts";
import { prepareReadOrigins } from "./label-origins.ts";
import { prepareReadMoves } from "./moves.ts";
import { checkPage, listPage } from "./page.ts";
import { parseJson, known, maybe } from "./row.ts";
import { sessionUnknown } from "./unknown.ts";

interface SessionRow {
  readonly key: number;
  readonly label: SessionKey;
  readonly agent: AgentId;
  readonly persona: PersonaId;
  readonly channel: string | null;
  readonly parent: SessionKey | null;
  readonly parent_turn: TurnId | null;
  readonly parent_call: string | null;
  readonly worker: string | null;
  readonly children: number;
  readonly settings: string | null;
  readonly head: TurnId | null;
  readonly model: string | null;
  readonly limit_reached: number;
  readonly turns: number;
  readonly messages: number;
  readonly queued: number;
  readonly run: RunId | null;
  readonly run_state: RunState | null;
  readonly wait_kind: Wait["kind"] | null;
  readonly calling: number;
  readonly compacting: number | null;
  readonly holder: string | null;
  readonly closed: number;
  readonly created_ms: number;
  readonly used_ms: number;
}

/** `thr:<relay>:<slot>` of a relay that has ended. A relay that is resumed gets its sessions back. */
const IS_CLOSED = `(s.label >= 'thr:' and s.label < 'thr;'
  and exists (select 1 from relay e where e.id = substr(s.label, 5, 12) and e.ended_ms is not null))`;

/** Whether the last message of the head turn, `t`, says so. */
const LIMIT_REACHED = `coalesce((select m.role = 'assistant' and m.body ->> 'stop' = 'limit' from message m
    where m.key between t.key * 65536 and t.key * 65536 + 65535 order by m.key desc limit 1), 0)`;

const COLUMNS = `s.key, s.label, s.agent, s.persona, s.channel, o.label as parent, s.parent_turn,
  s.parent_call, s.worker, (select count(*) from session c where c.parent_session = s.key) as children, s.settings, t.id as head, t.model, ${LIMIT_REACHED} as limit_reached,
  s.turns, s.messages, r.id as run,
  r.state as run_state, r.wait_kind, r.compacting_ms as compacting, s.holder, s.created_ms, s.used_ms, ${IS_CLOSED} as closed,
  (select count(*) from item i where i.session = s.key and i.settled_ms is null and i.state = 'queued') as queued,
  r.state = 'running' and exists (select 1 from tool_call c
    where c.key between r.turn * 65536 and r.turn * 65536 + 65535 and c.status = 'started') as calling`;

const TABLES = `session s left join turn t on t.key = s.head left join run r on r.key = s.run
  left join session o on o.key = s.parent_session`;

export function prepareReadSessions(db: Database) {
  const find = db.prepare<[string], SessionRow>(`select ${COLUMNS} from ${TABLES} where s.label = ?`);
  // Details are only read for sessions of the page; the others are compared by time of use.
  const prepareList = (condition: string) =>
    db.prepare<[number, number, number], SessionRow>(
      `select ${COLUMNS}
       from (select key from session s where (used_ms, key) < (?, ?) ${condition}
             order by used_ms desc, key desc limit ?) w
         join ${TABLES.replace("session s", "session s on s.key = w.key")}
       order by s.used_ms desc, s.key desc`,
    );
  const listAll = prepareList("");
  const listOpen = prepareList(`and not ${IS_CLOSED}`);
  const findChildren = db.prepare<[string, number], SessionRow>(
    `select ${COLUMNS} from ${TABLES}
     where s.parent_session = (select key from session where label = ?) order by s.key limit ?`,
  );
  const findAncestors = db.prepare<[string], SessionRow>(
    `with recursive ancestor (key, distance) as (
       select parent_session, 1 from session where label = ? and parent_session is not null
       union all select p.parent_session, a.distance + 1 from ancestor a join session p on p.key = a.key
         where p.parent_session is not null)
     select ${COLUMNS} from ancestor a join ${TABLES.replace("session s", "session s on s.key = a.key")}
     order by a.distance`,
  );
  const findHead = db.prepare<[string], { head: TurnId | null }>(
    "select t.id as head from session s left join turn t on t.key = s.head where s.label = ?",
  );
  return {
    head: (session: SessionKey): TurnId | undefined =>
      known(findHead.get(session), sessionUnknown, session).head ?? undefined,
    get: (session: SessionKey): StoredSession | undefined => maybe(find.get(session), toSession),
    list: (options: ListOptions & { readonly open?: boolean } = {}): Listed<StoredSession> =>
      listPage({
        name: "sessions",
        options,
        find: ([usedMs, key], limit) => (options.open === true ? listOpen : listAll).all(usedMs, key, limit),
        place: (row) => [row.used_ms, row.key],
        toItem: toSession,
      }),
    children: (session: SessionKey, { limit }: { limit?: number } = {}): StoredSession[] =>
      findChildren.all(session, checkPage(limit)).map(toSession),
    ancestors: (session: SessionKey): StoredSession[] => findAncestors.all(session).map(toSession),
    labelOrigins: prepareReadOrigins(db),
    movedTo: prepareReadMoves(db),
  };
}

function toSession(row: SessionRow): StoredSession {
  return {
    key: row.label,
    agent: row.agent,
    persona: row.persona,
    head: row.head ?? undefined,
    model: row.model ?? undefined,
    limitReached: row.limit_reached === 1,
    turnCount: row.turns,
    messageCount: row.messages,
    state: stateOf(row),
    isClosed: row.closed === 1,
    wait: row.run_state === "suspended" ? (row.wait_kind ?? undefined) : undefined,
    channel: row.channel ?? undefined,
    parentSession: row.parent ?? undefined,
    parentTurn: row.parent_turn ?? undefined,
    parentCall: row.parent_call ?? undefined,
    worker: parseJson(row.worker),
    children: row.children,
    settings: row.settings === null ? {} : (JSON.parse(row.settings) as Settings),
    queued: row.queued,
    run: row.run ?? undefined,
    holder: row.holder ?? undefined,
    createdAtMs: row.created_ms,
    usedAtMs: row.used_ms,
  };
}

/** A run without a holder waits to be claimed: after a crash, a release, an answer or a failure. */
function stateOf(row: SessionRow): SessionState {
  if (row.run === null) return row.queued > 0 ? "queued" : "idle";
  if (row.run_state === "suspended") return "suspended";
  if (row.holder === null) return "queued";
  if (row.compacting !== null) return "compacting";
  return row.calling === 1 ? "tool" : "streaming";
}
