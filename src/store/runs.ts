import type { EventId, ItemId, RunId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Message, ToolCall, ToolStatus } from "../model/message.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Timing } from "../model/spans.ts";
import type { NewApproval } from "./approvals.ts";
import type { NewDelivery } from "./deliveries.ts";
import type { Claim, Lease, LeaseRequest } from "./leases.ts";
import type { ListOptions, Listed } from "./list.ts";

export interface RunReads {
  /** The journal of this run's turn, across all attempts. */
  readJournal(run: RunId): Promise<Journal>;

  /** One message of the journal, by its position. */
  readMessage(run: RunId, place: number): Promise<Message | undefined>;

  /** One tool call of the journal, by its ordinal. */
  readCall(run: RunId, ordinal: number): Promise<ToolCall | undefined>;

  get(run: RunId): Promise<StoredRun | undefined>;

  /** All attempts at a turn, oldest first, whether it is committed, running or failed. */
  ofTurn(turn: TurnId): Promise<StoredRun[]>;

  /** Unfinished runs: running, suspended or about to be retried. Oldest first. */
  active(options?: { limit?: number }): Promise<StoredRun[]>;

  /** All runs, including finished ones. */
  list(options?: ListOptions & { state?: RunState }): Promise<Listed<StoredRun>>;
}

export interface RunStore extends RunReads {
  /**
   * Writes to the journal of a run. A message has a position in the turn, a tool call an ordinal. Writing the same
   * again is harmless; writing something else there is `journal_conflict`. Items named by a message become part of
   * the turn in the same commit: this is how messages steer. Items of `queue.unseenDrops` stay dropped, and no later
   * turn is told about them. `state_conflict` if the run was asked to abort and items are named.
   */
  journal(lease: Lease, run: RunId, entries: readonly JournalEntry[]): Promise<void>;

  /** Keeps what the run started with (prompt, tools, profile) for continuing after a crash. */
  pin(lease: Lease, run: RunId, pinned: Json): Promise<void>;

  /**
   * Suspends the run at a tool call that needs an external answer. The lease ends; the session stays occupied.
   * Approval requests are created in the same commit; existing ones stay as they are. If one was answered meanwhile,
   * the run is ready at once.
   */
  suspend(lease: Lease, run: RunId, wait: Wait, requests?: readonly NewApproval[]): Promise<void>;

  /** Journals the answer to a wait and makes the run ready to be leased. False: it does not wait for this. */
  resume(run: RunId, wait: string, entries: readonly JournalEntry[]): Promise<boolean>;

  /** Requests an abort and wakes the run if it is suspended. False: the run is over. */
  requestAbort(run: RunId, reason: string): Promise<boolean>;

  /**
   * Ends an attempt. retry: the turn is retried at that time, before anything else in the session, or at once if an
   * abort was requested. dead: its items become dead letters and the session moves on. A failed run moves no pointer
   * and creates no turn.
   */
  fail(failure: RunFailure): Promise<{ readonly next?: Claim }>;
}

export type JournalEntry =
  | {
      readonly kind: "message";
      readonly place: number;
      readonly message: Message;
      readonly items?: readonly ItemId[];
      /**
       * The number of dispatches the message was built from. If its items have a different number now, a hook has
       * joined one of them since: `item_unknown`.
       */
      readonly dispatches?: number;
    }
  | {
      readonly kind: "call";
      readonly ordinal: number;
      readonly callId: string;
      readonly tool: string;
      readonly params: Json;
      readonly startedAtMs: number;
    }
  | {
      readonly kind: "result";
      readonly ordinal: number;
      readonly status: Exclude<ToolStatus, "started">;
      readonly result: Json;
      readonly completedAtMs: number;
      readonly childSession?: SessionKey;
    };

export interface Journal {
  readonly messages: readonly Message[];
  readonly toolCalls: readonly ToolCall[];
  readonly pinned: Json | undefined;
  readonly wait: Wait | undefined;
  /** Of a run that has committed its turn: where its time went. */
  readonly timing: Timing | undefined;
}

/** What a suspended run waits for. The id keeps a late answer from ending another wait. */
export interface Wait {
  readonly id: string;
  readonly kind: "approval" | "question" | "child" | "other";
  readonly detail: Json;
}

export interface RunFailure {
  readonly lease: Lease;
  readonly run: RunId;
  readonly error: string;
  readonly outcome: { readonly kind: "retry"; readonly atMs: number } | { readonly kind: "dead" };
  /** For example a notice to the sender. */
  readonly deliveries?: readonly NewDelivery[];
  readonly claimNext?: LeaseRequest;
}

export type RunState = "running" | "suspended" | "resumable" | "failed" | "completed" | "aborted";

export interface StoredRun {
  readonly id: RunId;
  readonly turn: TurnId;
  readonly session: SessionKey;
  /** The event the turn is for. */
  readonly sourceEvent: EventId | undefined;
  readonly attempt: number;
  readonly state: RunState;
  readonly interruptions: number;
  readonly wait: Wait | undefined;
  /** Why an abort was requested. */
  readonly abort: string | undefined;
  /** The message that interrupted it, if that is why it aborts. */
  readonly abortedBy: EventId | undefined;
  readonly error: string | undefined;
  /** Whether it is compacting its thread. */
  readonly isCompacting: boolean;
  readonly startedAtMs: number;
  readonly endedAtMs: number | undefined;
}
