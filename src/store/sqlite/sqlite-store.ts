/**
 * The store on SQLite: writes go to the writer thread, reads to a ledger on a connection of the main thread, slow
 * reads to a separate process.
 */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

import { CortexError } from "../../model/errors.ts";
import { splitEventId } from "../../model/event.ts";
import type { DeliveryId, EventId, ItemId, RunId, TurnId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import type { Redact } from "../../model/redact.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { labelJson } from "../../model/trust.ts";
import { createUlidSource, type UlidSource } from "../../model/ulid.ts";
import type {
  Accepted,
  Claim,
  Counts,
  DeliveryClaim,
  EventToAccept,
  Dispatched,
  KeptPersona,
  Lease,
  LeaseRequest,
  Prunable,
  PruneKind,
  PruneRequest,
  PruneStep,
  Pulse,
  Recorded,
  QueryOptions,
  Row,
  SqlValue,
  Store,
  Verdict,
  WakeTopic,
} from "../store.ts";
import { MAX_CHUNKS_IN_DELIVERY } from "../store.ts";
import { digestedEventId, keptKey, refuseSecretName } from "../kept-id.ts";
import type { AcceptedRow } from "./accept-event.ts";
import { OWNER } from "./audit.ts";
import type { ClaimRequest, ClaimRow } from "./claim.ts";
import { connectThread } from "./connect-thread.ts";
import { cutLog } from "./connection.ts";
import { copyBeforeMigration, dropCopies, dropOldCopies } from "./copy-database.ts";
import type { DispatchedRow } from "./dispatch.ts";
import { encodePerson, encodePersonChange } from "./encode-people.ts";
import * as encode from "./encode.ts";
import { encodeFiring, encodeHookFiles, encodeHookRun } from "./encode-hooks.ts";
import { encodeRelay, encodeRelayChange } from "./encode-relays.ts";
import { storeFailure } from "./failure.ts";
import { takeLock } from "./lock.ts";
import { inspectDatabase } from "./migrate.ts";
import type { Input, OperationName } from "./operations.ts";
import { checkCount } from "./page.ts";
import { required } from "./row.ts";
import { openSqliteLedger, type SqliteLedger } from "./sqlite-ledger.ts";
import type { Connect } from "./writer-protocol.ts";
import { Writer } from "./writer.ts";

export interface SqliteOptions {
  readonly path: string;
  readonly clock: () => number;
  /**
   * Removes secrets from all text that is written: of people, models, tools and platforms. Ids and configured names
   * stay as they are. It may learn more secrets later; stored text does not change.
   */
  readonly redact?: Redact;
  /** How to reach the writer. Defaults to a thread. */
  readonly connect?: Connect;
}

/**
 * Opens the database, creating it if needed, and becomes its only writer. All earlier leases are void, since their
 * holders are dead.
 */
export async function openSqliteStore({
  path,
  clock,
  redact = (text) => text,
  connect = connectThread,
}: SqliteOptions): Promise<SqliteStore> {
  const lock = claimDatabase(path);
  try {
    copyBeforeMigration(path, clock());
    const writer = await Writer.open({ path, clock, connect, redact });
    try {
      const ledger = await openSqliteLedger({ path });
      dropOldCopies(path, clock());
      return new SqliteStore({ path, lock, clock, redact, writer, ledger });
    } catch (error) {
      await writer.close();
      throw error;
    }
  } catch (error) {
    lock[Symbol.dispose]();
    throw storeFailure(error, path);
  }
}

/** Checks the database before anything is opened for writing. */
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
  readonly holdsSecret: Store["holdsSecret"];
  readonly events: Store["events"];
  readonly queue: Store["queue"];
  readonly runs: Store["runs"];
  readonly turns: Store["turns"];
  readonly sessions: Store["sessions"];
  readonly outbox: Store["outbox"];
  readonly drafts: Store["drafts"];
  readonly approvals: Store["approvals"];
  readonly delegations: Store["delegations"];
  readonly relays: Store["relays"];
  readonly team: Store["team"];
  readonly hooks: Store["hooks"];
  readonly labels: Store["labels"];
  readonly cursors: Store["cursors"];
  readonly people: Store["people"];
  readonly pairings: Store["pairings"];
  readonly tokens: Store["tokens"];
  readonly audit: Store["audit"];
  readonly dead: Store["dead"];
  readonly changes: Store["changes"];
  readonly #path: string;
  readonly #lock: Disposable;
  readonly #writer: Writer;
  readonly #ledger: SqliteLedger;
  readonly #mintId: UlidSource;
  #closing: Promise<void> | undefined;

  constructor(parts: {
    path: string;
    lock: Disposable;
    clock: () => number;
    redact: Redact;
    writer: Writer;
    ledger: SqliteLedger;
  }) {
    this.#path = parts.path;
    this.#lock = parts.lock;
    this.#writer = parts.writer;
    this.#ledger = parts.ledger;
    this.holdsSecret = (text) => parts.redact(text) !== text;
    this.dead = parts.ledger.dead;
    this.changes = parts.ledger.changes;
    this.#mintId = createUlidSource(parts.clock);
    this.events = this.#eventStore();
    this.queue = this.#queueStore();
    this.runs = this.#runStore();
    this.turns = this.#turnStore();
    this.sessions = this.#sessionStore();
    this.outbox = this.#outboxStore();
    this.drafts = this.#draftStore();
    this.approvals = this.#approvalStore();
    this.delegations = this.#delegationStore();
    this.relays = this.#relayStore();
    this.team = this.#teamStore();
    this.hooks = this.#hookStore();
    this.labels = this.#labelStore();
    this.cursors = this.#cursorStore();
    this.people = this.#peopleStore();
    this.pairings = this.#pairingStore();
    this.tokens = this.#tokenStore();
    this.audit = this.#auditStore();
  }

  counts(): Promise<Counts> {
    return this.#ledger.counts();
  }

  pulse(nowMs: number): Promise<Pulse> {
    return this.#ledger.pulse(nowMs);
  }

  query(sql: string, params?: readonly SqlValue[], options?: QueryOptions): Promise<Row[]> {
    return this.#ledger.query(sql, params, options);
  }

  verify(): Promise<Verdict> {
    return this.#ledger.verify();
  }

  prunable(beforeMs: number): Promise<Prunable> {
    return this.#ledger.prunable(beforeMs);
  }

  async prune(kind: PruneKind, { beforeMs, after = 0, max, principals }: PruneRequest): Promise<PruneStep> {
    const of = principals === undefined ? null : encode.encodeJson([...principals], "The people");
    const input = { kind, beforeMs, after, max: checkCount(max), principals: of };
    const { pruned, next } = await this.#writer.call("prune", input);
    return { pruned, next: next ?? undefined };
  }

  async forgetPruned(): Promise<void> {
    for (let isFirst = 1, isDone = false; !isDone; isFirst = 0) {
      ({ isDone } = await this.#writer.call("forgetWords", { isFirst }));
    }
    cutLog(this.#path);
    dropCopies(this.#path);
  }

  async syncPersonas(personas: readonly KeptPersona[], rights: Json = null): Promise<void> {
    return this.#do("syncPersonas", encode.encodePersonas(personas, rights));
  }

  onWake(topic: WakeTopic, listener: () => void): () => void {
    return this.#writer.onWake(topic, listener);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.#writer.drain();
    await this.#ledger[Symbol.asyncDispose](); // before the writer: the last connection checkpoints the log
    await this.#writer.close();
    this.#lock[Symbol.dispose]();
  }

  /** Stops as a crash of the process would, for tests of recovery. */
  async crash(): Promise<void> {
    await this.#writer.terminate();
    await this.#ledger[Symbol.asyncDispose]();
    this.#lock[Symbol.dispose]();
  }

  #eventStore(): Store["events"] {
    return {
      ...this.#ledger.events,
      accept: async (event, options = {}) =>
        toAccepted(await this.#writer.call("acceptEvent", this.#acceptInput({ event, options }))),
      acceptAll: async (events, cursor) => {
        const input = {
          events: events.map((each) => this.#acceptInput(each)),
          cursor: cursor === undefined ? undefined : encode.encodeCursor(cursor),
        };
        return (await this.#writer.call("acceptEvents", input)).map(toAccepted);
      },
      keptId: (id) => this.#keptId(id),
      dispatch: async (event, dispatch, { claim } = {}) => {
        const input = { event, dispatch: encode.encodeDispatch(dispatch), claim: this.#claimRequest(claim) };
        return toDispatched(await this.#writer.call("dispatch", input));
      },
      index: async (max) => this.#writer.call("indexEvents", { max: checkCount(max) }),
    };
  }

  #acceptInput({ event, options = {} }: EventToAccept): Input<"acceptEvent"> {
    const { dispatch, claim, judge, revises, notices = [], moves, withdraws, cursor, guest } = options;
    return {
      event: encode.encodeEvent({ ...event, id: this.#keptId(event.id) }),
      dispatch: dispatch === undefined ? undefined : encode.encodeDispatch(dispatch),
      claim: this.#claimRequest(claim),
      judge: judge === true ? 1 : 0,
      revises,
      notices: notices.map(encode.encodeDelivery),
      moves: moves === undefined ? undefined : encode.encodeMove(moves),
      withdraws,
      cursor: cursor === undefined ? undefined : encode.encodeCursor(cursor),
      guest: guest === undefined ? undefined : { ...guest, guest: keptKey(guest.guest, this) },
    };
  }

  #keptId(id: EventId): EventId {
    this.#writer.requireRunning();
    const digested = digestedEventId(id);
    if (this.holdsSecret(splitEventId(id).sourceId)) return this.#ledger.hasEvent(id) ? id : digested;
    return this.#ledger.hasEvent(digested) ? digested : id;
  }

  #queueStore(): Store["queue"] {
    return {
      ...this.#ledger.queue,
      lease: async (request, max) => {
        const requests = Array.from({ length: checkCount(max) }, () => this.#newClaim(request));
        return (await this.#writer.call("leaseSessions", { requests })).map(toClaim);
      },
      renew: async ({ holder, ttlMs }, leases) => {
        const lost = await this.#writer.call("renewLeases", { holder, ttlMs, leases });
        return lost.map((place) => leases[place]!);
      },
      release: async (leases: readonly Lease[]) => this.#do("releaseLeases", { leases }),
      drop: async (items, policy) => this.#writer.call("dropItems", { items, policy }),
      retryDead: async (item: ItemId) => this.#do("retryDead", { item }),
      dropDead: async (item: ItemId) => this.#do("dropDead", { item }),
    };
  }

  #runStore(): Store["runs"] {
    return {
      ...this.#ledger.runs,
      journal: async (lease, run, entries) => {
        const input = { lease, run, entries: entries.map(encode.encodeEntry) };
        await this.#writer.call("journal", input);
      },
      pin: async (lease, run, pinned) =>
        this.#do("pin", { lease, run, pinned: encode.encodeJson(pinned, "The pinned value") }),
      suspend: async (lease, run, { id, kind, detail }, asked = []) => {
        const text = encode.encodeJson(detail, "The detail of a wait");
        const requests = asked.map(encode.encodeRequest);
        await this.#writer.call("suspend", { lease, run, id, kind, detail: text, requests });
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
    };
  }

  #turnStore(): Store["turns"] {
    return {
      ...this.#ledger.turns,
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
          used: encode.encodeUsed(turn.messages),
          toolCalls: turn.toolCalls.map(encode.encodeToolCall),
          answer: turn.answer === undefined ? undefined : encode.encodeAnswer(turn.answer),
          judge: turn.judge === true ? 1 : 0,
          deliveries: deliveries.map(encode.encodeDelivery),
          held: encode.encodeHeld(turn.held),
          timing: turn.timing === undefined ? null : JSON.stringify(turn.timing),
          claim: this.#claimRequest(turn.claimNext),
        };
        return toFinished(await this.#writer.call("commitTurn", input));
      },
      beginCompaction: async (lease, run) => this.#do("beginCompaction", { lease, run }),
      compact: async ({ lease, run, turn, facts, summary, firstKept }) =>
        this.#do("compact", {
          lease,
          run,
          turn,
          compactionRun: this.#mintId(),
          facts: encode.encodeFacts(facts),
          summary: encode.encodeMessage(summary),
          used: encode.encodeUsed([summary]),
          firstKept: firstKept ?? null,
        }),
    };
  }

  #sessionStore(): Store["sessions"] {
    return {
      ...this.#ledger.sessions,
      fork: async (turn, label) => {
        refuseSecretName("session", label, this);
        await this.#writer.call("fork", { turn, label: encode.checkKey(label) });
        return required(await this.#ledger.sessions.get(label));
      },
      reset: async (label: SessionKey) => this.#do("resetSession", { label }),
      configure: async (label, settings, { create, by = OWNER, origins = [] } = {}) => {
        const { agent = null, persona = null } = create ?? {};
        const encoded = encode.encodeSettings(settings);
        const key = create === undefined ? label : encode.checkKey(label);
        await this.#writer.call("configureSession", {
          label: key,
          settings: encoded,
          agent,
          persona,
          by,
          origins: JSON.stringify(origins),
        });
      },
    };
  }

  #outboxStore(): Store["outbox"] {
    return {
      ...this.#ledger.outbox,
      add: async (lease, run, delivery) =>
        this.#do("addDelivery", { lease, run, delivery: encode.encodeDelivery(delivery) }),
      notify: async (delivery) => this.#do("addNotice", { delivery: encode.encodeDelivery(delivery) }),
      claim: async ({ holder, ttlMs }, max) => {
        const fences = await this.#writer.call("claimDeliveries", { holder, ttlMs, max: checkCount(max) });
        return Promise.all(fences.map((fence) => this.#deliveryClaim(fence)));
      },
      plan: async ({ delivery, epoch }, chunks) => {
        if (chunks.length === 0 || chunks.length > MAX_CHUNKS_IN_DELIVERY) throw chunksInvalid(chunks.length);
        await this.#writer.call("planDelivery", { fence: { delivery, epoch }, chunks });
      },
      sending: async ({ delivery, epoch }, chunk) =>
        this.#do("sendingChunk", { fence: { delivery, epoch }, chunk }),
      settle: async ({ delivery, epoch }, chunk, outcome) =>
        this.#do("settleChunk", {
          fence: { delivery, epoch },
          chunk,
          kind: outcome.kind,
          platformId: outcome.kind === "sent" ? (outcome.platformId ?? null) : null,
          error: "error" in outcome ? outcome.error : null,
          retryAtMs: "retryAtMs" in outcome ? outcome.retryAtMs : null,
          isRepeat: outcome.kind === "retry" && outcome.isRepeat === true ? 1 : 0,
        }),
      fail: async ({ delivery, epoch }, { kind, error, ...rest }) => {
        const retryAtMs = "retryAtMs" in rest ? rest.retryAtMs : null;
        await this.#writer.call("failDelivery", { fence: { delivery, epoch }, kind, error, retryAtMs });
      },
      release: async (claims) => this.#do("releaseDeliveries", { fences: claims }),
      retry: async (delivery: DeliveryId) => this.#do("retryDelivery", { delivery }),
      dropDead: async (delivery: DeliveryId) => this.#do("dropDeadDelivery", { delivery }),
    };
  }

  #approvalStore(): Store["approvals"] {
    return {
      ...this.#ledger.approvals,
      answer: async (id, answer) => {
        await this.#writer.call("answerApproval", encode.encodeAnswerTo(id, answer));
        return required(await this.#ledger.approvals.get(id));
      },
      use: (lease, run, id) => this.#writer.call("useApproval", { lease, run, id }),
      expire: async () => this.#writer.call("expireApprovals", {}),
    };
  }

  #delegationStore(): Store["delegations"] {
    return {
      ...this.#ledger.delegations,
      report: async (id, told) => {
        const message =
          told === undefined
            ? undefined
            : {
                event: encode.encodeEvent(told.event),
                dispatch: encode.encodeDispatch(told.dispatch),
                claim: this.#claimRequest(told.claim),
              };
        const { reported, claim } = await this.#writer.call("reportDelegation", { id, message });
        return claim === undefined ? { reported } : { reported, claim: toClaim(claim) };
      },
      expire: async () => this.#writer.call("expireDelegations", {}),
      cancel: (caller, reason) => this.#writer.call("cancelDelegations", { caller, reason }),
    };
  }

  #relayStore(): Store["relays"] {
    return {
      ...this.#ledger.relays,
      create: async (relay) => this.#writer.call("createRelay", encodeRelay(relay)),
      save: async (id, version, change) => {
        const input = {
          ...encodeRelayChange(id, change),
          version,
          claim: this.#claimRequest(change.claim),
        };
        const { claim, ...saved } = await this.#writer.call("saveRelay", input);
        return claim === undefined ? saved : { ...saved, claim: toClaim(claim) };
      },
      archive: async (ids) => this.#do("archiveRelays", { ids }),
    };
  }

  #teamStore(): Store["team"] {
    return {
      ...this.#ledger.team,
      keep: async ({ isOver = false, give, ...member }) =>
        this.#do("keepMember", {
          ...encode.encodeMember(member),
          isOver: Number(isOver),
          give: give === undefined ? undefined : encode.encodeGift(give),
        }),
      order: async ({ event, dispatch, worker, claim: request, ...member }) => {
        const { claim, ...ordered } = await this.#writer.call("orderTurn", {
          ...encode.encodeMember(member),
          event: encode.encodeEvent(event),
          dispatch: encode.encodeDispatch(dispatch),
          worker: encode.encodeJson(worker, "The brief of a member"),
          claim: this.#claimRequest(request),
        });
        return claim === undefined ? ordered : { ...ordered, claim: toClaim(claim) };
      },
    };
  }

  #hookStore(): Store["hooks"] {
    return {
      ...this.#ledger.hooks,
      sync: async (found) => {
        await this.#writer.call("syncHooks", { found: encodeHookFiles(found) });
        return this.#ledger.hooks.list();
      },
      setEnabled: async (name, enabled, by = OWNER) => {
        await this.#writer.call("setHookEnabled", { name, enabled: Number(enabled), by });
        return required(await this.#ledger.hooks.get(name));
      },
      record: async (run): Promise<Recorded> => {
        const { dispatched, ...recorded } = await this.#writer.call("recordHookRun", {
          event: run.event,
          run: encodeHookRun(run),
          dispatch: encodeFiring(run),
          claim: this.#claimRequest(run.claim),
        });
        return dispatched === undefined ? recorded : { ...recorded, dispatched: toDispatched(dispatched) };
      },
      hold: async (event, hooks, forMs) => this.#do("holdDispatches", { event, hooks, forMs }),
      countUsage: async (used) => this.#do("countUsage", used),
      judged: async (event, silent = []) =>
        this.#do("noteJudged", {
          event,
          runs: silent.map((run) => encodeHookRun(run)),
        }),
    };
  }

  #labelStore(): Store["labels"] {
    return {
      ...this.#ledger.labels,
      willWrite: async (file) => this.#do("willWrite", { file: encode.encodeWritten(file) }),
      hasWritten: async (path, sha256) => this.#do("hasWritten", { path, sha256: sha256 ?? null }),
      beginCommand: async ({ folders, label, startedAtMs, ...command }) =>
        this.#do("beginCommand", {
          ...command,
          folders: encode.encodeJson([...folders], "The folders of a command"),
          label: encode.encodeJson(labelJson(label), "The label of a command"),
          startedMs: startedAtMs,
        }),
      endCommand: async (id, endedMs, files) =>
        this.#do("endCommand", { id, endedMs, files: files?.map(encode.encodeWritten) }),
    };
  }

  #draftStore(): Store["drafts"] {
    return {
      ...this.#ledger.drafts,
      begin: async (run, target) => this.#writer.call("beginDraft", { run, ...encode.encodeTarget(target) }),
      sent: async (turn, platformId) => this.#do("sentDraft", { turn, platformId }),
      forget: async (turn: TurnId) => this.#do("forgetDraft", { turn }),
    };
  }

  #cursorStore(): Store["cursors"] {
    return {
      ...this.#ledger.cursors,
      set: async (...cursors) => this.#do("setCursors", { cursors: cursors.map(encode.encodeCursor) }),
    };
  }

  #pairingStore(): Store["pairings"] {
    return {
      ...this.#ledger.pairings,
      offer: async ({ target, expiresAtMs: expiresMs, ...pairing }) => {
        const input = { ...pairing, target: encode.encodeJson({ ...target }, "A target"), expiresMs };
        return (await this.#writer.call("offerPairing", input)) ?? undefined;
      },
      remove: async (code) => this.#do("removePairing", { code }),
    };
  }

  #peopleStore(): Store["people"] {
    const stored = async (id: string) => required(await this.#ledger.people.get(id));
    return {
      ...this.#ledger.people,
      add: async (person, by) => {
        for (const name of [person.id, ...(person.identities ?? [])]) refuseSecretName("person", name, this);
        await this.#writer.call("addPerson", { person: encodePerson(person), by });
        return stored(person.id);
      },
      change: async (id, change, by) => {
        for (const identity of change.link ?? []) refuseSecretName("identity", identity, this);
        await this.#writer.call("changePerson", encodePersonChange(id, change, by));
        return stored(id);
      },
      remove: async (id, by) => this.#do("removePerson", { id, by }),
      takeOver: async (people) => this.#writer.call("takePeopleOver", { people: people.map(encodePerson) }),
      take: async (use) => this.#writer.call("takeFromPerson", use),
    };
  }

  #tokenStore(): Store["tokens"] {
    return {
      ...this.#ledger.tokens,
      create: async (token, by) => {
        await this.#writer.call("createToken", encode.encodeToken(token, by));
        return required(await this.#ledger.tokens.get(token.id));
      },
      revoke: async (id, by) => {
        await this.#writer.call("revokeToken", { id, by });
        return required(await this.#ledger.tokens.get(id));
      },
      used: async (id: string) => this.#do("noteTokenUsed", { id }),
    };
  }

  #auditStore(): Store["audit"] {
    return {
      ...this.#ledger.audit,
      append: async ({ detail, ...entry }) =>
        this.#do("appendAudit", {
          ...entry,
          detail: encode.encodeJson(detail, "The detail of an audit entry"),
        }),
      noteOutside: async (noted, by) => this.#do("noteOutside", { ...noted, by }),
    };
  }

  async #do<Name extends OperationName>(name: Name, input: Input<Name>): Promise<void> {
    await this.#writer.call(name, input);
  }

  async #deliveryClaim({ delivery, epoch, state }: Fence): Promise<DeliveryClaim> {
    return { ...required(await this.#ledger.outbox.get(delivery)), delivery, epoch, state };
  }

  #claimRequest(request: LeaseRequest | undefined): ClaimRequest | undefined {
    return request === undefined ? undefined : this.#newClaim(request);
  }

  /** Ids are made here, so that a repeated call would name the same ones. */
  #newClaim({ holder, ttlMs, others }: LeaseRequest): ClaimRequest {
    return {
      holder,
      ttlMs,
      others: others ?? null,
      run: this.#mintId() as RunId,
      turn: this.#mintId() as TurnId,
    };
  }
}

type Fence = Pick<DeliveryClaim, "delivery" | "epoch" | "state">;

function toClaim(row: ClaimRow): Claim {
  return {
    lease: { session: row.session, epoch: row.epoch },
    run: row.run,
    turn: row.turn,
    parent: row.parent ?? undefined,
    attempt: row.attempt,
    interruptions: row.interruptions,
    journalled: row.progress > 0,
    abort: row.abort ?? undefined,
  };
}

function toAccepted({ fresh, unkept, dispatched }: AcceptedRow): Accepted {
  if (unkept === true) return { fresh, unkept };
  return dispatched === undefined ? { fresh } : { fresh, dispatched: toDispatched(dispatched) };
}

function toDispatched({ claim, ...dispatched }: DispatchedRow): Dispatched {
  return claim === undefined ? dispatched : { ...dispatched, claim: toClaim(claim) };
}

function toFinished({ next }: { next: ClaimRow | undefined }): { next?: Claim } {
  return next === undefined ? {} : { next: toClaim(next) };
}

function chunksInvalid(count: number): CortexError {
  return new CortexError("limit_invalid", `A delivery cannot have ${count} chunks`, {
    hint: `Split it into 1 to ${MAX_CHUNKS_IN_DELIVERY} chunks.`,
  });
}
