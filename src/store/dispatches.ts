import type { AgentId, DelegationId, DispatchId, ItemId, PersonaId, TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { PersonLimits } from "../model/person.ts";
import type { QueueMode } from "../model/queue-mode.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { NewDelivery } from "./deliveries.ts";
import type { Claim } from "./leases.ts";

export type DispatchTarget =
  /**
   * Creates the session, with no head, if it does not exist; as a worker of another session if `worker` is given.
   */
  | {
      readonly kind: "session";
      readonly session: SessionKey;
      readonly agent: AgentId;
      readonly persona: PersonaId;
      readonly worker?: NewWorker;
    }
  /** The session whose head is this turn, otherwise a new session `forkAs` starting there. */
  | { readonly kind: "turn"; readonly turn: TurnId; readonly forkAs: SessionKey };

export interface NewDispatch {
  readonly id: DispatchId;
  /** The id of the queue item, if this dispatch creates one. */
  readonly item: ItemId;
  readonly hook: string;
  readonly target: DispatchTarget;
  readonly mode: QueueMode;
  /** Not before this time. */
  readonly dueMs?: number;
  /**
   * How long a new item waits for other hooks to judge the event; `hooks.judged` ends it early. Interrupting messages
   * do not wait.
   */
  readonly gatherMs?: number;
  /** What the turn is told if it has started without this dispatch. */
  readonly late?: string;
  /** Limits how many items may wait in the session. */
  readonly cap?: QueueCap;
  /** What its sender may use, if they are a person and no other event has caused it. */
  readonly quota?: PersonQuota;
  /** With mode interrupt, drops older waiting items by the policy `interrupt`. */
  readonly drains?: "drop";
  readonly message?: string;
  readonly context?: Json;
  readonly permissions?: Json;
  readonly profile?: string;
  readonly delivery?: Json;
  /**
   * It is no message: the next turn of the session is told of it in one line, as of a message that was dropped. At most
   * MAX_REMARKS wait for that.
   */
  readonly remark?: true;
  /** The session whose agent sends it. Its `trust` marks are passed on to the target in the same commit. */
  readonly from?: SessionKey;
  /**
   * A turn of `from` waits for this work, or wants to be told about it. Requires `from`. `state_conflict` if that
   * turn is not running or is being aborted.
   */
  readonly delegation?: NewDelegation;
}

/** Makes a session a worker. Fixed when the session is created. */
export interface NewWorker {
  /** `session_unknown` if it does not exist. */
  readonly parent: SessionKey;
  readonly parentTurn: TurnId;
  /** The id of the tool call in that turn. */
  readonly parentCall: string;
  /** What the worker is given: type, limits, permissions. */
  readonly worker: Json;
}

/**
 * What to do when the queue is full. new: drops the new message. old, summarize: drops the oldest waiting items until
 * there is room; `queue.unseenDrops` returns those dropped by `summarize`. The value becomes the policy of the
 * dropped item.
 *
 * Items of a turn that will be retried count but are never dropped. If that leaves no room, only the new message is
 * dropped, by the policy `new`.
 */
export interface QueueCap {
  /** At least 1, otherwise `limit_invalid`. */
  readonly max: number;
  readonly drop: "old" | "new" | "summarize";
}

/**
 * The defaults; limits of a person's own come first. A message over a limit is dropped by a `PersonPolicy`, and its
 * sender is told, once in a while.
 */
export interface PersonQuota extends Required<PersonLimits> {
  /** When the day of `usdPerDay` began. */
  readonly dayMs: number;
  /** Where the sender is told. */
  readonly notice?: Pick<NewDelivery, "target" | "replyTo">;
}

export interface NewDelegation {
  readonly id: DelegationId;
  /** The running turn that delegates, and the ordinal of its tool call. */
  readonly turn: TurnId;
  readonly ordinal: number;
  /** Suspends the turn until the work is done. Otherwise a message reports the result. */
  readonly waits: boolean;
  readonly deadlineMs?: number;
  /** Whatever is needed to report the end. */
  readonly detail?: Json;
}

/**
 * queued: a new item. joined: added to the item of the same event that is waiting in that session or is a dead letter
 * there. late: that item is already part of a turn, so the addition is an item of its own that steers or follows that
 * turn. merged: the same with nothing to add. silenced: an exclusive hook took the event over. dropped: it was
 * dropped earlier, or is dropped now because the queue is full.
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
