/**
 * All reads, over one connection that cannot write. The store reads through it, and the command line
 * does without a store: beside a running Cortex or without one.
 */
import { existsSync, statSync } from "node:fs";
import type { Database } from "better-sqlite3";

import { CortexError } from "../../model/errors.ts";
import type { DeliveryId, EventId, ItemId, RunId, TurnId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type {
  ChangeReads,
  Counts,
  DeadReads,
  DeliveryState,
  EventFilter,
  EventReads,
  Ledger,
  ListOptions,
  OutboxReads,
  Pulse,
  QueryOptions,
  QueueReads,
  Row,
  RunReads,
  RunState,
  SessionReads,
  SqlValue,
  TurnReads,
  Verdict,
} from "../store.ts";
import { DEFAULT_QUERY_DEADLINE_MS, DEFAULT_QUERY_ROWS } from "../store.ts";
import { openForReading } from "./connection.ts";
import { storeClosed, storeFailure, storeMissing } from "./failure.ts";
import { checkCurrent } from "./migrate.ts";
import { checkCount, checkPage } from "./page.ts";
import { prepareReadChanges } from "./read-changes.ts";
import { prepareReadCounts } from "./read-counts.ts";
import { prepareReadDead } from "./read-dead.ts";
import { prepareReadEvents } from "./read-events.ts";
import { prepareReadOutbox } from "./read-outbox.ts";
import { prepareReadPulse } from "./read-pulse.ts";
import { prepareReadQueue } from "./read-queue.ts";
import { prepareReadRuns } from "./read-runs.ts";
import { prepareReadSessions } from "./read-sessions.ts";
import { prepareReadTurns } from "./read-turns.ts";
import { Reader } from "./reader.ts";
import { runUnknown, sessionUnknown, turnUnknown } from "./unknown.ts";

/** More turns than any model takes. A thread that grows past this without a compaction is cut there. */
const WHOLE_CONTEXT = 10_000;

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
  readonly dead: DeadReads;
  readonly changes: ChangeReads;
  readonly counts: () => Promise<Counts>;
  readonly pulse: (nowMs: number) => Promise<Pulse>;
  readonly #path: string;
  readonly #db: Database;
  readonly #reader: Reader;
  readonly #readDead = lazily(() => prepareReadDead(this.#db));

  constructor({ path, db }: { readonly path: string; readonly db: Database }) {
    this.#path = path;
    this.#db = db;
    this.#reader = new Reader(path);
    this.events = this.#eventReads();
    this.queue = this.#queueReads();
    this.runs = this.#runReads();
    this.turns = this.#turnReads();
    this.sessions = this.#sessionReads();
    this.outbox = this.#outboxReads();
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.close();
    this.#db.close();
  }

  #eventReads(): EventReads {
    const read = lazily(() => prepareReadEvents(this.#db));
    return {
      get: this.#reading((id: EventId) => read().get(id)),
      list: this.#reading((options?: ListOptions & EventFilter) => read().list(options)),
      dispatches: this.#reading((id: EventId) => read().dispatches(id)),
    };
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
    };
  }

  #sessionReads(): SessionReads {
    const read = lazily(() => prepareReadSessions(this.#db));
    return {
      head: this.#reading(
        (session: SessionKey) => (read().head(session) ?? throwing(sessionUnknown(session).toError())).head,
      ),
      get: this.#reading((session: SessionKey) => read().get(session)),
      list: this.#reading((options?: ListOptions) => read().list(options)),
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

/** Statements are prepared when they are first needed: a command that asks one thing starts sooner. */
function lazily<T>(prepare: () => T): () => T {
  let prepared: T | undefined;
  return () => (prepared ??= prepare());
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
