import type { AgentId, DelegationId, DispatchId, ItemId, PersonaId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { QueueMode } from "../model/queue-mode.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Claim } from "./leases.ts";

export type DispatchTarget =
  /** The session is created, with no head, where it does not exist; as the worker of another one where that is said. */
  | {
      readonly kind: "session";
      readonly session: SessionKey;
      readonly agent: AgentId;
      readonly persona: PersonaId;
      readonly worker?: NewWorker;
    }
  /** The session whose head this turn is; failing that, a new session `forkAs` that starts there. */
  | { readonly kind: "turn"; readonly turn: TurnId; readonly forkAs: SessionKey };

export interface NewDispatch {
  readonly id: DispatchId;
  /** The id of the queue item, if this dispatch makes one. */
  readonly item: ItemId;
  readonly hook: string;
  readonly target: DispatchTarget;
  readonly mode: QueueMode;
  /** Not before this moment. */
  readonly dueMs?: number;
  /**
   * Other hooks may still have something to say about the event: an item that this makes waits so long for them, or
   * until `hooks.judged`. What interrupts does not wait.
   */
  readonly gatherMs?: number;
  /** What the turn of the event, or the one after it, is told where it has begun without this dispatch. */
  readonly late?: string;
  /** How many may wait in the session, if this dispatch makes an item that has to wait. */
  readonly cap?: QueueCap;
  /** With mode interrupt: older items that wait are dropped by the policy `interrupt`. */
  readonly drains?: "drop";
  readonly message?: string;
  readonly context?: Json;
  readonly permissions?: Json;
  readonly profile?: string;
  readonly delivery?: Json;
  /**
   * The session whose agent sends it. What that one has come into contact with (`trust` in its settings), the target
   * has come into contact with from then on, in the same commit.
   */
  readonly from?: SessionKey;
  /**
   * It is work that a turn of `from` waits for, or wants to be told of. `from` must be given too. `state_conflict`
   * where that turn is not under way, or is being aborted.
   */
  readonly delegation?: NewDelegation;
}

/** What makes a session a worker's. Kept from when it is created. */
export interface NewWorker {
  /** Must exist: else `session_unknown`. */
  readonly parent: SessionKey;
  readonly parentTurn: TurnId;
  /** The id of the tool call in it. */
  readonly parentCall: string;
  /** What the worker was given: its type, limits, permissions. */
  readonly worker: Json;
}

/**
 * What happens to a message that would be one too many. new: it is dropped itself. old, summarize: the
 * oldest that wait are dropped until there is room; `queue.unseenDrops` brings up those of summarize. The
 * drop is the policy by which an item is then said to be dropped.
 *
 * Items of a turn that is to be tried again count, and are never dropped to make room; where that leaves
 * too few, the new message is dropped by the policy `new`, and no other.
 */
export interface QueueCap {
  /** At least 1, else `limit_invalid`. */
  readonly max: number;
  readonly drop: "old" | "new" | "summarize";
}

export interface NewDelegation {
  readonly id: DelegationId;
  /** The turn that gives it, which is under way, and the place of the call in it. */
  readonly turn: TurnId;
  readonly ordinal: number;
  /** The turn is suspended until it is over. Otherwise a message is sent. */
  readonly waits: boolean;
  readonly deadlineMs?: number;
  /** Whatever is needed to tell of its end. */
  readonly detail?: Json;
}

/**
 * queued: a new item. joined: added to the item of the same event that waits in that session, or is a
 * dead letter of it. late: that item is part of a turn already, and what the hook has to add is an item of its own,
 * which steers that turn or follows it. merged: the same, with nothing to add. silenced: an exclusive hook has taken
 * the event over. dropped: it was dropped before and stays so, or is dropped now because the queue is full.
 */
export type DispatchOutcome = "queued" | "joined" | "late" | "merged" | "silenced" | "dropped";

export interface Dispatched {
  /** repeated: this (event, hook) was dispatched before. */
  readonly outcome: DispatchOutcome | "repeated";
  readonly item: ItemId;
  readonly session: SessionKey;
  readonly claim?: Claim;
}

export interface DispatchInput {
  readonly id: DispatchId;
  readonly hook: string;
  readonly message?: string;
  readonly context?: Json;
  readonly permissions?: Json;
  readonly profile?: string;
  readonly delivery?: Json;
}
