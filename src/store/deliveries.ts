import type { Extras } from "../model/extras.ts";
import type { DeliveryId, RunId, TurnId } from "../model/ids.ts";
import type { Lease, LeaseRequest } from "./leases.ts";
import type { Filled, ListOptions, Listed } from "./list.ts";

export interface OutboxReads {
  get(id: DeliveryId): Promise<StoredDelivery | undefined>;
  list(options?: ListOptions & { state?: DeliveryState }): Promise<Listed<StoredDelivery>>;
  /** The delivery that a message in this place is part of, by the platform's id of it, whatever its topic. */
  findSent(place: DeliveryTarget, platformId: string): Promise<StoredDelivery | undefined>;
  /** The deliveries of a turn, oldest first: its answer, or a notice that it failed. */
  ofTurn(turn: TurnId): Promise<StoredDelivery[]>;
  /** How many are unsettled or dead, by account. Accounts without any are left out. */
  open(): Promise<OpenDeliveries[]>;
  /** The hashes of all files that deliveries send or will send, those of answers that are held or not complete included. */
  filed(): Promise<string[]>;
}

export interface OpenDeliveries {
  readonly channel: string;
  readonly account: string;
  /** Pending, being sent, or with an unknown outcome. */
  readonly waiting: number;
  readonly dead: number;
}

export interface OutboxStore extends OutboxReads {
  /**
   * Queues a delivery requested by a tool of an active turn. It is sent whatever becomes of the turn. Does nothing if
   * the id exists.
   */
  add(lease: Lease, run: RunId, delivery: NewDelivery & { readonly content: string }): Promise<void>;

  /** Queues a notice of Cortex itself, for no turn. Does nothing if the id exists. */
  notify(delivery: NewDelivery & { readonly content: string }): Promise<void>;

  /**
   * Claims deliveries in order: for each target only the oldest unsettled one, once it is due. A delivery in state
   * `unknown` is claimed to be reconciled, not to be sent again.
   */
  claim(request: LeaseRequest, max: number): Promise<DeliveryClaim[]>;

  /** Fixes how a delivery is split. The first plan stays. */
  plan(claim: DeliveryFence, chunks: readonly string[]): Promise<void>;

  /** Records that a chunk is about to be sent. A crash after this leaves it `unknown`. */
  sending(claim: DeliveryFence, chunk: number): Promise<void>;

  /** Records the outcome of a chunk. The last one sent settles the delivery. */
  settle(claim: DeliveryFence, chunk: number, outcome: ChunkOutcome): Promise<void>;

  /** Records that nothing could be sent at all: the delivery is retried later, or is dead. */
  fail(claim: DeliveryFence, outcome: Extract<ChunkOutcome, { kind: "retry" | "dead" }>): Promise<void>;

  /** Releases claims at once. A delivery with a chunk being sent becomes `unknown`. */
  release(claims: readonly DeliveryFence[]): Promise<void>;

  /**
   * Makes a dead delivery pending again. Sent chunks are not sent again; a chunk in state `unknown` is no longer
   * marked as a repetition.
   */
  retry(id: DeliveryId): Promise<void>;

  /** Drops a dead delivery. Sent chunks stay sent. */
  dropDead(id: DeliveryId): Promise<void>;
}

/** dropped: given up after it was dead. */
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
  readonly extras?: Extras;
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
  /** It is sent again although it may have arrived. A channel may allow that once. */
  readonly isRepeat: boolean;
}

export type ChunkOutcome =
  | { readonly kind: "sent"; readonly platformId?: string }
  | { readonly kind: "unknown"; readonly error: string; readonly retryAtMs: number }
  /** With `isRepeat`, the chunk may have arrived and stays marked as a repetition. */
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
