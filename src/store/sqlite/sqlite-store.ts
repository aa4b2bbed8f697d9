/**
 * The store on SQLite: writes go to the writer thread, reads are answered from a connection of the main
 * thread, slow reads go to a process of their own.
 */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "better-sqlite3";

import { CortexError } from "../../model/errors.ts";
import type { DeliveryId, EventId, ItemId, RunId, TurnId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { createUlidSource, type UlidSource } from "../../model/ulid.ts";
import type {
  Accepted,
  Claim,
  DeliveryClaim,
  DeliveryState,
  Dispatched,
  EventStore,
  Lease,
  LeaseRequest,
  OutboxStore,
  Page,
  QueryOptions,
  QueueStore,
  Row,
  RunStore,
  SessionStore,
  SqlValue,
  Store,
  TurnStore,
  Verdict,
  WakeTopic,
} from "../store.ts";
import {
  DEFAULT_PAGE,
  DEFAULT_QUERY_DEADLINE_MS,
  DEFAULT_QUERY_ROWS,
  MAX_CHUNKS_IN_DELIVERY,
} from "../store.ts";
import type { ClaimRequest, ClaimRow } from "./claim.ts";
import { connectThread } from "./connect-thread.ts";
import { openForReading } from "./connection.ts";
import { type DispatchedRow, turnUnknown } from "./dispatch.ts";
import * as encode from "./encode.ts";
import { storeClosed, storeFailure } from "./failure.ts";
import { sessionUnknown } from "./held.ts";
import { takeLock } from "./lock.ts";
import { inspectDatabase } from "./migrate.ts";
import { prepareReadEvent } from "./read-events.ts";
import { prepareReadOutbox } from "./read-outbox.ts";
import { prepareReadQueue } from "./read-queue.ts";
import { prepareReadSessions } from "./read-sessions.ts";
import { prepareReadTurns } from "./read-turns.ts";
import { Reader } from "./reader.ts";
import { runUnknown } from "./suspend.ts";
import type { Connect } from "./writer-protocol.ts";
import { Writer } from "./writer.ts";

export interface SqliteOptions {
  readonly path: string;
  readonly clock: () => number;
  /** How the writer is reached: a thread, unless a test puts something else in its place. */
  readonly connect?: Connect;
}

/** More turns than any model takes. A thread that grows past this without a compaction is cut there. */
const WHOLE_CONTEXT = 10_000;

/**
 * Opens the database, creating it where there is none, and becomes its only writer. Whatever held leases
 * on it before is dead, so they are void.
 */
export async function openSqliteStore({
  path,
  clock,
  connect = connectThread,
}: SqliteOptions): Promise<SqliteStore> {
  const lock = claimDatabase(path);
  try {
    const writer = await Writer.open(path, clock, connect);
    try {
      return new SqliteStore({ path, lock, clock, writer, db: openForReading(path) });
    } catch (error) {
      await writer.close();
      throw error;
    }
  } catch (error) {
    lock[Symbol.dispose]();
    throw storeFailure(error, path);
  }
}

/** Looks whose database this is before anything is opened for writing. */
function claimDatabase(path: string): Disposable {
  try {
    mkdirSync(dirname(path), { recursive: true });
    inspectDatabase(path);
    return takeLock(path);
  } catch (error) {
    throw storeFailure(error, path);
  }
}

export class SqliteStore implements Store {
  readonly events: EventStore;
  readonly queue: QueueStore;
  readonly runs: RunStore;
  readonly turns: TurnStore;
  readonly sessions: SessionStore;
  readonly outbox: OutboxStore;
  readonly #path: string;
  readonly #lock: Disposable;
  readonly #writer: Writer;
  readonly #db: Database;
  readonly #reader: Reader;
  readonly #mintId: UlidSource;
  #closing: Promise<void> | undefined;

  constructor(parts: { path: string; lock: Disposable; clock: () => number; writer: Writer; db: Database }) {
    this.#path = parts.path;
    this.#lock = parts.lock;
    this.#writer = parts.writer;
    this.#db = parts.db;
    this.#reader = new Reader(parts.path);
    this.#mintId = createUlidSource(parts.clock);
    this.events = this.#eventStore();
    this.queue = this.#queueStore();
    this.runs = this.#runStore();
    this.turns = this.#turnStore();
    this.sessions = this.#sessionStore();
    this.outbox = this.#outboxStore();
  }

  query(sql: string, params: readonly SqlValue[] = [], options: QueryOptions = {}): Promise<Row[]> {
    const { deadlineMs = DEFAULT_QUERY_DEADLINE_MS, maxRows = DEFAULT_QUERY_ROWS } = options;
    return this.#reader.query(sql, params, { deadlineMs, maxRows });
  }

  verify(): Promise<Verdict> {
    return this.#reader.verify();
  }

  onWake(topic: WakeTopic, listener: () => void): () => void {
    return this.#writer.onWake(topic, listener);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.#reader.close();
    await this.#writer.drain();
    this.#db.close(); // before the writer, so that the last one out can fold the write-ahead log in
    await this.#writer.close();
    this.#lock[Symbol.dispose]();
  }

  /** Ends where it stands, as a crash of the process would leave it: for tests of what comes after one. */
  async crash(): Promise<void> {
    await Promise.all([this.#writer.terminate(), this.#reader.close()]);
    this.#db.close();
    this.#lock[Symbol.dispose]();
  }

  #eventStore(): EventStore {
    const readEvent = prepareReadEvent(this.#db);
    return {
      accept: async (event, { dispatch, claim } = {}): Promise<Accepted> => {
        const input = {
          event: encode.encodeEvent(event),
          dispatch: dispatch === undefined ? undefined : encode.encodeDispatch(dispatch),
          claim: this.#claimRequest(claim),
        };
        const { fresh, dispatched } = await this.#writer.call("acceptEvent", input);
        return dispatched === undefined ? { fresh } : { fresh, dispatched: toDispatched(dispatched) };
      },
      dispatch: async (event, dispatch, { claim } = {}) => {
        const input = { event, dispatch: encode.encodeDispatch(dispatch), claim: this.#claimRequest(claim) };
        return toDispatched(await this.#writer.call("dispatch", input));
      },
      get: this.#reading((id: EventId) => readEvent(id)),
    };
  }

  #queueStore(): QueueStore {
    const read = prepareReadQueue(this.#db);
    return {
      lease: async (request, max) => {
        const requests = Array.from({ length: checkCount(max) }, () => this.#claimRequest(request)!);
        return (await this.#writer.call("leaseSessions", { requests })).map(toClaim);
      },
      renew: async ({ holder, ttlMs }, leases) => {
        const lost = await this.#writer.call("renewLeases", { holder, ttlMs, leases });
        return lost.map((place) => leases[place]!);
      },
      release: async (leases: readonly Lease[]) => {
        await this.#writer.call("releaseLeases", { leases });
      },
      pending: this.#reading((session: SessionKey, page?: Page) => {
        if (!read.hasSession(session)) throw sessionUnknown(session).toError();
        return read.pending(session, ...range(page));
      }),
      itemsOf: this.#reading((turn: TurnId) => read.itemsOf(turn)),
      drop: async (items, policy) => (await this.#writer.call("dropItems", { items, policy })) as ItemId[],
      dead: this.#reading((page?: Page) => read.dead(...range(page))),
      retryDead: async (item: ItemId) => {
        await this.#writer.call("retryDead", { item });
      },
      dropDead: async (item: ItemId) => {
        await this.#writer.call("dropDead", { item });
      },
    };
  }

  #runStore(): RunStore {
    const read = prepareReadQueue(this.#db);
    return {
      journal: async (lease, run, entries) => {
        const input = { lease, run, entries: entries.map(encode.encodeEntry) };
        await this.#writer.call("journal", input);
      },
      readJournal: this.#reading((run: RunId) => read.journal(run) ?? throwing(runUnknown(run).toError())),
      pin: async (lease, run, pinned) => {
        await this.#writer.call("pin", { lease, run, pinned: encode.encodeJson(pinned, "What is pinned") });
      },
      suspend: async (lease, run, { id, kind, detail }) => {
        const text = encode.encodeJson(detail, "The detail of a wait");
        await this.#writer.call("suspend", { lease, run, id, kind, detail: text });
      },
      resume: async (run, wait, entries) =>
        this.#writer.call("resume", { run, wait, entries: entries.map(encode.encodeEntry) }),
      requestAbort: (run, reason) => this.#writer.call("requestAbort", { run, reason }),
      fail: async ({ lease, run, error, outcome, deliveries = [], claimNext }) => {
        const input = {
          lease,
          run,
          error,
          retryAtMs: outcome.kind === "retry" ? outcome.atMs : null,
          deliveries: deliveries.map(encode.encodeDelivery),
          claim: this.#claimRequest(claimNext),
        };
        return toFinished(await this.#writer.call("failRun", input));
      },
      get: this.#reading((run: RunId) => read.run(run)),
      active: this.#reading((page?: Page) => read.active(...range(page))),
    };
  }

  #turnStore(): TurnStore {
    const read = prepareReadTurns(this.#db);
    const known = (id: TurnId): TurnId => (read.exists(id) ? id : throwing(turnUnknown(id).toError()));
    return {
      commit: async (turn) => {
        const { lease, run, status, deliveries = [] } = turn;
        const input = {
          lease,
          run,
          turn: turn.turn,
          parent: turn.parent ?? null,
          status,
          facts: encode.encodeFacts(turn.facts),
          messages: turn.messages.map(encode.encodeMessage),
          toolCalls: turn.toolCalls.map(encode.encodeToolCall),
          answer: turn.answer === undefined ? undefined : encode.encodeAnswer(turn.answer),
          deliveries: deliveries.map(encode.encodeDelivery),
          claim: this.#claimRequest(turn.claimNext),
        };
        return toFinished(await this.#writer.call("commitTurn", input));
      },
      compact: async ({ lease, run, turn, facts, summary, firstKept }) => {
        await this.#writer.call("compact", {
          lease,
          run,
          turn,
          compactionRun: this.#mintId(),
          facts: encode.encodeFacts(facts),
          summary: encode.encodeMessage(summary),
          firstKept: firstKept ?? null,
        });
      },
      get: this.#reading((id: TurnId) => read.get(id)),
      read: this.#reading((id: TurnId) => read.content(id)),
      context: this.#reading((id: TurnId, { limit = WHOLE_CONTEXT } = {}) =>
        read.context(known(id), checkCount(limit)),
      ),
      thread: this.#reading((id: TurnId, { limit }) => read.thread(known(id), checkCount(limit))),
      children: this.#reading((id: TurnId) => read.children(known(id))),
      ancestor: this.#reading((id: TurnId, depth: number) => read.ancestor(known(id), depth)),
    };
  }

  #sessionStore(): SessionStore {
    const read = prepareReadSessions(this.#db);
    return {
      head: this.#reading(
        (session: SessionKey) => (read.head(session) ?? throwing(sessionUnknown(session).toError())).head,
      ),
      get: this.#reading((session: SessionKey) => read.get(session)),
      list: this.#reading((page?: Page) => read.list(...range(page))),
      fork: async (turn, label) => {
        await this.#writer.call("fork", { turn, label: encode.checkKey(label) });
        return read.get(label)!;
      },
      reset: async (label: SessionKey) => {
        await this.#writer.call("resetSession", { label });
      },
    };
  }

  #outboxStore(): OutboxStore {
    const read = prepareReadOutbox(this.#db);
    const claimed = (fence: { delivery: string; epoch: number; state: string }): DeliveryClaim => {
      const { target, replyTo, content, attempt, chunks } = read.get(fence.delivery as DeliveryId)!;
      const { delivery, epoch, state } = fence as DeliveryClaim;
      return { delivery, epoch, state, target, replyTo, content, attempt, chunks };
    };
    return {
      claim: async ({ holder, ttlMs }, max) => {
        const fences = await this.#writer.call("claimDeliveries", { holder, ttlMs, max: checkCount(max) });
        return fences.map(claimed);
      },
      plan: async ({ delivery, epoch }, chunks) => {
        if (chunks.length === 0 || chunks.length > MAX_CHUNKS_IN_DELIVERY) throw chunksInvalid(chunks.length);
        await this.#writer.call("planDelivery", { fence: { delivery, epoch }, chunks });
      },
      sending: async ({ delivery, epoch }, chunk) => {
        await this.#writer.call("sendingChunk", { fence: { delivery, epoch }, chunk });
      },
      settle: async ({ delivery, epoch }, chunk, outcome) => {
        await this.#writer.call("settleChunk", {
          fence: { delivery, epoch },
          chunk,
          kind: outcome.kind,
          platformId: outcome.kind === "sent" ? (outcome.platformId ?? null) : null,
          error: "error" in outcome ? outcome.error : null,
          retryAtMs: "retryAtMs" in outcome ? outcome.retryAtMs : null,
        });
      },
      fail: async ({ delivery, epoch }, { kind, error, ...rest }) => {
        const retryAtMs = "retryAtMs" in rest ? rest.retryAtMs : null;
        await this.#writer.call("failDelivery", { fence: { delivery, epoch }, kind, error, retryAtMs });
      },
      release: async (claims) => {
        await this.#writer.call("releaseDeliveries", { fences: claims });
      },
      get: this.#reading((id: DeliveryId) => read.get(id)),
      list: this.#reading((options: Page & { state?: DeliveryState } = {}) =>
        read.list(...range(options), options.state),
      ),
      retry: async (delivery: DeliveryId) => {
        await this.#writer.call("retryDelivery", { delivery });
      },
    };
  }

  /** A read of the main thread's connection, with what goes wrong in it told in our words. */
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

  /** Ids are made here, so that a call which has to be repeated would name the same ones. */
  #claimRequest(request: LeaseRequest | undefined): ClaimRequest | undefined {
    if (request === undefined) return undefined;
    const { holder, ttlMs } = request;
    return { holder, ttlMs, run: this.#mintId(), turn: this.#mintId() };
  }
}

function toClaim(row: ClaimRow): Claim {
  return {
    lease: { session: row.session as SessionKey, epoch: row.epoch },
    run: row.run as RunId,
    turn: row.turn as TurnId,
    parent: (row.parent ?? undefined) as TurnId | undefined,
    attempt: row.attempt,
    interruptions: row.interruptions,
    journalled: row.progress > 0,
    abort: row.abort ?? undefined,
  };
}

function toDispatched({ outcome, item, session, claim }: DispatchedRow): Dispatched {
  const ids = { outcome, item: item as ItemId, session: session as SessionKey };
  return claim === undefined ? ids : { ...ids, claim: toClaim(claim) };
}

function toFinished({ next }: { next: ClaimRow | undefined }): { next?: Claim } {
  return next === undefined ? {} : { next: toClaim(next) };
}

function range({ limit = DEFAULT_PAGE, offset = 0 }: Page = {}): [number, number] {
  return [checkCount(limit), offset];
}

function checkCount(count: number): number {
  if (Number.isInteger(count) && count > 0) return count;
  throw new CortexError("limit_invalid", `${count} is not a number of things to ask for`, {
    hint: "Ask for a whole number, at least 1.",
  });
}

function throwing(error: CortexError): never {
  throw error;
}

function chunksInvalid(count: number): CortexError {
  return new CortexError("limit_invalid", `A delivery cannot have ${count} chunks`, {
    hint: `Split it into 1 to ${MAX_CHUNKS_IN_DELIVERY} chunks.`,
  });
}
