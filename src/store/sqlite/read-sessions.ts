import type { Database } from "better-sqlite3";

import type { AgentId, PersonaId, RunId, TurnId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { StoredSession } from "../store.ts";

interface SessionRow {
  readonly label: string;
  readonly agent: string;
  readonly persona: string;
  readonly head: string | null;
  readonly queued: number;
  readonly run: string | null;
  readonly holder: string | null;
  readonly created_ms: number;
  readonly used_ms: number;
}

const COLUMNS = `s.label, s.agent, s.persona, t.id as head, r.id as run, s.holder, s.created_ms, s.used_ms,
  (select count(*) from item i where i.session = s.key and i.settled_ms is null and i.state = 'queued') as queued`;

const TABLES = "session s left join turn t on t.key = s.head left join run r on r.key = s.run";

export function prepareReadSessions(db: Database) {
  const find = db.prepare<[string], SessionRow>(`select ${COLUMNS} from ${TABLES} where s.label = ?`);
  const list = db.prepare<[number, number], SessionRow>(
    `select ${COLUMNS} from ${TABLES} order by s.used_ms desc, s.key desc limit ? offset ?`,
  );
  const findHead = db.prepare<[string], { head: string | null }>(
    "select t.id as head from session s left join turn t on t.key = s.head where s.label = ?",
  );
  return {
    head: (session: SessionKey): { head: TurnId | undefined } | undefined => {
      const row = findHead.get(session);
      return row === undefined ? undefined : { head: (row.head ?? undefined) as TurnId | undefined };
    },
    get: (session: SessionKey): StoredSession | undefined => {
      const row = find.get(session);
      return row === undefined ? undefined : toSession(row);
    },
    list: (limit: number, offset: number): StoredSession[] => list.all(limit, offset).map(toSession),
  };
}

function toSession(row: SessionRow): StoredSession {
  return {
    key: row.label as SessionKey,
    agent: row.agent as AgentId,
    persona: row.persona as PersonaId,
    head: (row.head ?? undefined) as TurnId | undefined,
    queued: row.queued,
    run: (row.run ?? undefined) as RunId | undefined,
    holder: row.holder ?? undefined,
    createdAtMs: row.created_ms,
    usedAtMs: row.used_ms,
  };
}
