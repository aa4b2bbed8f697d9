/**
 * The store: everything that must survive, and the only place where the steps of the pipeline meet.
 *
 * Its verbs are whole operations of the broker. Each is one transaction: when its promise resolves, all
 * of it is on disk; when it rejects, none of it is. There is no exposed transaction and no way to write
 * half an operation.
 *
 * Three rules hold for every verb that writes.
 *
 * - It may be called again with the same ids. A call that failed with `store_writer_lost` may have been
 *   committed all the same; repeating it does nothing twice. It succeeds again, or is refused because
 *   things have gone on since.
 * - It refuses before it writes. Unknown ids, stale leases and bad input are CortexErrors, and nothing
 *   of the operation is kept.
 * - What a run writes carries its lease. Once another holder has taken the session over, every write
 *   with the old lease is refused with `lease_lost`.
 */
import type { PersonaId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { ApprovalReads, ApprovalStore } from "./approvals.ts";
import type { ChangeReads } from "./changes.ts";
import type { DeadReads } from "./dead-letters.ts";
import type { DelegationReads, DelegationStore } from "./delegations.ts";
import type { OutboxReads, OutboxStore } from "./deliveries.ts";
import type { EventReads, EventStore } from "./events.ts";
import type { Counts, Pulse } from "./health.ts";
import type { HookReads, HookStore } from "./hooks.ts";
import type { ProgressReads, ProgressStore } from "./progress.ts";
import type { Prunable, PruneKind, PruneRequest, PruneStep } from "./pruning.ts";
import type { QueueReads, QueueStore } from "./queue-items.ts";
import type { RelayReads, RelayStore } from "./relays.ts";
import type { RunReads, RunStore } from "./runs.ts";
import type { SessionReads, SessionStore } from "./sessions.ts";
import type { TeamReads, TeamStore } from "./team.ts";
import type { TurnReads, TurnStore, Verdict } from "./turns.ts";
import type { FileReads, FileStore } from "./watched-files.ts";

export type * from "./approvals.ts";
export type * from "./changes.ts";
export type * from "./dead-letters.ts";
export type * from "./delegations.ts";
export type * from "./deliveries.ts";
export type * from "./dispatches.ts";
export type * from "./events.ts";
export type * from "./health.ts";
export type * from "./hooks.ts";
export type * from "./leases.ts";
export type * from "./list.ts";
export type * from "./progress.ts";
export type * from "./pruning.ts";
export type * from "./queue-items.ts";
export type * from "./relays.ts";
export type * from "./runs.ts";
export type * from "./sessions.ts";
export type * from "./team.ts";
export type * from "./turns.ts";
export type * from "./watched-files.ts";
export * from "./limits.ts";
export { PRUNE_KINDS } from "./pruning.ts";

/** What can be read, also beside the one that writes. Reading takes no lock and changes nothing. */
export interface Ledger extends AsyncDisposable {
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
  /** What the files channel knows of the files that it watches. */
  readonly files: FileReads;
  readonly progress: ProgressReads;
  /** What came to no good end, messages and deliveries alike. */
  readonly dead: DeadReads;
  /** What was changed, in order: for whoever shows it live. */
  readonly changes: ChangeReads;

  /** How much there is of everything, cheap enough to be asked for every few seconds. */
  counts(): Promise<Counts>;

  /** What is late or does not move, as cheap as the counts. */
  pulse(nowMs: number): Promise<Pulse>;

  /**
   * Read-only SQL over the public views. A statement that is not a single query is `query_refused`;
   * one that runs longer than the deadline is stopped and is `query_timeout`.
   */
  query(sql: string, params?: readonly SqlValue[], options?: QueryOptions): Promise<Row[]>;

  /**
   * Recomputes every turn's hash and names the first turn that does not match. Of a turn that was pruned, the hash is
   * taken as it is. Takes as long as it takes.
   */
  verify(): Promise<Verdict>;

  /** What `prune` would take that is from before a moment. Takes as long as it takes. */
  prunable(beforeMs: number): Promise<Prunable>;
}

export interface Store extends Ledger {
  readonly events: EventStore;
  readonly queue: QueueStore;
  readonly runs: RunStore;
  readonly turns: TurnStore;
  readonly sessions: SessionStore;
  readonly outbox: OutboxStore;
  readonly approvals: ApprovalStore;
  readonly delegations: DelegationStore;
  readonly relays: RelayStore;
  readonly team: TeamStore;
  readonly hooks: HookStore;
  readonly files: FileStore;
  readonly progress: ProgressStore;

  /**
   * Takes what was said out of old rows, a step at a time, and leaves ids, times, hashes, costs, and who follows whom.
   * Whatever waits, is under way or could be tried again is left alone, and so is the context of every session that was
   * used since. A thread that is taken up where it was pruned begins with what came after.
   *
   * Turns go before events: an answer's event goes when its turn has gone.
   */
  prune(kind: PruneKind, request: PruneRequest): Promise<PruneStep>;

  /**
   * After pruning: takes out what other places than its rows still hold of it, the index, the log of writes and
   * copies that were made before an update. Traces may stay in parts of the file that nothing uses.
   */
  forgetPruned(): Promise<void>;

  /** Keeps the personas as they are configured, for queries: these and no others. May be called again. */
  syncPersonas(personas: readonly KeptPersona[]): Promise<void>;

  /**
   * Calls back after rows were written that somebody may be waiting for. A wake-up carries no data, may
   * come when nothing is to be done, and may be lost with the process: whoever waits also polls slowly.
   */
  onWake(topic: WakeTopic, listener: () => void): () => void;
}

/** hooks: an event waits to be judged. */
export type WakeTopic = "queue" | "runs" | "outbox" | "changes" | "hooks";

export interface KeptPersona {
  readonly id: PersonaId;
  readonly identity: Json;
  readonly permissions: Json;
  readonly mainSession: SessionKey | undefined;
}

export type SqlValue = string | number | bigint | null | Uint8Array;

export type Row = Record<string, SqlValue>;

export interface QueryOptions {
  readonly deadlineMs?: number;
  readonly maxRows?: number;
}
