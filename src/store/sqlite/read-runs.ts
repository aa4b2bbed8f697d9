import type { Database } from "better-sqlite3";

import type { EventId, RunId, TurnId } from "../../model/ids.ts";
import type { Message, ToolCall } from "../../model/message.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { Timing } from "../../model/spans.ts";
import type { Journal, Listed, ListOptions, RunState, StoredRun, Wait } from "../store.ts";
import { checkPage, listPage } from "./page.ts";
import { prepareReadEntry, prepareReadJournal } from "./read-journal.ts";
import { toMessage, toToolCall } from "./read-turns.ts";
import { parseJson, known, maybe } from "./row.ts";
import { runUnknown } from "./unknown.ts";

interface RunRow {
  readonly key: number;
  readonly id: RunId;
  readonly turn_id: TurnId;
  readonly session: SessionKey;
  readonly source_event: EventId | null;
  readonly attempt: number;
  readonly state: RunState;
  readonly interruptions: number;
  readonly wait_id: string | null;
  readonly wait_kind: Wait["kind"] | null;
  readonly wait_detail: string | null;
  readonly abort: string | null;
  readonly aborted_by: EventId | null;
  readonly error: string | null;
  readonly compacting_ms: number | null;
  readonly started_ms: number;
  readonly ended_ms: number | null;
}

const COLUMNS = `r.key, r.id, r.turn_id, s.label as session, (select id from event where seq = r.source) as source_event,
  r.attempt, r.state, r.interruptions, r.wait_id, r.wait_kind, r.wait_detail, r.abort,
  (select e.id from item i join event e on e.seq = i.event where i.key = r.abort_item) as aborted_by, r.error,
  r.compacting_ms, r.started_ms, r.ended_ms`;

const TABLES = "run r join session s on s.key = r.session";

export function prepareReadRuns(db: Database) {
  const sql = prepareStatements(db);
  const readJournal = prepareReadJournal(db);
  const readEntry = prepareReadEntry(db);

  return {
    get: (id: RunId): StoredRun | undefined => maybe(sql.run.get(id), toRun),
    ofTurn: (turn: TurnId): StoredRun[] => sql.ofTurn.all(turn, turn).map(toRun),
    active: ({ limit }: { limit?: number } = {}): StoredRun[] => sql.active.all(checkPage(limit)).map(toRun),
    list: (options: ListOptions & { state?: RunState } = {}): Listed<StoredRun> =>
      listPage({
        name: "runs",
        options,
        find: ([, key], limit) => findPage(options.state, key, limit),
        place: ({ key }) => [0, key],
        toItem: toRun,
      }),
    readMessage(id: RunId, place: number): Message | undefined {
      const found = maybe(sql.journal.get(id), ({ turn }) => readEntry.message(turn, place));
      return maybe(found, toMessage);
    },
    readCall(id: RunId, ordinal: number): ToolCall | undefined {
      const found = maybe(sql.journal.get(id), ({ turn }) => readEntry.call(turn, ordinal));
      return maybe(found, toToolCall);
    },
    readJournal(id: RunId): Journal {
      const run = known(sql.journal.get(id), runUnknown, id);
      const { messages, toolCalls } = readJournal(run.turn);
      return {
        messages: messages.map(toMessage),
        toolCalls: toolCalls.map(toToolCall),
        pinned: parseJson(run.pinned),
        wait: toWait(run),
        timing: parseJson(run.timing) as Timing | undefined,
      };
    },
  };

  function findPage(state: RunState | undefined, key: number, limit: number): RunRow[] {
    if (state === undefined) return sql.page.all(key, limit);
    if (state === "completed") return sql.completedPage.all(key, limit);
    return sql.statePage.all(state, key, limit);
  }
}

function prepareStatements(db: Database) {
  return {
    run: db.prepare<[string], RunRow>(`select ${COLUMNS} from ${TABLES} where r.id = ?`),
    // The index holds all runs of a turn except the one that completed it, which the turn itself names.
    ofTurn: db.prepare<[string, string], RunRow>(
      `select ${COLUMNS} from ${TABLES}
       where r.key in (select key from run where turn_id = ? and state <> 'completed'
                       union select run from turn where id = ?)
       order by r.key`,
    ),
    active: db.prepare<[number], RunRow>(
      `select ${COLUMNS} from session s join run r on r.key = s.run order by r.key limit ?`,
    ),
    page: db.prepare<[number, number], RunRow>(
      `select ${COLUMNS} from ${TABLES} where r.key < ? order by r.key desc limit ?`,
    ),
    completedPage: db.prepare<[number, number], RunRow>(
      `select ${COLUMNS} from ${TABLES} where r.state = 'completed' and r.key < ? order by r.key desc limit ?`,
    ),
    // Few runs are not completed, and they have an index; the order of keys would lead through all others.
    statePage: db.prepare<[string, number, number], RunRow>(
      `select ${COLUMNS}
       from (select key from run indexed by run_turn where state <> 'completed' and state = ? and +key < ?
             order by +key desc limit ?) w
         join run r on r.key = w.key join session s on s.key = r.session order by r.key desc`,
    ),
    journal: db.prepare<[string], JournalRow>(
      "select turn, pinned, timing, wait_id, wait_kind, wait_detail from run where id = ?",
    ),
  };
}

interface JournalRow extends Pick<RunRow, "wait_id" | "wait_kind" | "wait_detail"> {
  readonly turn: number;
  readonly pinned: string | null;
  readonly timing: string | null;
}

function toRun(row: RunRow): StoredRun {
  return {
    id: row.id,
    turn: row.turn_id,
    session: row.session,
    sourceEvent: row.source_event ?? undefined,
    attempt: row.attempt,
    state: row.state,
    interruptions: row.interruptions,
    wait: toWait(row),
    abort: row.abort ?? undefined,
    abortedBy: row.aborted_by ?? undefined,
    error: row.error ?? undefined,
    isCompacting: row.state === "running" && row.compacting_ms !== null,
    startedAtMs: row.started_ms,
    endedAtMs: row.ended_ms ?? undefined,
  };
}

function toWait(row: Pick<RunRow, "wait_id" | "wait_kind" | "wait_detail">): Wait | undefined {
  if (row.wait_kind === null) return undefined;
  return { id: row.wait_id!, kind: row.wait_kind, detail: parseJson(row.wait_detail!) };
}
