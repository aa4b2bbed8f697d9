/**
 * All reads, over one read-only connection. The store reads through it; the command line uses it without a store,
 * whether or not Cortex is running.
 */
import { existsSync, statSync } from "node:fs";
import type { Database } from "better-sqlite3";

import type { EventId } from "../../model/ids.ts";
import type {
  CostQuery,
  Counts,
  Ledger,
  Prunable,
  Pulse,
  QueryOptions,
  Row,
  SearchHit,
  SearchOptions,
  SqlValue,
  Verdict,
} from "../store.ts";
import { DEFAULT_QUERY_DEADLINE_MS, DEFAULT_QUERY_ROWS, SEARCH_DEADLINE_MS } from "../store.ts";
import { openForReading } from "./connection.ts";
import { storeClosed, storeFailure, storeMissing } from "./failure.ts";
import { prepareReadAudit } from "./audit.ts";
import { checkCurrent } from "./migrate.ts";
import { checkPage } from "./page.ts";
import { lazily } from "./once.ts";
import { prepareReadLabels } from "./labels.ts";
import { prepareReadCursors } from "./cursors.ts";
import { prepareReadApprovals } from "./read-approvals.ts";
import { prepareReadChanges } from "./read-changes.ts";
import { costsQuery, prepareAreFew, prepareReadSpent, toCostRow } from "./read-costs.ts";
import { prepareReadCounts } from "./read-counts.ts";
import { prepareReadDead } from "./read-dead.ts";
import { prepareReadDelegations } from "./read-delegations.ts";
import { checkMoment, prepareReadEvents } from "./read-events.ts";
import { prepareReadHooks } from "./read-hooks.ts";
import { prepareReadDrafts } from "./drafts.ts";
import { prepareReadOutbox } from "./read-outbox.ts";
import { prepareReadPulse } from "./read-pulse.ts";
import { prepareReadQueue } from "./read-queue.ts";
import { prepareReadRelays } from "./read-relays.ts";
import { prepareReadRuns } from "./read-runs.ts";
import { prepareReadSessions } from "./read-sessions.ts";
import { prepareReadTeam } from "./read-team.ts";
import { prepareReadTurns } from "./read-turns.ts";
import { Reader } from "./reader.ts";
import { required } from "./row.ts";
import { checkSearch, prepareSearchEvents, prepareUnsearched } from "./search-events.ts";
import { prepareReadPairings } from "./pairings.ts";
import { prepareReadPeople } from "./people.ts";
import { prepareReadTokens } from "./tokens.ts";

/** A ledger of up to this many events and bytes is searched in this process, in a few milliseconds. */
export const SEARCHED_IN_PLACE = 200;
const BYTES_SEARCHED_IN_PLACE = 64 * 1024;

/**
 * Opens the database read-only: takes no lock, migrates nothing, starts nothing. Throws `store_missing` if it does
 * not exist and `store_older` if Cortex has not run since an update.
 */
export async function openSqliteLedger({ path }: { readonly path: string }): Promise<SqliteLedger> {
  if (!existsSync(path) || statSync(path).size === 0) throw storeMissing(path);
  let db: Database | undefined;
  try {
    db = openForReading(path);
    checkCurrent(db, path);
    return new SqliteLedger({ path, db });
  } catch (error) {
    db?.close();
    throw storeFailure(error, path);
  }
}

