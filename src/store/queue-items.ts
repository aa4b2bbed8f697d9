import type { ItemId, TurnId } from "../model/ids.ts";
import type { QueueMode } from "../model/queue-mode.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { DeadMessage } from "./dead-letters.ts";
import type { DispatchInput } from "./dispatches.ts";
import type { StoredEvent } from "./events.ts";
import type { Claim, Lease, LeaseRequest } from "./leases.ts";
import type { ListOptions, Listed } from "./list.ts";

export interface QueueReads {
  /** What waits in a session, in order. Read at every step of a run for messages that steer or interrupt. */
  pending(session: SessionKey, options?: { limit?: number }): Promise<QueueItem[]>;

  /** What waits in all sessions, or in one. */
  list(options?: ListOptions & { session?: SessionKey }): Promise<Listed<QueueItem>>;

  item(id: ItemId): Promise<QueueItem | undefined>;

  /** What became of an item so far: for whoever has sent it and waits. */
  outcome(id: ItemId): Promise<ItemOutcome | undefined>;

  /** The items of a turn that is under way or done, in order. */
  itemsOf(turn: TurnId): Promise<QueueItem[]>;

  /**
   * What was dropped from a session by the policy `summarize` and no turn has been told of, oldest first.
   * A turn is told by a message of its journal that names the items.
   */
  unseenDrops(session: SessionKey, options?: { limit?: number }): Promise<QueueItem[]>;

  /**
   * The earliest moment at which a session that nobody holds has something to do: a message that is due, a
   * retry. May be past. Undefined: there is none. Leases that run out are not told of.
   */
  nextReadyMs(): Promise<number | undefined>;

  /** Of the dead letters, the messages. Those that died last come first. */
  dead(options?: ListOptions): Promise<Listed<DeadMessage>>;
}

export interface QueueStore extends QueueReads {
  /**
   * Takes up to `max` sessions that have something to do: a message that is due, a run that was resumed
   * or is to be tried again, or a run whose holder let its lease expire. Those that have waited longest
   * come first. A holder is never given a session that it holds itself. Of the messages of a session that
   * are due, the oldest that interrupts is taken, else the oldest; a run takes others in by its journal.
   */
  lease(request: LeaseRequest, max: number): Promise<Claim[]>;

  /** Extends leases; returns those that are lost. */
  renew(request: LeaseRequest, leases: readonly Lease[]): Promise<Lease[]>;

  /** Gives sessions back with their runs unfinished, for the next holder to go on with. Lost ones are passed over. */
  release(leases: readonly Lease[]): Promise<void>;

  /** Drops items that still wait, by a policy with a name. Returns those it dropped. */
  drop(items: readonly ItemId[], policy: string): Promise<ItemId[]>;

  /** Queues a dead letter again, with all items of its turn; the turn keeps its id and its journal. */
  retryDead(item: ItemId): Promise<void>;

  /** Gives a dead letter up, with all items of its turn. What the turn was told of stays told. */
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
  /** In the order of their hooks' names. */
  readonly dispatches: readonly DispatchInput[];
}

export interface ItemOutcome {
  readonly state: ItemState;
  readonly session: SessionKey;
  /** The turn that it is part of: committed, under way, or failed and perhaps to be tried again. */
  readonly turn: TurnId | undefined;
  /** By which it was dropped. */
  readonly policy: string | undefined;
  /** Of one that is dead: why its last run failed. */
  readonly error: string | undefined;
  /** The session that gave it as work to its own: it is told how it ends. Such a message is never a dead letter. */
  readonly caller: SessionKey | undefined;
  /** Of one that was dropped: the turn that was told of it, or that a dead letter was given up in. */
  readonly formerTurn: TurnId | undefined;
  /** When it came into its last state. Undefined: it is queued or claimed. */
  readonly settledAtMs: number | undefined;
}
