/** Removes the text of old rows: see prunable.ts for which rows, and what stays. */
import type { Database } from "better-sqlite3";

import { ANSWER_ADAPTER } from "../../model/event.ts";
import { canonicalJson } from "../../model/json.ts";
import type { PruneKind } from "../store.ts";
import { firstKey, lastKey } from "./keys.ts";
import { operation } from "./operation.ts";
import { KEPT_TURNS, keptTurns, PRUNABLE, SAID_BY, USED_SINCE } from "./prunable.ts";
import { required } from "./row.ts";
import { number, record, text, textOrNull } from "./wire.ts";

interface Asked {
  readonly beforeMs: number;
  readonly after: number;
  readonly max: number;
  /** As JSON. Null: everybody. */
  readonly principals: string | null;
}

interface Pruner {
  /** Keys of prunable rows, in order, after a position. */
  readonly find: (asked: Asked, nowMs: number) => number[];
  readonly prune: (key: number, nowMs: number) => void;
}

/** One step. */
export const prune = operation(
  record({ kind: text, beforeMs: number, after: number, max: number, principals: textOrNull }),
  (db) => {
    const pruners: Readonly<Record<PruneKind, Pruner>> = {
      turns: pruneTurns(db),
      events: pruneEvents(db),
      deliveries: pruneDeliveries(db),
      approvals: pruneApprovals(db),
      relays: pruneRelays(db),
    };
    return ({ kind, ...asked }, { nowMs }): { pruned: number; next: number | null } => {
      const { find, prune } = pruners[kind as PruneKind];
      const keys = find(asked, nowMs);
      writingOver(db, () => keys.forEach((key) => prune(key, nowMs)));
      return { pruned: keys.length, next: keys.length < asked.max ? null : keys.at(-1)! };
    };
  },
);

/** Pages of the index that a step rewrites: a few milliseconds of the writer. */
const MERGED_PAGES = 64;

/**
 * The index only marks deleted rows, and their words remain readable until all segments of the index are merged into
 * one. This is done step by step; the first step starts it.
 */
export const forgetWords = operation(record({ isFirst: number }), (db) => {
  const merge = db.prepare("insert into search (search, rank) values ('merge', ?)");
  const countChanges = db.prepare<[], number>("select total_changes()").pluck();
  return ({ isFirst }): { isDone: boolean } => {
    const before = required(countChanges.get());
    writingOver(db, () => void merge.run(isFirst === 1 ? -MERGED_PAGES : MERGED_PAGES));
    return { isDone: required(countChanges.get()) - before < 2 }; // says the manual of FTS5
  };
});

/** Overwrites freed space. This costs as much as writing, so it is only on here. */
function writingOver(db: Database, change: () => void): void {
  db.pragma("secure_delete = on");
  try {
    change();
  } finally {
    db.pragma("secure_delete = off");
  }
}

/** An error or a reason may quote text, so a placeholder replaces it. */
const GONE = "(pruned)";

function gone(column: string): string {
  return `${column} = iif(${column} is null, null, '${GONE}')`;
}

const RUN_WORDS = `pinned = null, ${gone("error")}, ${gone("abort")}`;

/** Kept turns are determined once per pass, and in each step for sessions used since. */
function pruneTurns(db: Database): Pruner {
  const readKept = db
    .prepare<[Pick<Asked, "beforeMs">], number>(`${KEPT_TURNS} select distinct key from kept`)
    .pluck();
  const readUsed = db
    .prepare<[{ sinceMs: number }], number>(`${keptTurns(USED_SINCE)} select distinct key from kept`)
    .pluck();
  const find = db
    .prepare<[Asked], number>(
      `select t.key from turn t where t.key > @after and ${PRUNABLE.turns} and ${SAID_BY.turns} order by t.key limit @max`,
    )
    .pluck();
  const emptyMessages = db.prepare("update message set content = '', body = null where key between ? and ?");
  const emptyCalls = db.prepare(
    "update tool_call set params = 'null', result = null where key between ? and ?",
  );
  // What its attempts were given, such as the system prompt. Only the last one completed.
  const emptyRuns = db.prepare(
    `update run set ${RUN_WORDS} where turn_id = (select id from turn where key = @key) and state <> 'completed'`,
  );
  const emptyLastRun = db.prepare(
    `update run set ${RUN_WORDS} where key = (select run from turn where key = @key)`,
  );
  // Its event is pruned later, by the next prune if this one is cut off; search must not find its words until then.
  const forgetAnswer = db.prepare(
    `delete from search
     where rowid = (select seq from event where id = '${ANSWER_ADAPTER}:' || (select id from turn where key = ?))`,
  );
  const mark = db.prepare("update turn set pruned_ms = ? where key = ?");
  let kept: { readonly beforeMs: number; readonly keys: Set<number>; sinceMs: number } | undefined;
  return {
    find(asked, nowMs) {
      const { beforeMs } = asked;
      if (asked.after === 0 || kept?.beforeMs !== beforeMs) {
        kept = { beforeMs, keys: new Set(readKept.all({ beforeMs })), sinceMs: nowMs };
      }
      for (const key of readUsed.all(kept)) kept.keys.add(key);
      kept.sinceMs = nowMs;
      return findUnkept(asked, kept.keys);
    },
    prune(key, nowMs) {
      emptyMessages.run(firstKey(key), lastKey(key));
      emptyCalls.run(firstKey(key), lastKey(key));
      emptyRuns.run({ key });
      emptyLastRun.run({ key });
      forgetAnswer.run(key);
      mark.run(nowMs, key);
    },
  };

  function findUnkept({ after, max, ...asked }: Asked, isKept: ReadonlySet<number>): number[] {
    const found: number[] = [];
    for (let place = after; ;) {
      const keys = find.all({ ...asked, after: place, max });
      found.push(...keys.filter((key) => !isKept.has(key)).slice(0, max - found.length));
      if (keys.length < max || found.length === max) return found;
      place = keys.at(-1)!;
    }
  }
}

