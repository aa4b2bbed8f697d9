import type { Database } from "better-sqlite3";

import type { ItemId, RelayId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { Listed, ListOptions, RelayState, StoredRelay, StoredRelayStep, Wait } from "../store.ts";
import { checkPage, listPage } from "./page.ts";
import { parseJson, maybe, required } from "./row.ts";

interface RelayRow {
  readonly key: number;
  readonly id: RelayId;
  readonly template: string | null;
  readonly state: RelayState;
  readonly version: number;
  readonly record: string;
  readonly detail: string | null;
  readonly config: string | null;
  readonly due_ms: number | null;
  readonly archived: number;
  readonly created_ms: number;
  readonly updated_ms: number;
  readonly ended_ms: number | null;
}

interface StepRow {
  readonly step: number;
  readonly slot: string;
  readonly record: string;
  readonly state: "running" | "ended";
  readonly item: ItemId | null;
  readonly session: SessionKey | null;
  readonly wait: Wait["kind"] | null;
  readonly started_ms: number;
  readonly ended_ms: number | null;
}

const COLUMNS = `key, id, template, state, version, record, detail, config, due_ms, archived, created_ms, updated_ms,
  ended_ms`;

type Filter = ListOptions & { readonly states?: readonly RelayState[]; readonly channel?: string };

export function prepareReadRelays(db: Database) {
  const find = db.prepare<[string], RelayRow>(`select ${COLUMNS} from relay where id = ?`);
  const findSteps = db.prepare<[string], StepRow>(
    `select p.step, p.slot, p.record, p.state, i.id as item, s.label as session,
            iif(p.state = 'running' and r.item = p.item and r.state = 'suspended', r.wait_kind, null) as wait,
            p.started_ms, p.ended_ms
     from relay_step p left join item i on i.key = p.item left join session s on s.key = i.session
       left join run r on r.key = s.run
     where p.relay = (select key from relay where id = ?) order by p.step`,
  );
  const findDue = db
    .prepare<[number], RelayId>("select id from relay where due_ms is not null order by due_ms, key limit ?")
    .pluck();
  const findOpen = db.prepare<[], number>("select 1 from relay where ended_ms is null limit 1").pluck();
  const findEnded = db.prepare<[number, number], RelayRow>(
    `select ${COLUMNS} from relay where ended_ms is not null and archived = 0 and ended_ms < ?
     order by ended_ms, key limit ?`,
  );
  const findConfig = db.prepare<[string], string>("select json from relay_config where hash = ?").pluck();
  const findSpent = db
    .prepare<[number], number>("select total(cost_usd) from relay_step where cost_usd > 0 and ended_ms >= ?")
    .pluck();
  return {
    get: (id: RelayId): StoredRelay | undefined => maybe(find.get(id), toRelay),
    list: (options: Filter = {}): Listed<StoredRelay> => {
      const { states, channel } = options;
      const list = prepareList(db, options);
      const given = { states: JSON.stringify(states ?? []), channel };
      return listPage({
        name: "relays",
        options,
        find: ([, key], limit) => list.all({ key, limit, ...given }),
        place: ({ key }) => [0, key],
        toItem: toRelay,
      });
    },
    steps: (id: RelayId): StoredRelayStep[] => findSteps.all(id).map(toStep),
    due: ({ limit }: { limit?: number } = {}): RelayId[] => findDue.all(checkPage(limit)),
    anyOpen: (): boolean => findOpen.get() !== undefined,
    endedBefore: (atMs: number, { limit }: { limit?: number } = {}): StoredRelay[] =>
      findEnded.all(atMs, checkPage(limit)).map(toRelay),
    config: (hash: string): string | undefined => findConfig.get(hash),
    spentUsd: (sinceMs: number): number => required(findSpent.get(sinceMs)),
  };
}

/** The SQL names only the given conditions, so that SQLite finds their index. */
function prepareList(db: Database, { states, channel }: Filter) {
  const conditions = [
    "key < @key",
    "archived = 0",
    ...(states === undefined ? [] : ["state in (select value from json_each(@states))"]),
    ...(channel === undefined ? [] : ["channel = @channel"]),
  ];
  return db.prepare<[object], RelayRow>(
    `select ${COLUMNS} from relay where ${conditions.join(" and ")} order by key desc limit @limit`,
  );
}

function toRelay(row: RelayRow): StoredRelay {
  return {
    id: row.id,
    template: row.template,
    state: row.state,
    version: row.version,
    record: parseJson(row.record),
    detail: parseJson(row.detail),
    configHash: row.config ?? undefined,
    isDue: row.due_ms !== null,
    isArchived: row.archived === 1,
    createdAtMs: row.created_ms,
    updatedAtMs: row.updated_ms,
    endedAtMs: row.ended_ms ?? undefined,
  };
}

function toStep(row: StepRow): StoredRelayStep {
  return {
    step: row.step,
    slot: row.slot,
    record: parseJson(row.record),
    state: row.state,
    item: row.item ?? undefined,
    session: row.session ?? undefined,
    wait: row.wait ?? undefined,
    startedAtMs: row.started_ms,
    endedAtMs: row.ended_ms ?? undefined,
  };
}
