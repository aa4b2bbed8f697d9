import type { Database } from "better-sqlite3";

import {
  type ApprovalId,
  DEFAULT_ACCOUNT,
  type DeliveryId,
  type RunId,
  type TurnId,
} from "../../model/ids.ts";
import type { Principal } from "../../model/principal.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type {
  Approval,
  ApprovalAnswer,
  ApprovalState,
  DeliveryTarget,
  Listed,
  ListOptions,
} from "../store.ts";
import { NEVER_MS } from "./approval-requests.ts";
import { toLane } from "./lane.ts";
import { listPage } from "./page.ts";
import { parseJson, maybe, required } from "./row.ts";

interface ApprovalRow {
  readonly key: number;
  readonly id: ApprovalId;
  readonly kind: Approval["kind"];
  readonly call_hash: string;
  readonly request: string;
  readonly state: ApprovalState;
  readonly answer: string | null;
  readonly expires_ms: number;
  readonly asked_ms: number;
  readonly answered_ms: number | null;
  readonly session: SessionKey;
  readonly chat: SessionKey | null;
  readonly notice: DeliveryId | null;
  readonly turn: TurnId;
  readonly run: RunId;
}

const COLUMNS = `a.key, a.id, a.kind, a.call_hash, a.request, a.state, a.answer, a.expires_ms, a.asked_ms,
  a.answered_ms, s.label as session, a.chat, a.notice, r.turn_id as turn, r.id as run`;

const TABLES = "approval a join run r on r.key = a.run join session s on s.key = r.session";

const IN_PLACE = "d.channel = @channel and d.account = @account and d.place = @place";
const IN_SESSION = "(@session is null or s.label = @session or a.chat = @session)";

type Filter = ListOptions & { readonly state?: ApprovalState; readonly session?: SessionKey };

export function prepareReadApprovals(db: Database) {
  const find = db.prepare<[string], ApprovalRow>(`select ${COLUMNS} from ${TABLES} where a.id = ?`);
  // Requests are few enough to scan; open ones have an index.
  const list = db.prepare<[FilterValues], ApprovalRow>(
    `select ${COLUMNS} from ${TABLES}
     where a.key < @key and (@state is null or a.state = @state) and ${IN_SESSION}
     order by a.key desc limit @limit`,
  );
  const listOpen = db.prepare<[FilterValues], ApprovalRow>(
    `select ${COLUMNS} from ${TABLES.replace("approval a", "approval a indexed by approval_open")}
     where a.state = 'open' and a.key < @key and ${IN_SESSION}
     order by a.key desc limit @limit`,
  );
  const findOpenIn = db.prepare<[PlaceValues], ApprovalRow>(
    `select ${COLUMNS} from ${TABLES.replace("approval a", "approval a indexed by approval_open")}
       join delivery d on d.id = a.notice
     where a.state = 'open' and ${IN_PLACE} and d.topic is @topic order by a.key desc`,
  );
  const findToldBy = db.prepare<[PlaceValues & { readonly message: string }], ApprovalRow>(
    `select ${COLUMNS} from ${TABLES} join delivery d on d.id = a.notice
     where ${IN_PLACE} and (d.id = @message
       or exists (select 1 from chunk p where p.delivery = d.key and p.platform_id = @message))
     order by a.key desc limit 1`,
  );
  const nextExpiry = db
    .prepare<[number], number | null>(
      "select min(expires_ms) from approval where state = 'open' and expires_ms < ?",
    )
    .pluck();
  const countOpen = db
    .prepare<[string | null, string | null], number>(
      `select count(*) from approval a indexed by approval_run join run r on r.key = a.run
       where a.state = 'open' and r.lane is ? and r.turn_id is not ?`,
    )
    .pluck();
  return {
    get: (id: ApprovalId): Approval | undefined => maybe(find.get(id), toApproval),
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
    openIn: (place: DeliveryTarget): Approval[] => findOpenIn.all(placeValues(place)).map(toApproval),
    toldBy: (place: DeliveryTarget, message: string): Approval | undefined =>
      maybe(findToldBy.get({ ...placeValues(place), message }), toApproval),
    countOpen: (principal: Principal, besides?: TurnId): number =>
      required(countOpen.get(toLane(principal), besides ?? null)),
    nextExpiryMs: (): number | undefined => nextExpiry.get(NEVER_MS) ?? undefined,
  };
}

interface FilterValues {
  readonly key: number;
  readonly limit: number;
  readonly state: string | null;
  readonly session: string | null;
}

interface PlaceValues {
  readonly channel: string;
  readonly account: string;
  readonly place: string;
  readonly topic: string | null;
}

function placeValues({ channel, account, place, topic }: DeliveryTarget): PlaceValues {
  return { channel, account: account ?? DEFAULT_ACCOUNT, place, topic: topic ?? null };
}

function toApproval(row: ApprovalRow): Approval {
  return {
    id: row.id,
    kind: row.kind,
    callHash: row.call_hash,
    request: parseJson(row.request),
    expiresAtMs: row.expires_ms === NEVER_MS ? undefined : row.expires_ms,
    session: row.session,
    chat: row.chat ?? row.session,
    notice: row.notice ?? undefined,
    turn: row.turn,
    run: row.run,
    state: row.state,
    answer: parseJson(row.answer) as ApprovalAnswer | undefined,
    askedAtMs: row.asked_ms,
    answeredAtMs: row.answered_ms ?? undefined,
  };
}
