/**
 * All reads, over one connection that cannot write. The store reads through it, and the command line
 * does without a store: beside a running Cortex or without one.
 */
import { existsSync, statSync } from "node:fs";
import type { Database } from "better-sqlite3";

import { CortexError } from "../../model/errors.ts";
import type {
  ApprovalId,
  DelegationId,
  DeliveryId,
  EventId,
  ItemId,
  PersonaId,
  RelayId,
  RunId,
  TurnId,
} from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type {
  ApprovalReads,
  ApprovalState,
  ChangeReads,
  CostQuery,
  Counts,
  DeadReads,
  DelegationReads,
  DelegationState,
  DeliveryState,
  DeliveryTarget,
  EventFilter,
  EventReads,
  FileReads,
  HookReads,
  Ledger,
  ListOptions,
  OutboxReads,
  Prunable,
  Pulse,
  QueryOptions,
  QueueReads,
  RelayReads,
  RelayState,
  Row,
  RunReads,
  RunState,
  SearchHit,
  SearchOptions,
  SessionReads,
  SqlValue,
  TeamReads,
  TurnReads,
  Verdict,
} from "../store.ts";
import { DEFAULT_QUERY_DEADLINE_MS, DEFAULT_QUERY_ROWS, SEARCH_DEADLINE_MS } from "../store.ts";
import { openForReading } from "./connection.ts";
import { storeClosed, storeFailure, storeMissing } from "./failure.ts";
import { checkCurrent } from "./migrate.ts";
import { checkCount, checkPage } from "./page.ts";
import { lazily } from "./once.ts";
import { prepareReadApprovals } from "./read-approvals.ts";
import { prepareReadChanges } from "./read-changes.ts";
import { prepareReadUsage } from "./count-usage.ts";
import { costsQuery, prepareAreFew, prepareSpent, toCostRow } from "./read-costs.ts";
import { prepareReadCounts } from "./read-counts.ts";
import { prepareReadDead } from "./read-dead.ts";
import { prepareReadDelegations } from "./read-delegations.ts";
import { checkMoment, prepareReadEvents } from "./read-events.ts";
import { prepareReadHooks } from "./read-hooks.ts";
import { prepareReadOutbox } from "./read-outbox.ts";
import { prepareReadPulse } from "./read-pulse.ts";
import { prepareReadQueue } from "./read-queue.ts";
import { prepareReadRelays } from "./read-relays.ts";
import { prepareReadRuns } from "./read-runs.ts";
import { prepareReadSessions } from "./read-sessions.ts";
import { prepareReadTeam } from "./read-team.ts";
import { prepareReadTurns } from "./read-turns.ts";
import { Reader } from "./reader.ts";
import { checkSearch, prepareSearchEvents, prepareUnsearched } from "./search-events.ts";
import { hookUnknown, runUnknown, sessionUnknown, turnUnknown } from "./unknown.ts";
import { prepareReadFiles } from "./watched-files.ts";

/** More turns than any model takes. A thread that grows past this without a compaction is cut there. */
const WHOLE_CONTEXT = 10_000;
/** Up to so many events in all, of so many bytes, are searched where the search is asked for, in some milliseconds. */
export const SEARCHED_IN_PLACE = 200;
const BYTES_SEARCHED_IN_PLACE = 64 * 1024;

