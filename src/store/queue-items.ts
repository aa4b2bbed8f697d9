import type { ItemId, TurnId } from "../model/ids.ts";
import type { Principal } from "../model/principal.ts";
import type { QueueMode } from "../model/queue-mode.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { DeadMessage } from "./dead-letters.ts";
import type { DispatchInput } from "./dispatches.ts";
import type { StoredEvent } from "./events.ts";
import type { Claim, Lease, LeaseRequest } from "./leases.ts";
import type { ListOptions, Listed } from "./list.ts";

export interface QueueReads {
  /**
   * The waiting items of a session, in order. Every step of a run reads it for messages that steer or interrupt.
   */
  pending(session: SessionKey, options?: { limit?: number }): Promise<QueueItem[]>;

  /** The waiting items of all sessions, or of one. */
  list(options?: ListOptions & { session?: SessionKey }): Promise<Listed<QueueItem>>;

  item(id: ItemId): Promise<QueueItem | undefined>;

  /** What has become of an item, for a sender who waits for it. */
  outcome(id: ItemId): Promise<ItemOutcome | undefined>;

  /** The items of a running or committed turn, in order. */
  itemsOf(turn: TurnId): Promise<QueueItem[]>;

  /**
   * Items dropped from a session by the policy `summarize`, and remarks, that no turn was told about yet, oldest first. A
   * journalled message that names the items tells a turn.
   */
  unseenDrops(
    session: SessionKey,
    options?: {
      limit?: number;
      /** Only messages of theirs; remarks are for any turn. */ principal?: Principal;
    },
  ): Promise<QueueItem[]>;

  /**
   * When a session without a holder next has something to do: a due message or a retry. May be in the past.
   * Undefined: nothing to do. Ignores expiring leases, and work that a holder has no room for.
   */
  nextReadyMs(request?: LeaseRequest): Promise<number | undefined>;

  /** Dead messages, most recently dead first. */
  dead(options?: ListOptions): Promise<Listed<DeadMessage>>;
}

export interface QueueStore extends QueueReads {
  /**
   * Leases up to `max` sessions that have something to do: a due message, a run that was resumed or is due for a
   * retry, or a run whose lease expired. Those that have waited longest come first. Never leases a session that the
   * holder already holds. Takes the oldest interrupting message that is due, otherwise the oldest due message;
   * further messages enter the run through its journal.
   */
  lease(request: LeaseRequest, max: number): Promise<Claim[]>;

  /** Extends leases. Returns the lost ones. */
  renew(request: LeaseRequest, leases: readonly Lease[]): Promise<Lease[]>;

  /** Gives up sessions with their runs unfinished, for the next holder to continue. Skips lost leases. */
  release(leases: readonly Lease[]): Promise<void>;

  /** Drops waiting items, recording the policy. Returns the dropped ones. */
  drop(items: readonly ItemId[], policy: string): Promise<ItemId[]>;

  /** Queues a dead letter again, with all items of its turn. The turn keeps its id and its journal. */
  retryDead(item: ItemId): Promise<void>;

  /** Drops a dead letter with all items of its turn. Whatever that turn was told about counts as told. */
  dropDead(item: ItemId): Promise<void>;
}

export type ItemState = "queued" | "claimed" | "done" | "merged" | "dropped" | "dead";

export interface QueueItem {
  readonly id: ItemId;
  readonly session: SessionKey;
  readonly state: ItemState;
  readonly mode: QueueMode;
  readonly dueMs: number;
  readonly queuedAtMs: number;
  readonly event: StoredEvent;
  /** Ordered by hook name. */
  readonly dispatches: readonly DispatchInput[];
}

export interface ItemOutcome {
  readonly state: ItemState;
  readonly session: SessionKey;
  /** The turn it is part of: committed, running, or failed and possibly retried. */
  readonly turn: TurnId | undefined;
  /** The policy that dropped it. */
  readonly policy: string | undefined;
  /** For a dead item, why its last run failed. */
  readonly error: string | undefined;
  /** The session that delegated it and is told how it ends. Such a message never becomes a dead letter. */
  readonly caller: SessionKey | undefined;
  /** For a dropped item, the turn that was told about it, or the dead letter's turn. */
  readonly formerTurn: TurnId | undefined;
  /** When it reached its final state. Undefined: it is queued or claimed. */
  readonly settledAtMs: number | undefined;
}