/** Events, with their hook runs and dispatches. */
function pruneEvents(db: Database): Pruner {
  const find = db.prepare<[Asked], number>(
    `select e.seq from event e left join turn t on t.key = e.message / 65536
     where e.seq > @after and ${PRUNABLE.events} and ${SAID_BY.events} and (e.message is null or t.pruned_ms is not null)
     order by e.seq limit @max`,
  );
  const empty = db.prepare(
    `update event set content = null, attachments = null, payload = null, metadata = null, pruned_ms = ?
     where seq = ?`,
  );
  const forget = db.prepare("delete from search where rowid = ?");
  const emptyDispatches = db.prepare("update dispatch set message = null, context = null where event = ?");
  const emptyHookRuns = db.prepare(`update hook_run set result = null, ${gone("error")} where event = ?`);
  const emptyDelegations = db.prepare(
    `update delegation set ${gone("error")} where item in (select key from item where event = ?)`,
  );
  // A dropped dead letter has no turn that its attempts would be pruned with.
  const isGivenUp = db.prepare(
    "select 1 from item where event = ? and state = 'dropped' and turn is not null",
  );
  const emptyRuns = db.prepare(
    `update run indexed by run_turn set ${RUN_WORDS} where source = ? and state <> 'completed' and ended_ms is not null`,
  );
  return {
    find: (asked) => find.pluck().all(asked),
    prune(key, nowMs) {
      forget.run(key);
      emptyDispatches.run(key);
      emptyHookRuns.run(key);
      emptyDelegations.run(key);
      if (isGivenUp.get(key) !== undefined) emptyRuns.run(key);
      empty.run(nowMs, key);
    },
  };
}

function pruneDeliveries(db: Database): Pruner {
  const find = db.prepare<[Asked], number>(
    `select d.key from delivery d where d.key > @after and ${PRUNABLE.deliveries} and ${SAID_BY.deliveries} order by d.key limit @max`,
  );
  const empty = db.prepare(
    `update delivery set content = null, extras = null, ${gone("error")} where key = ?`,
  );
  const emptyChunks = db.prepare("update chunk set content = '' where delivery = ?");
  return {
    find: (asked) => find.pluck().all(asked),
    prune(key) {
      empty.run(key);
      emptyChunks.run(key);
    },
  };
}

/** The tool, the decision and who made it stay. */
function pruneApprovals(db: Database): Pruner {
  const find = db.prepare<[Asked], number>(
    `select a.key from approval a where a.key > @after and ${PRUNABLE.approvals} and ${SAID_BY.approvals} order by a.key limit @max`,
  );
  const empty = db.prepare(
    `update approval set request = json_remove(request, '$.args', '$.reason', '$.question', '$.options'),
                         answer = json_replace(answer, '$.text', '', '$.reason', ''), held = null
     where key = ?`,
  );
  return { find: (asked) => find.pluck().all(asked), prune: (key) => void empty.run(key) };
}

/** Steps, their outcomes and costs stay. */
function pruneRelays(db: Database): Pruner {
  const find = db.prepare<[Asked], number>(
    `select r.key from relay r where r.key > @after and ${PRUNABLE.relays} and ${SAID_BY.relays} order by r.key limit @max`,
  );
  const read = db.prepare<[number], string>("select record from relay where key = ?").pluck();
  const write = db.prepare(
    `update relay set record = ?, detail = json_replace(detail,
       '$.ending.error', iif(detail ->> '$.ending.error' is null, null, '${GONE}'),
       '$.ending.abortReason', iif(detail ->> '$.ending.abortReason' is null, null, '${GONE}'))
     where key = ?`,
  );
  const emptySteps = db.prepare(
    `update relay_step set record = json_replace(record, '$.input', '', '$.output', null,
       '$.error', iif(record ->> 'error' is null, null, '${GONE}'))
     where relay = ?`,
  );
  return {
    find: (asked) => find.pluck().all(asked),
    prune(key) {
      write.run(canonicalJson(withoutWords(JSON.parse(required(read.get(key))) as RecordedRelay)), key);
      emptySteps.run(key);
    },
  };
}

/** Removes what people and agents said from a relay's record. */
interface RecordedRelay {
  readonly agents?: Readonly<Record<string, object>>;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
  readonly error?: string | null;
  readonly abortReason?: string | null;
}

function withoutWords(relay: RecordedRelay): object {
  const agents = Object.entries(relay.agents ?? {}).map(([name, slot]) => [
    name,
    { ...slot, lastOutput: null },
  ]);
  const { metadata = null, error = null, abortReason = null } = relay;
  const { pendingMessages: _, ...given } = metadata ?? {};
  return {
    ...relay,
    userMessage: "",
    agents: Object.fromEntries(agents) as object,
    ...(metadata === null ? {} : { metadata: given }),
    ...(error === null ? {} : { error: GONE }),
    ...(abortReason === null ? {} : { abortReason: GONE }),
  };
}
