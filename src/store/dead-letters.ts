import type { DeliveryId, EventId, ItemId, TurnId } from "../model/ids.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { DeliveryTarget } from "./deliveries.ts";
import type { ListOptions, Listed } from "./list.ts";

/** Dead letters that were retried or dropped are not included. */
export interface DeadReads {
  /** Most recently dead first. */
  list(options?: ListOptions): Promise<Listed<DeadLetter>>;

  /** By the id of the queue item or the delivery. */
  get(id: string): Promise<DeadLetter | undefined>;
}

export type DeadLetter = DeadMessage | DeadDelivery;

/** A message whose turn failed permanently. */
export interface DeadMessage {
  readonly kind: "message";
  readonly item: ItemId;
  readonly turn: TurnId;
  readonly session: SessionKey;
  readonly event: EventId;
  /** Why the last run failed. */
  readonly error: string;
  readonly attempts: number;
  readonly diedAtMs: number;
}

/** An answer or a notice that its channel does not accept. */
export interface DeadDelivery {
  readonly kind: "delivery";
  readonly delivery: DeliveryId;
  readonly turn: TurnId | undefined;
  readonly session: SessionKey | undefined;
  /** The event the turn was for. */
  readonly event: EventId | undefined;
  readonly target: DeliveryTarget;
  readonly error: string;
  readonly attempts: number;
  readonly diedAtMs: number;
}