/**
 * Opens the database for reading only: takes no lock, migrates nothing, starts nothing. Refuses with
 * `store_missing` where there is none and with `store_older` where Cortex has not run since an update.
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
  readonly events: EventReads;
  readonly queue: QueueReads;
  readonly runs: RunReads;
  readonly turns: TurnReads;
  readonly sessions: SessionReads;
  readonly outbox: OutboxReads;
  readonly approvals: ApprovalReads;
  readonly delegations: DelegationReads;
  readonly relays: RelayReads;
  readonly team: TeamReads;
  readonly hooks: HookReads;
  readonly files: FileReads;
  readonly dead: DeadReads;
  readonly changes: ChangeReads;
  readonly counts: () => Promise<Counts>;
  readonly pulse: (nowMs: number) => Promise<Pulse>;
  readonly #path: string;
  readonly #db: Database;
  readonly #reader: Reader;
  /** A process of their own for searches: a query that takes long must not hold one up. */
  readonly #searcher: Reader;
  readonly #readDead = lazily(() => prepareReadDead(this.#db));
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
  readonly #searchEvents = lazily(() => prepareSearchEvents(this.#db));

  constructor({ path, db }: { readonly path: string; readonly db: Database }) {
    this.#path = path;
    this.#db = db;
    this.#reader = new Reader(path);
    this.#searcher = new Reader(path);
    this.events = this.#eventReads();
    this.queue = this.#queueReads();
    this.runs = this.#runReads();
    this.turns = this.#turnReads();
    this.sessions = this.#sessionReads();
    this.outbox = this.#outboxReads();
    this.approvals = this.#approvalReads();
    this.delegations = this.#delegationReads();
    this.relays = this.#relayReads();
    this.team = this.#teamReads();
    this.hooks = this.#hookReads();
    this.files = this.#fileReads();
    this.dead = this.#deadReads();
    this.changes = this.#changeReads();
    const countAll = lazily(() => prepareReadCounts(db));
    this.counts = this.#reading(() => countAll()());
    const takePulse = lazily(() => prepareReadPulse(db));
    this.pulse = this.#reading((nowMs: number) => takePulse()(nowMs));
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

  #eventReads(): EventReads {
    const read = lazily(() => prepareReadEvents(this.#db));
    const unsearched = lazily(() => prepareUnsearched(this.#db));
    return {
      get: this.#reading((id: EventId) => read().get(id)),
      list: this.#reading((options?: ListOptions & EventFilter) => read().list(options)),
      chain: this.#reading((id: EventId) => read().chain(id)),
      dispatches: this.#reading((id: EventId) => read().dispatches(id)),
      search: (text: string, options?: SearchOptions) => this.#search(text, options),
      lastOf: this.#reading((adapter: string) => read().lastOf(adapter)),
      filed: this.#reading(() => read().filed()),
      unsearched: this.#reading(() => unsearched()()),
    };
  }

  #isSmall(): boolean {
    if (this.#readLastEvent().get()! > SEARCHED_IN_PLACE) return false;
    return this.#readEventBytes().get()! <= BYTES_SEARCHED_IN_PLACE;
  }

  /** Where there is little to search, starting a process would take longer than searching. */
  async #search(text: string, options?: SearchOptions): Promise<SearchHit[]> {
    const request = checkSearch(text, options);
    const inPlace = this.#reading(() => (this.#isSmall() ? this.#searchEvents()(request) : undefined));
    return (await inPlace()) ?? this.#searcher.search(request, SEARCH_DEADLINE_MS);
  }

  #queueReads(): QueueReads {
    const read = lazily(() => prepareReadQueue(this.#db));
    const known = (session: SessionKey): number =>
      read().sessionKey(session) ?? throwing(sessionUnknown(session).toError());
    return {
      pending: this.#reading((session: SessionKey, options: { limit?: number } = {}) =>
        read().pending(known(session), checkPage(options.limit)),
      ),
      list: this.#reading((options: ListOptions & { session?: SessionKey } = {}) =>
        read().list(options.session === undefined ? undefined : known(options.session), options),
      ),
      item: this.#reading((id: ItemId) => read().item(id)),
      outcome: this.#reading((id: ItemId) => read().outcome(id)),
      itemsOf: this.#reading((turn: TurnId) => read().itemsOf(turn)),
      unseenDrops: this.#reading((session: SessionKey, options: { limit?: number } = {}) =>
        read().unseenDrops(known(session), checkPage(options.limit)),
      ),
      nextReadyMs: this.#reading(() => read().nextReadyMs()),
      dead: this.#reading((options?: ListOptions) => this.#readDead().messages(options)),
    };
  }

  #runReads(): RunReads {
    const read = lazily(() => prepareReadRuns(this.#db));
    return {
      readMessage: this.#reading((run: RunId, place: number) => read().message(run, place)),
      readCall: this.#reading((run: RunId, ordinal: number) => read().call(run, ordinal)),
      readJournal: this.#reading((run: RunId) => read().journal(run) ?? throwing(runUnknown(run).toError())),
      get: this.#reading((run: RunId) => read().get(run)),
      ofTurn: this.#reading((turn: TurnId) => read().ofTurn(turn)),
      active: this.#reading((options: { limit?: number } = {}) => read().active(checkPage(options.limit))),
      list: this.#reading((options?: ListOptions & { state?: RunState }) => read().list(options)),
    };
  }

  #turnReads(): TurnReads {
    const read = lazily(() => prepareReadTurns(this.#db));
    const spent = lazily(() => prepareSpent(this.#db));
    const usage = lazily(() => prepareReadUsage(this.#db));
    const areFew = lazily(() => prepareAreFew(this.#db));
    const known = (id: TurnId): TurnId => (read().exists(id) ? id : throwing(turnUnknown(id).toError()));
    return {
      get: this.#reading((id: TurnId) => read().get(id)),
      read: this.#reading((id: TurnId) => read().content(id)),
      context: this.#reading((id: TurnId, { limit = WHOLE_CONTEXT } = {}) =>
        read().context(known(id), checkCount(limit)),
      ),
      thread: this.#reading((id: TurnId, { limit }) => read().thread(known(id), checkCount(limit))),
      children: this.#reading((id: TurnId) => read().children(known(id))),
      ancestor: this.#reading((id: TurnId, depth: number) => read().ancestor(known(id), depth)),
      costs: async (query: CostQuery) => {
        const limit = checkPage(query.limit);
        const { sql, params } = costsQuery(query, limit);
        const inPlace = this.#reading(() =>
          areFew()(query) ? this.#db.prepare(sql).all(params) : undefined,
        );
        const rows = (await inPlace()) ?? (await this.query(sql, params, { maxRows: limit }));
        return (rows as Row[]).map(toCostRow);
      },
      spentUsd: this.#reading((persona: PersonaId, sinceMs: number) => spent()(persona, sinceMs)),
      usedSince: this.#reading((sinceMs: number) => usage()(checkMoment(sinceMs))),
    };
  }

  #sessionReads(): SessionReads {
    const read = lazily(() => prepareReadSessions(this.#db));
    return {
      head: this.#reading(
        (session: SessionKey) => (read().head(session) ?? throwing(sessionUnknown(session).toError())).head,
      ),
      get: this.#reading((session: SessionKey) => read().get(session)),
      list: this.#reading((options?: ListOptions & { open?: boolean }) => read().list(options)),
      children: this.#reading((session: SessionKey, options: { limit?: number } = {}) =>
        read().children(session, checkPage(options.limit)),
      ),
      ancestors: this.#reading((session: SessionKey) => read().ancestors(session)),
    };
  }

  #outboxReads(): OutboxReads {
    const read = lazily(() => prepareReadOutbox(this.#db));
    return {
      get: this.#reading((id: DeliveryId) => read().get(id)),
      list: this.#reading((options?: ListOptions & { state?: DeliveryState }) => read().list(options)),
      ofTurn: this.#reading((turn: TurnId) => read().ofTurn(turn)),
    };
  }

  #approvalReads(): ApprovalReads {
    const read = lazily(() => prepareReadApprovals(this.#db));
    return {
      get: this.#reading((id: ApprovalId) => read().get(id)),
      list: this.#reading((options?: ListOptions & { state?: ApprovalState; session?: SessionKey }) =>
        read().list(options),
      ),
      openIn: this.#reading((place: DeliveryTarget) => read().openIn(place)),
      toldBy: this.#reading((place: DeliveryTarget, message: string) => read().toldBy(place, message)),
      nextExpiryMs: this.#reading(() => read().nextExpiryMs()),
    };
  }

  #delegationReads(): DelegationReads {
    const read = lazily(() => prepareReadDelegations(this.#db));
    return {
      get: this.#reading((id: DelegationId) => read().get(id)),
      list: this.#reading(
        (options?: ListOptions & { caller?: SessionKey; session?: SessionKey; state?: DelegationState }) =>
          read().list(options),
      ),
      unreported: this.#reading((options: { limit?: number } = {}) =>
        read().unreported(checkPage(options.limit)),
      ),
      nextDeadlineMs: this.#reading(() => read().nextDeadlineMs()),
    };
  }

  #relayReads(): RelayReads {
    const read = lazily(() => prepareReadRelays(this.#db));
    return {
      get: this.#reading((id: RelayId) => read().get(id)),
      list: this.#reading((options?: ListOptions & { states?: readonly RelayState[]; channel?: string }) =>
        read().list(options),
      ),
      steps: this.#reading((id: RelayId) => read().steps(id)),
      due: this.#reading((options: { limit?: number } = {}) => read().due(checkPage(options.limit))),
      anyOpen: this.#reading(() => read().anyOpen()),
      endedBefore: this.#reading((atMs: number, options: { limit?: number } = {}) =>
        read().endedBefore(atMs, checkPage(options.limit)),
      ),
      config: this.#reading((hash: string) => read().config(hash)),
      spentUsd: this.#reading((sinceMs: number) => read().spentUsd(sinceMs)),
    };
  }

  #teamReads(): TeamReads {
    const read = lazily(() => prepareReadTeam(this.#db));
    return {
      get: this.#reading((team: string, member: string) => read().get(team, member)),
      list: this.#reading((team: string) => read().list(team)),
    };
  }

  #hookReads(): HookReads {
    const read = lazily(() => prepareReadHooks(this.#db));
    const known = (name: string): number => read().key(name) ?? throwing(hookUnknown(name).toError());
    return {
      list: this.#reading(() => read().list()),
      get: this.#reading((name: string) => read().get(name)),
      runs: this.#reading((name: string, options?: ListOptions) => read().runs(known(name), options)),
      ofEvent: this.#reading((event: EventId) => read().ofEvent(event)),
      health: this.#reading((name: string) => read().health(known(name))),
      spentUsd: this.#reading((sinceMs: number) => read().spentUsd(sinceMs)),
      unjudged: this.#reading(({ limit, after = 0 }: { limit?: number; after?: number } = {}) =>
        read().unjudged(after, checkPage(limit)),
      ),
    };
  }

  #fileReads(): FileReads {
    const read = lazily(() => prepareReadFiles(this.#db));
    return {
      known: this.#reading(({ under, after, limit }: { under: string; after?: string; limit?: number }) =>
        read().known(under, after, checkPage(limit)),
      ),
    };
  }

  #deadReads(): DeadReads {
    return {
      list: this.#reading((options?: ListOptions) => this.#readDead().list(options)),
      get: this.#reading((id: string) => this.#readDead().get(id)),
    };
  }

  #changeReads(): ChangeReads {
    const read = lazily(() => prepareReadChanges(this.#db));
    return {
      since: this.#reading((seq: number, options: { limit?: number } = {}) =>
        read().since(checkSeq(seq), checkPage(options.limit)),
      ),
      first: this.#reading(() => read().ends().first),
      last: this.#reading(() => read().ends().last),
    };
  }

  /** A read of this connection, with what goes wrong in it told in our words. */
  #reading<Arguments extends unknown[], Result>(
    read: (...args: Arguments) => Result,
  ): (...args: Arguments) => Promise<Result> {
    return async (...args) => {
      if (!this.#db.open) throw storeClosed(this.#path);
      try {
        return read(...args);
      } catch (error) {
        throw storeFailure(error, this.#path);
      }
    };
  }
}

function checkSeq(seq: number): number {
  if (Number.isSafeInteger(seq) && seq >= 0) return seq;
  throw new CortexError("request_invalid", `${seq} is not the number of a change`, {
    hint: "Give the number of the last change that was seen, or 0 for all that are kept.",
  });
}

function throwing(error: CortexError): never {
  throw error;
}
