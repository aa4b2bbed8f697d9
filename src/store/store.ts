/**
 * The store: all durable state, and the only place where the steps of the pipeline meet.
 *
 * Its verbs are whole operations of the broker, one transaction each: when the promise resolves, all of it is on
 * disk; when it rejects, none of it is. No transaction is exposed, so no operation can be written halfway.
 *
 * Three rules hold for every verb that writes.
 *
 * - It may be repeated with the same ids. A call that failed with `store_writer_lost` may have been committed anyway;
 *   repeating it does nothing twice. It succeeds again, or is refused because the state has moved on.
 * - It validates before it writes. Unknown ids, stale leases and invalid input are CortexErrors, and nothing of the
 *   operation is kept.
 * - A run writes under its lease. Once another holder has taken the session over, writes with the old lease are
 *   refused with `lease_lost`.
 */
import type { PersonaId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { ApprovalReads, ApprovalStore } from "./approvals.ts";
import type { AuditReads, AuditStore } from "./audit.ts";
import type { ChangeReads } from "./changes.ts";
import type { CursorReads, CursorStore } from "./cursors.ts";
import type { DeadReads } from "./dead-letters.ts";
import type { DelegationReads, DelegationStore } from "./delegations.ts";
import type { OutboxReads, OutboxStore } from "./deliveries.ts";
import type { DraftReads, DraftStore } from "./drafts.ts";
import type { EventReads, EventStore } from "./events.ts";
import type { Counts, Pulse } from "./health.ts";
import type { HookReads, HookStore } from "./hooks.ts";
import type { LabelReads, LabelStore } from "./labels.ts";
import type { PairingReads, PairingStore } from "./pairings.ts";
import type { PeopleReads, PeopleStore } from "./people.ts";
import type { Prunable, PruneKind, PruneRequest, PruneStep } from "./pruning.ts";
import type { QueueReads, QueueStore } from "./queue-items.ts";
import type { RelayReads, RelayStore } from "./relays.ts";
import type { RunReads, RunStore } from "./runs.ts";
import type { SessionReads, SessionStore } from "./sessions.ts";
import type { TeamReads, TeamStore } from "./team.ts";
import type { TokenReads, TokenStore } from "./tokens.ts";
import type { TurnReads, TurnStore, Verdict } from "./turns.ts";

export type * from "./approvals.ts";
export type * from "./audit.ts";
export type * from "./changes.ts";
export type * from "./cursors.ts";
export type * from "./dead-letters.ts";
export type * from "./delegations.ts";
export type * from "./deliveries.ts";
export type * from "./dispatches.ts";
export type * from "./drafts.ts";
export type * from "./events.ts";
export type * from "./health.ts";
export type * from "./hooks.ts";
export type * from "./labels.ts";
export type * from "./leases.ts";
export type * from "./list.ts";
export type * from "./pairings.ts";
export type * from "./people.ts";
export type * from "./pruning.ts";
export type * from "./queue-items.ts";
export type * from "./relays.ts";
export type * from "./runs.ts";
export type * from "./sessions.ts";
export type * from "./team.ts";
export type * from "./tokens.ts";
export type * from "./turns.ts";
export * from "./limits.ts";
export { PRUNE_KINDS } from "./pruning.ts";

/**
 * Everything that can be read, also by other processes beside the writer. Reading takes no lock and changes nothing.
 */
export interface Ledger extends AsyncDisposable {
  readonly events: EventReads;
  readonly queue: QueueReads;
  readonly runs: RunReads;
  readonly turns: TurnReads;
  readonly sessions: SessionReads;
  readonly outbox: OutboxReads;
  readonly drafts: DraftReads;
  readonly approvals: ApprovalReads;
  readonly delegations: DelegationReads;
  readonly relays: RelayReads;
  readonly team: TeamReads;
  readonly hooks: HookReads;
  /** The labels of files that agents wrote. */
  readonly labels: LabelReads;
  /** How far the sources of channels have been read. */
  readonly cursors: CursorReads;
  readonly people: PeopleReads;
  readonly pairings: PairingReads;
  readonly tokens: TokenReads;
  readonly audit: AuditReads;
  /** Dead messages and deliveries. */
  readonly dead: DeadReads;
  /** The change feed, for live views. */
  readonly changes: ChangeReads;

  /** Cheap enough to call every few seconds. */
  counts(): Promise<Counts>;

  /** What is late or stuck. As cheap as the counts. */
  pulse(nowMs: number): Promise<Pulse>;

  /**
   * Read-only SQL over the public views. `query_refused` unless it is a single query; `query_timeout` if it exceeds
   * the deadline.
   */
  query(sql: string, params?: readonly SqlValue[], options?: QueryOptions): Promise<Row[]>;

  /**
   * Recomputes the hash of every turn and of every entry of the audit log, and reports the first mismatch. Hashes of
   * pruned turns are trusted. Has no deadline.
   */
  verify(): Promise<Verdict>;

  /** Counts what `prune` would remove before a given time. Has no deadline. */
  prunable(beforeMs: number): Promise<Prunable>;
}

export interface Store extends Ledger {
  /** Whether a text holds a secret that is known now. Bound to the store: it can be passed on alone. */
  readonly holdsSecret: (text: string) => boolean;

  readonly events: EventStore;
  readonly queue: QueueStore;
  readonly runs: RunStore;
  readonly turns: TurnStore;
  readonly sessions: SessionStore;
  readonly outbox: OutboxStore;
  readonly drafts: DraftStore;
  readonly approvals: ApprovalStore;
  readonly delegations: DelegationStore;
  readonly relays: RelayStore;
  readonly team: TeamStore;
  readonly hooks: HookStore;
  readonly labels: LabelStore;
  readonly cursors: CursorStore;
  readonly people: PeopleStore;
  readonly pairings: PairingStore;
  readonly tokens: TokenStore;
  readonly audit: AuditStore;

  /**
   * Removes the content of old rows, one step at a time, and keeps ids, times, hashes, costs and the tree. Skips
   * everything that is waiting, running or could be retried, and the context of every session used since. A thread
   * continued after pruned turns starts with what follows them.
   *
   * Prune turns before events: the event of an answer can only be pruned after its turn.
   */
  prune(kind: PruneKind, request: PruneRequest): Promise<PruneStep>;

  /**
   * Call it after pruning: removes what is left of pruned content in the search index, the write-ahead log and the
   * copies made before updates. Traces may remain in unused parts of the file.
   */
  forgetPruned(): Promise<void>;

  /**
   * Replaces the configured personas that queries can read. Where they, or the other configured `rights`, differ from
   * the last time, the audit log gets an entry. May be repeated.
   */
  syncPersonas(personas: readonly KeptPersona[], rights?: Json): Promise<void>;

  /**
   * Calls back after rows were written that a step may be waiting for. A wake-up carries no data, may be spurious,
   * and may be lost with the process: also poll slowly.
   */
  onWake(topic: WakeTopic, listener: () => void): () => void;
}

/** hooks: an event is waiting for hooks. */
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
