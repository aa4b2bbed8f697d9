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
  /** What the journal of this run's turn holds, over all attempts. */
  readJournal(run: RunId): Promise<Journal>;

  /** One message of it, by its place. */
  readMessage(run: RunId, place: number): Promise<Message | undefined>;

  /** One tool call of it, by its ordinal. */
  readCall(run: RunId, ordinal: number): Promise<ToolCall | undefined>;

  get(run: RunId): Promise<StoredRun | undefined>;

  /** All attempts at a turn, oldest first, whether it was committed, is under way or has failed. */
  ofTurn(turn: TurnId): Promise<StoredRun[]>;

  /** The runs that are not over: at work, waiting, or about to be tried again. Oldest first. */
  active(options?: { limit?: number }): Promise<StoredRun[]>;

  /** All runs, those that are over too. */
  list(options?: ListOptions & { state?: RunState }): Promise<Listed<StoredRun>>;
}

export interface RunStore extends RunReads {
  /**
   * Writes to the journal of a run. A message has a place in the turn, a tool call an ordinal; writing
   * the same again is harmless, writing something else there is `journal_conflict`. Items named by a
   * message become part of the turn in the same commit: that is how a steered message is done. Those of
   * `queue.unseenDrops` stay dropped, and no later turn is told of them. A run that was asked to abort takes none
   * of either: `state_conflict`.
   */
  journal(lease: Lease, run: RunId, entries: readonly JournalEntry[]): Promise<void>;

  /** Keeps what the run was started with (prompt, tools, profile), for the runs after a crash. */
  pin(lease: Lease, run: RunId, pinned: Json): Promise<void>;

  /**
   * Stops at a tool call that needs an answer from elsewhere. The lease ends; the session stays occupied. What a
   * person is to be asked is asked in the same commit; a request that was made before stays as it is. Where one of
   * them has been answered since, the run is ready at once.
   */
  suspend(lease: Lease, run: RunId, wait: Wait, requests?: readonly NewApproval[]): Promise<void>;

  /** Journals the answer to a wait and makes the run ready to be leased. False: it does not wait for this. */
  resume(run: RunId, wait: string, entries: readonly JournalEntry[]): Promise<boolean>;

  /** Leaves a note that the run is to be aborted, and wakes it where it waits. False: it is over. */
  requestAbort(run: RunId, reason: string): Promise<boolean>;

  /**
   * Ends an attempt. With a retry, the turn is tried again at that moment, before anything else of the
   * session, or taken up at once where it was asked to abort; as dead, its items are dead letters and the session goes on. A failed run moves no pointer
   * and leaves no turn.
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
       * How many dispatches the message was made of. Where its items have another number by now, a hook has joined
       * one of them since it was read: `item_unknown`.
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

/** What a suspended run waits for. The id keeps an answer that comes late from ending another wait. */
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
  /** A notice to the sender, say. */
  readonly deliveries?: readonly NewDelivery[];
  readonly claimNext?: LeaseRequest;
}

export type RunState = "running" | "suspended" | "resumable" | "failed" | "completed" | "aborted";

export interface StoredRun {
  readonly id: RunId;
  readonly turn: TurnId;
  readonly session: SessionKey;
  /** The one that the turn is for. */
  readonly sourceEvent: EventId | undefined;
  readonly attempt: number;
  readonly state: RunState;
  readonly interruptions: number;
  readonly wait: Wait | undefined;
  /** Why it was asked to abort. */
  readonly abort: string | undefined;
  /** The message that interrupted it, if that is why. */
  readonly abortedBy: EventId | undefined;
  readonly error: string | undefined;
  /** Whether it sums its thread up before it goes on. */
  readonly isCompacting: boolean;
  readonly startedAtMs: number;
  readonly endedAtMs: number | undefined;
}
