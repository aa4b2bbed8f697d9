/** The costs of turns. */
import type { Database } from "better-sqlite3";

import { CortexError } from "../../model/errors.ts";
import type { PersonaId } from "../../model/ids.ts";
import type { Principal } from "../../model/principal.ts";
import type { CostQuery, CostRow, Row, SqlValue } from "../store.ts";
import { prepareReadUsage } from "./count-usage.ts";
import { isOthersSql, toLane } from "./lane.ts";
import { required } from "./row.ts";

const SUMS = `count(*) as turns, sum(t.input_tokens) as input, sum(t.output_tokens) as output,
  sum(t.cache_read_tokens) as cacheRead, sum(t.cache_write_tokens) as cacheWrite,
  sum(t.reasoning_tokens) as reasoning, coalesce(sum(t.cost_usd), 0.0) as costUsd,
  count(*) - count(t.cost_usd) as unpriced`;

const KEYS: Readonly<Record<Exclude<CostQuery["by"], "day">, string>> = {
  session: "(select label from session where key = t.session)",
  agent: "t.agent",
  persona: "t.persona",
  person: "coalesce(t.principal, 'owner')",
  model: "t.provider || '/' || t.model",
};

/** Days with at most this many turns are summed in this process, in a few milliseconds. */
export const SUMMED_IN_PLACE = 1_000;

/** Groups may hold any number of turns, so this runs in the process for slow reads. */
export function costsQuery(query: CostQuery, limit: number): { sql: string; params: SqlValue[] } {
  const { by, sinceMs, untilMs } = query;
  if (by === "day") {
    const sql = `select d.value ->> 0 as key, ${SUMS}
      from json_each(?) d join turn t on t.completed_ms >= d.value ->> 1 and t.completed_ms < d.value ->> 2
      group by 1 order by 1 desc limit ?`;
    return { sql, params: [JSON.stringify(daysOf(query)), limit] };
  }
  if (by === "session" && query.sessions !== undefined) {
    const sql = `select s.label as key, ${SUMS}
      from json_each(?) w join session s on s.label = w.value join turn t on t.session = s.key
      where t.completed_ms >= ? and t.completed_ms < ? group by s.key order by costUsd desc, 1 limit ?`;
    return { sql, params: [JSON.stringify(query.sessions), sinceMs, untilMs, limit] };
  }
  const sql = `select ${KEYS[by]} as key, ${SUMS} from turn t
    where t.completed_ms >= ? and t.completed_ms < ? group by 1 order by costUsd desc, 1 limit ?`;
  return { sql, params: [sinceMs, untilMs, limit] };
}

/** For each day: when it began, and which part of it the query covers. */
function daysOf({ sinceMs, untilMs, dayStartsMs = [] }: CostQuery): [number, number, number][] {
  const isOrdered = dayStartsMs.every((start, i) => i === 0 || start > dayStartsMs[i - 1]!);
  if (!isOrdered || dayStartsMs[0] === undefined || dayStartsMs[0] > sinceMs) throw daysInvalid(dayStartsMs);
  return dayStartsMs.map((start, i) => [
    start,
    Math.max(start, sinceMs),
    Math.min(dayStartsMs[i + 1] ?? untilMs, untilMs),
  ]);
}

/** Whether starting a process would take longer than summing. Days are read through an index. */
export function prepareAreFew(db: Database): (query: CostQuery) => boolean {
  const count = db
    .prepare<[number, number, number], number>(
      "select count(*) from (select 1 from turn where completed_ms >= ? and completed_ms < ? limit ?)",
    )
    .pluck();
  return ({ by, sinceMs, untilMs }) =>
    by === "day" && required(count.get(sinceMs, untilMs, SUMMED_IN_PLACE + 1)) <= SUMMED_IN_PLACE;
}

export function toCostRow(row: Row): CostRow {
  const { key, turns, input, output, cacheRead, cacheWrite, reasoning, costUsd, unpriced } = row;
  const usage = { input, output, cacheRead, cacheWrite, reasoning } as CostRow["usage"];
  return { key: String(key), turns, usage, costUsd, unpriced } as CostRow;
}