export class SqliteLedger implements Ledger {
  readonly events: Ledger["events"];
  readonly queue: Ledger["queue"];
  readonly runs: Ledger["runs"];
  readonly turns: Ledger["turns"];
  readonly sessions: Ledger["sessions"];
  readonly outbox: Ledger["outbox"];
  readonly drafts: Ledger["drafts"];
  readonly approvals: Ledger["approvals"];
  readonly delegations: Ledger["delegations"];
  readonly relays: Ledger["relays"];
  readonly team: Ledger["team"];
  readonly hooks: Ledger["hooks"];
  readonly labels: Ledger["labels"];
  readonly cursors: Ledger["cursors"];
  readonly people: Ledger["people"];
  readonly pairings: Ledger["pairings"];
  readonly tokens: Ledger["tokens"];
  readonly audit: Ledger["audit"];
  readonly dead: Ledger["dead"];
  readonly changes: Ledger["changes"];
  readonly counts: () => Promise<Counts>;
  readonly pulse: (nowMs: number) => Promise<Pulse>;
  readonly #path: string;
  readonly #db: Database;
  readonly #reader: Reader;
  /** Searches have their own process: a slow query must not delay them. */
  readonly #searcher: Reader;
  readonly #readLastEvent = lazily(() =>
    this.#db.prepare<[], number>("select coalesce(max(seq), 0) from event").pluck(),
  );
  readonly #readEventBytes = lazily(() =>
    this.#db
      .prepare<[], number>(
        `select coalesce(sum(coalesce(octet_length(e.content), octet_length(m.content))), 0)
         from event e left join message m on m.key = e.message`,
      )
      .pluck(),
  );
  readonly #findEvent = lazily(() =>
    this.#db.prepare<[string], number>("select seq from event where id = ?").pluck(),
  );
  readonly #searchEvents = lazily(() => prepareSearchEvents(this.#db));

  constructor({ path, db }: { readonly path: string; readonly db: Database }) {
    this.#path = path;
    this.#db = db;
    this.#reader = new Reader(path);
    this.#searcher = new Reader(path);
    this.events = this.#eventReads();
    this.queue = this.#queueReads();
    this.runs = this.#reads(
      prepareReadRuns,
      "readMessage",
      "readCall",
      "readJournal",
      "get",
      "ofTurn",
      "active",
      "list",
    );
    this.turns = this.#turnReads();
    this.sessions = this.#reads(
      prepareReadSessions,
      "head",
      "get",
      "list",
      "children",
      "ancestors",
      "labelOrigins",
      "movedTo",
    );
    this.drafts = this.#reads(prepareReadDrafts, "list", "get", "ofDelivery");
    this.outbox = this.#reads(prepareReadOutbox, "get", "findSent", "list", "ofTurn", "open", "filed");
    this.approvals = this.#reads(
      prepareReadApprovals,
      "get",
      "list",
      "openIn",
      "toldBy",
      "countOpen",
      "nextExpiryMs",
    );
    this.delegations = this.#reads(prepareReadDelegations, "get", "list", "unreported", "nextDeadlineMs");
    this.relays = this.#reads(
      prepareReadRelays,
      "get",
      "list",
      "steps",
      "due",
      "anyOpen",
      "endedBefore",
      "config",
      "spentUsd",
    );
    this.team = this.#reads(prepareReadTeam, "get", "list");
    this.hooks = this.#reads(
      prepareReadHooks,
      "list",
      "get",
      "runs",
      "ofEvent",
      "health",
      "spentUsd",
      "unjudged",
    );
    this.labels = this.#reads(prepareReadLabels, "areEmpty", "ofFile", "under", "labelsUnder", "commands");
    this.cursors = this.#reads(prepareReadCursors, "get", "list");
    this.pairings = this.#reads(prepareReadPairings, "list", "find");
    this.people = this.#reads(prepareReadPeople, "get", "find", "list");
    this.tokens = this.#reads(prepareReadTokens, "get", "find", "list");
    this.audit = this.#reads(prepareReadAudit, "list");
    this.dead = this.#reads(prepareReadDead, "list", "get");
    this.changes = this.#reads(prepareReadChanges, "since", "first", "last");
    ({ counts: this.counts } = this.#reads(prepareReadCounts, "counts"));
    ({ pulse: this.pulse } = this.#reads(prepareReadPulse, "pulse"));
  }

  query(sql: string, params: readonly SqlValue[] = [], options: QueryOptions = {}): Promise<Row[]> {
    const { deadlineMs = DEFAULT_QUERY_DEADLINE_MS, maxRows = DEFAULT_QUERY_ROWS } = options;
    return this.#reader.query(sql, params, { deadlineMs, maxRows });
  }

  verify(): Promise<Verdict> {
    return this.#reader.verify();
  }

  async prunable(beforeMs: number): Promise<Prunable> {
    return this.#reader.prunable(checkMoment(beforeMs));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#reader.close(), this.#searcher.close()]);
    this.#db.close();
  }

  /** At once, for what must not wait in between. */
  hasEvent(id: EventId): boolean {
    return this.#guarded(() => this.#findEvent().get(id) !== undefined);
  }

  #eventReads(): Ledger["events"] {
    const unsearched = lazily(() => prepareUnsearched(this.#db));
    return {
      ...this.#reads(
        prepareReadEvents,
        "get",
        "list",
        "chain",
        "dispatches",
        "lastOf",
        "findMessage",
        "newestMessages",
        "filed",
      ),
      search: (text: string, options?: SearchOptions) => this.#search(text, options),
      unsearched: this.#reading(() => unsearched()()),
    };
  }

  #queueReads(): Ledger["queue"] {
    return {
      ...this.#reads(
        prepareReadQueue,
        "pending",
        "list",
        "item",
        "outcome",
        "itemsOf",
        "unseenDrops",
        "nextReadyMs",
      ),
      dead: this.#reads(prepareReadDead, "messages").messages,
    };
  }

  #isSmall(): boolean {
    if (required(this.#readLastEvent().get()) > SEARCHED_IN_PLACE) return false;
    return required(this.#readEventBytes().get()) <= BYTES_SEARCHED_IN_PLACE;
  }

  /** In a small ledger, starting a process would take longer than searching. */
  async #search(text: string, options?: SearchOptions): Promise<SearchHit[]> {
    const request = checkSearch(text, options);
    const inPlace = this.#reading(() => (this.#isSmall() ? this.#searchEvents()(request) : undefined));
    return (await inPlace()) ?? this.#searcher.search(request, SEARCH_DEADLINE_MS);
  }

  #turnReads(): Ledger["turns"] {
    const areFew = lazily(() => prepareAreFew(this.#db));
    return {
      ...this.#reads(
        prepareReadTurns,
        "get",
        "read",
        "context",
        "thread",
        "children",
        "attached",
        "ancestor",
      ),
      ...this.#reads(prepareReadSpent, "spentUsd", "spentByUsd", "usedSince"),
      costs: async (query: CostQuery) => {
        const limit = checkPage(query.limit);
        const { sql, params } = costsQuery(query, limit);
        const inPlace = this.#reading(() =>
          areFew()(query) ? this.#db.prepare(sql).all(params) : undefined,
        );
        const rows = (await inPlace()) ?? (await this.query(sql, params, { maxRows: limit }));
        return (rows as Row[]).map(toCostRow);
      },
    };
  }

  /** Reads of this connection, prepared on first use. */
  #reads<All extends Record<Name, (...args: never[]) => unknown>, Name extends keyof All>(
    prepare: (db: Database) => All,
    ...names: readonly Name[]
  ): Promised<Pick<All, Name>> {
    const read = lazily(() => prepare(this.#db));
    const reads = names.map((name) => [name, this.#reading((...args: never[]) => read()[name](...args))]);
    return Object.fromEntries(reads) as Promised<Pick<All, Name>>;
  }

  /** A read of this connection, whose errors become CortexErrors. */
  #reading<Arguments extends unknown[], Result>(
    read: (...args: Arguments) => Result,
  ): (...args: Arguments) => Promise<Result> {
    return async (...args) => this.#guarded(() => read(...args));
  }

  #guarded<Result>(read: () => Result): Result {
    if (!this.#db.open) throw storeClosed(this.#path);
    try {
      return read();
    } catch (error) {
      throw storeFailure(error, this.#path);
    }
  }
}

type Promised<Reads extends Record<keyof Reads, (...args: never[]) => unknown>> = {
  readonly [Name in keyof Reads]: (...args: Parameters<Reads[Name]>) => Promise<ReturnType<Reads[Name]>>;
};
