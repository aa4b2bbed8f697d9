import type { DeliveryId, RunId, TurnId } from "../model/ids.ts";
import type { Lease, LeaseRequest } from "./leases.ts";
import type { Filled, ListOptions, Listed } from "./list.ts";

export interface OutboxReads {
  get(id: DeliveryId): Promise<StoredDelivery | undefined>;
  list(options?: ListOptions & { state?: DeliveryState }): Promise<Listed<StoredDelivery>>;
  /** What went out because of a turn, oldest first: its answer, or a notice that it failed. */
  ofTurn(turn: TurnId): Promise<StoredDelivery[]>;
}

export interface OutboxStore extends OutboxReads {
  /**
   * Sends something on behalf of a turn that is not over: what a tool of it asks for. It goes out whatever becomes
   * of the turn. One whose id is there already does nothing.
   */
  add(lease: Lease, run: RunId, delivery: NewDelivery & { readonly content: string }): Promise<void>;

  /** Sends what Cortex itself has to say, on behalf of no turn. One whose id is there already does nothing. */
  notify(delivery: NewDelivery & { readonly content: string }): Promise<void>;

  /**
   * Takes deliveries to work on, in order: of each target only the oldest that is not settled, and only
   * when it is due. One that is `unknown` is handed out to be reconciled, not to be sent again.
   */
  claim(request: LeaseRequest, max: number): Promise<DeliveryClaim[]>;

  /** Fixes how a delivery is split. The first plan stays. */
  plan(claim: DeliveryFence, chunks: readonly string[]): Promise<void>;

  /** Says that a chunk is about to be sent. A crash after this leaves it `unknown`. */
  sending(claim: DeliveryFence, chunk: number): Promise<void>;

  /** Records what became of a chunk. The last one sent settles the delivery. */
  settle(claim: DeliveryFence, chunk: number, outcome: ChunkOutcome): Promise<void>;

  /** Records that nothing could be sent at all: the delivery is tried again later, or is dead. */
  fail(claim: DeliveryFence, outcome: Extract<ChunkOutcome, { kind: "retry" | "dead" }>): Promise<void>;

  /** Gives deliveries back at once. One with a chunk under way is `unknown`. */
  release(claims: readonly DeliveryFence[]): Promise<void>;

  /**
   * Makes a dead delivery pending again. Chunks that were sent are not sent again; one whose arrival is unknown is no
   * longer marked as a repetition.
   */
  retry(id: DeliveryId): Promise<void>;

  /** Gives a dead delivery up. What was sent of it stays sent. */
  dropDead(id: DeliveryId): Promise<void>;
}

/** dropped: it was dead, and was given up. */
export type DeliveryState = "pending" | "sending" | "sent" | "unknown" | "dead" | "dropped";

export interface DeliveryTarget {
  readonly channel: string;
  readonly account?: string;
  readonly place: string;
  readonly topic?: string;
}

export interface NewDelivery {
  readonly id: DeliveryId;
  readonly target: DeliveryTarget;
  readonly replyTo?: string;
  /** Absent: the answer of the turn. */
  readonly content?: string;
}

export interface DeliveryFence {
  readonly delivery: DeliveryId;
  readonly epoch: number;
}

export interface DeliveryClaim extends DeliveryFence, Omit<StoredDelivery, "id" | "state"> {
  readonly state: "pending" | "unknown";
}

export interface Chunk {
  readonly content: string;
  readonly state: "pending" | "sending" | "sent" | "unknown";
  readonly platformId: string | undefined;
  /** It may have arrived and is sent again all the same. A channel may allow that once. */
  readonly isRepeat: boolean;
}

export type ChunkOutcome =
  | { readonly kind: "sent"; readonly platformId?: string }
  | { readonly kind: "unknown"; readonly error: string; readonly retryAtMs: number }
  /** With `isRepeat`, the chunk may have arrived, and stays marked as a repetition. */
  | {
      readonly kind: "retry";
      readonly error: string;
      readonly retryAtMs: number;
      readonly isRepeat?: boolean;
    }
  | { readonly kind: "dead"; readonly error: string };

export interface StoredDelivery extends Filled<NewDelivery> {
  readonly turn: TurnId | undefined;
  readonly state: DeliveryState;
  readonly attempt: number;
  readonly error: string | undefined;
  readonly content: string;
  readonly chunks: readonly Chunk[];
  readonly createdAtMs: number;
  readonly settledAtMs: number | undefined;
}