/** Runs that are no turns yet, and have cost something. */
const SPENDING_RUNS = `run r indexed by run_spent join session s on s.key = r.session
  where r.cost_usd > 0 and r.state <> 'completed' and r.state <> 'aborted'`;

/**
 * Read before every model call, so it only uses indexes. A run that failed for good keeps its cost until its turn is
 * retried.
 */
export function prepareReadSpent(db: Database) {
  const all = prepareSpentOf(db, "turn_spent", "1");
  const others = prepareSpentOf(db, "turn_others", "others");
  const spentBy = prepareSpentBy(db);
  return {
    spentUsd: (persona: PersonaId, sinceMs: number, options: { readonly others?: boolean } = {}): number =>
      (options.others === true ? others : all)(persona, sinceMs),
    spentByUsd: (principal: Principal, sinceMs: number): number => spentBy(principal, sinceMs),
    usedSince: prepareReadUsage(db),
  };
}

/** What the turns of a persona have cost: all, or those for others than the owner. */
function prepareSpentOf(
  db: Database,
  index: string,
  whose: "1" | "others",
): (persona: PersonaId, sinceMs: number) => number {
  const [ofTurns, ofRuns] =
    whose === "1"
      ? ["", ""]
      : [` and ${isOthersSql("principal")}`, ` and r.lane is not null and ${isOthersSql("r.lane")}`];
  const committed = db
    .prepare<[string, number], number>(
      `select total(cost_usd) from turn indexed by ${index} where persona = ? and completed_ms >= ?${ofTurns}`,
    )
    .pluck();
  const inRuns = `select total(r.cost_usd) from ${SPENDING_RUNS} and s.persona = ?${ofRuns}`;
  const underWay = db.prepare<[string], number>(`${inRuns} and r.ended_ms is null`).pluck();
  const failed = db.prepare<[string, number], number>(`${inRuns} and r.ended_ms >= ?`).pluck();
  // One snapshot: concurrent commits would be counted twice, or not at all.
  return db.transaction(
    (persona: PersonaId, sinceMs: number): number =>
      required(committed.get(persona, sinceMs)) +
      required(underWay.get(persona)) +
      required(failed.get(persona, sinceMs)),
  );
}

/** What one principal has spent: turns, runs, and what hooks asked models about their messages. */
export function prepareSpentBy(db: Database): (principal: string, sinceMs: number) => number {
  const ofOwner = db
    .prepare<[number], number>(
      `select total(cost_usd) from turn
       where completed_ms >= ? and coalesce(principal, 'owner') = 'owner'`,
    )
    .pluck();
  const ofOther = db
    .prepare<[string, number], number>(
      `select total(cost_usd) from turn indexed by turn_principal
       where principal = ? and principal <> 'owner' and completed_ms >= ?`,
    )
    .pluck();
  const ofRuns = db
    .prepare<[string | null, number], number>(
      `select total(r.cost_usd) from ${SPENDING_RUNS} and r.lane is ? and (r.ended_ms is null or r.ended_ms >= ?)`,
    )
    .pluck();
  const ofHooks = db
    .prepare<[number, string], number>(
      `select total(h.cost_usd) from hook_run h indexed by hook_run_spent join event e on e.seq = h.event
       where h.cost_usd > 0 and h.ended_ms >= ? and e.principal = ?`,
    )
    .pluck();
  return db.transaction((principal: string, sinceMs: number): number => {
    const lane = toLane(principal as Principal);
    const ofTurns = lane === null ? ofOwner.get(sinceMs) : ofOther.get(lane, sinceMs);
    return (
      required(ofTurns) + required(ofRuns.get(lane, sinceMs)) + required(ofHooks.get(sinceMs, principal))
    );
  });
}

function daysInvalid(dayStartsMs: readonly number[]): CortexError {
  return new CortexError("request_invalid", `Invalid \`dayStartsMs\` [${dayStartsMs.join(", ")}]`, {
    hint: "List when each day starts, ascending; the first must not be after `sinceMs`.",
  });
}
