import type { Database } from "better-sqlite3";

import type { EventId } from "../../model/ids.ts";
import {
  HEALTH_RUNS,
  type HookHealth,
  type HookRun,
  type Listed,
  type ListOptions,
  type StoredHook,
  type Unjudged,
} from "../store.ts";
import { checkPage, listPage } from "./page.ts";
import { EVENT_COLUMNS, EVENT_TABLES, type EventRow, toEvent } from "./read-events.ts";
import { parseJson, known, maybe, required } from "./row.ts";
import { hookUnknown } from "./unknown.ts";

interface HookRow {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mode: StoredHook["mode"];
  readonly digest: string;
  readonly filter: string | null;
  readonly origin: StoredHook["origin"];
  readonly state: StoredHook["state"];
  readonly enabled: number;
  readonly present: number;
  readonly error: string | null;
  readonly failures: number;
  readonly opened_ms: number | null;
  readonly triggers: number;
  readonly triggered_ms: number | null;
  readonly last_ms: number | null;
  readonly created_ms: number;
}

const COLUMNS = `name, title, description, mode, digest, filter, origin, state, enabled, present,
  coalesce(load_error, run_error) as error, failures, opened_ms, triggers, triggered_ms,
  (select ended_ms from hook_run where hook = hook.key order by key desc limit 1) as last_ms, created_ms`;

interface RunRow {
  readonly key: number;
  readonly hook: string;
  readonly event: EventId;
  readonly fired: number;
  readonly exclusive: number;
  readonly result: string | null;
  readonly error: string | null;
  readonly llm_calls: number;
  readonly cost_usd: number | null;
  readonly started_ms: number;
  readonly ended_ms: number;
}

const RUNS = `select r.key, h.name as hook, e.id as event, r.fired, r.exclusive, r.result, r.error, r.llm_calls, r.cost_usd,
    r.started_ms, r.ended_ms
  from hook_run r join hook h on h.key = r.hook join event e on e.seq = r.event`;

export function prepareReadHooks(db: Database) {
  const list = db.prepare<[], HookRow>(`select ${COLUMNS} from hook order by name`);
  const find = db.prepare<[string], HookRow>(`select ${COLUMNS} from hook where name = ?`);
  const findKey = db.prepare<[string], number>("select key from hook where name = ?").pluck();
  const listRuns = db.prepare<[number, number, number], RunRow>(
    `${RUNS} where r.hook = ? and r.key < ? order by r.key desc limit ?`,
  );
  const findOfEvent = db.prepare<[string], RunRow>(
    `${RUNS} where r.event = (select seq from event where id = ?) order by h.name`,
  );
  const spent = db
    .prepare<[number], number>(
      "select coalesce(sum(cost_usd), 0) from hook_run where cost_usd > 0 and ended_ms >= ?",
    )
    .pluck();
  const readHealth = prepareHealth(db);
  return {
    list: (): StoredHook[] => list.all().map(toHook),
    get: (name: string): StoredHook | undefined => maybe(find.get(name), toHook),
    runs(name: string, options?: ListOptions): Listed<HookRun> {
      const hook = keyOf(name);
      return listPage({
        name: "hook_runs",
        options,
        find: ([, key], limit) => listRuns.all(hook, key, limit),
        place: ({ key }) => [0, key],
        toItem: toRun,
      });
    },
    ofEvent: (event: EventId): HookRun[] => findOfEvent.all(event).map(toRun),
    spentUsd: (sinceMs: number): number => required(spent.get(sinceMs)),
    health: (name: string): HookHealth => readHealth(keyOf(name)),
    unjudged: prepareReadUnjudged(db),
  };

  function keyOf(name: string): number {
    return known(findKey.get(name), hookUnknown, name);
  }
}

interface Outcome {
  readonly fired: number;
  readonly failed: number;
  readonly took: number;
}

function prepareHealth(db: Database): (hook: number) => HookHealth {
  const findOutcomes = db.prepare<[number], Outcome>(
    `select fired, error is not null as failed, ended_ms - started_ms as took
     from hook_run where hook = ? order by key desc limit ${HEALTH_RUNS}`,
  );
  const findFailures = db.prepare<[number], number>("select failures from hook where key = ?").pluck();
  return (hook) => {
    const outcomes = findOutcomes.all(hook);
    const times = outcomes.map(({ took }) => took).toSorted((a, b) => a - b);
    return {
      runs: outcomes.length,
      fired: outcomes.filter(({ fired }) => fired === 1).length,
      errors: outcomes.filter(({ failed }) => failed === 1).length,
      consecutiveErrors: required(findFailures.get(hook)),
      p95Ms: times[Math.ceil(times.length * 0.95) - 1],
    };
  };
}

interface UnjudgedRow extends EventRow {
  readonly seq: number;
}

function prepareReadUnjudged(db: Database) {
  const find = db.prepare<[number, number], UnjudgedRow>(
    `select e.seq, ${EVENT_COLUMNS}
     from (select event from unjudged where event > ? order by event limit ?) u
       join ${EVENT_TABLES.replace("event e", "event e on e.seq = u.event")} order by e.seq`,
  );
  const findAsked = db
    .prepare<[number], string>(
      "select h.name from hook_run r join hook h on h.key = r.hook where r.event = ? order by h.name",
    )
    .pluck();
  return ({ limit, after = 0 }: { limit?: number; after?: number } = {}): Unjudged[] =>
    find.all(after, checkPage(limit)).map(({ seq, ...event }) => ({
      place: seq,
      event: toEvent(event),
      asked: findAsked.all(seq),
    }));
}

function toHook(row: HookRow): StoredHook {
  return {
    name: row.name,
    title: row.title,
    description: row.description,
    mode: row.mode,
    digest: row.digest,
    filter: parseJson(row.filter),
    origin: row.origin,
    state: row.state,
    enabled: row.enabled === 1,
    present: row.present === 1,
    error: row.error ?? undefined,
    consecutiveErrors: row.failures,
    openedAtMs: row.opened_ms ?? undefined,
    triggers: row.triggers,
    triggeredAtMs: row.triggered_ms ?? undefined,
    lastRunAtMs: row.last_ms ?? undefined,
    createdAtMs: row.created_ms,
  };
}

function toRun(row: RunRow): HookRun {
  return {
    hook: row.hook,
    event: row.event,
    fired: row.fired === 1,
    exclusive: row.exclusive === 1,
    result: parseJson(row.result),
    error: row.error ?? undefined,
    llmCalls: row.llm_calls,
    costUsd: row.cost_usd,
    startedAtMs: row.started_ms,
    endedAtMs: row.ended_ms,
  };
}
