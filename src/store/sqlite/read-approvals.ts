import type { Database } from "better-sqlite3";

import type { ApprovalId, RunId, TurnId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { Approval, ApprovalAnswer, ApprovalState, Listed, ListOptions } from "../store.ts";
import { NEVER_MS } from "./approval-requests.ts";
import { listPage } from "./page.ts";
import { json } from "./row.ts";

interface ApprovalRow {
  readonly key: number;
  readonly id: string;
  readonly kind: Approval["kind"];
  readonly call_hash: string;
  readonly request: string;
  readonly state: ApprovalState;
  readonly answer: string | null;
  readonly expires_ms: number;
  readonly asked_ms: number;
  readonly answered_ms: number | null;
  readonly session: string;
  readonly turn: string;
  readonly run: string;
}

const COLUMNS = `a.key, a.id, a.kind, a.call_hash, a.request, a.state, a.answer, a.expires_ms, a.asked_ms,
  a.answered_ms, s.label as session, r.turn_id as turn, r.id as run`;

const TABLES = "approval a join run r on r.key = a.run join session s on s.key = r.session";

type Filter = ListOptions & { readonly state?: ApprovalState; readonly session?: SessionKey };

export function prepareReadApprovals(db: Database) {
  const find = db.prepare<[string], ApprovalRow>(`select ${COLUMNS} from ${TABLES} where a.id = ?`);
  // There are as many as people were asked: few enough to be looked through, but for those that are open, which
  // have an index.
  const list = db.prepare<[FilterValues], ApprovalRow>(
    `select ${COLUMNS} from ${TABLES}
     where a.key < @key and (@state is null or a.state = @state) and (@session is null or s.label = @session)
     order by a.key desc limit @limit`,
  );
  const listOpen = db.prepare<[FilterValues], ApprovalRow>(
    `select ${COLUMNS} from ${TABLES.replace("approval a", "approval a indexed by approval_open")}
     where a.state = 'open' and a.key < @key and (@session is null or s.label = @session)
     order by a.key desc limit @limit`,
  );
  const nextExpiry = db
    .prepare<[number], number | null>(
      "select min(expires_ms) from approval where state = 'open' and expires_ms < ?",
    )
    .pluck();
  return {
    get: (id: ApprovalId): Approval | undefined => {
      const row = find.get(id);
      return row === undefined ? undefined : toApproval(row);
    },
    list: (options: Filter = {}): Listed<Approval> => {
      const { state = null, session = null } = options;
      return listPage({
        name: "approvals",
        options,
        find: ([, key], limit) =>
          state === "open"
            ? listOpen.all({ key, limit, state, session })
            : list.all({ key, limit, state, session }),
        place: ({ key }) => [0, key],
        toItem: toApproval,
      });
    },
    nextExpiryMs: (): number | undefined => nextExpiry.get(NEVER_MS) ?? undefined,
  };
}

interface FilterValues {
  readonly key: number;
  readonly limit: number;
  readonly state: string | null;
  readonly session: string | null;
}

function toApproval(row: ApprovalRow): Approval {
  return {
    id: row.id as ApprovalId,
    kind: row.kind,
    callHash: row.call_hash,
    request: JSON.parse(row.request) as Json,
    expiresAtMs: row.expires_ms === NEVER_MS ? undefined : row.expires_ms,
    session: row.session as SessionKey,
    turn: row.turn as TurnId,
    run: row.run as RunId,
    state: row.state,
    answer: json(row.answer) as ApprovalAnswer | undefined,
    askedAtMs: row.asked_ms,
    answeredAtMs: row.answered_ms ?? undefined,
  };
}
