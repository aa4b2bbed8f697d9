import type { DeliveryId, EventId, ItemId, TurnId } from "../model/ids.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { DeliveryTarget } from "./deliveries.ts";
import type { ListOptions, Listed } from "./list.ts";

/** Those that were tried again or given up are no dead letters any more. */
export interface DeadReads {
  /** Those that died last come first. */
  list(options?: ListOptions): Promise<Listed<DeadLetter>>;

  /** By the id of the queue item or of the delivery. */
  get(id: string): Promise<DeadLetter | undefined>;
}

export type DeadLetter = DeadMessage | DeadDelivery;

/** A message whose turn failed for good. */
export interface DeadMessage {
  readonly kind: "message";
  readonly item: ItemId;
  readonly turn: TurnId;
  readonly session: SessionKey;
  readonly event: EventId;
  /** Why its last run failed. */
  readonly error: string;
  readonly attempts: number;
  readonly diedAtMs: number;
}

/** An answer, or a notice, that its channel will not take. */
export interface DeadDelivery {
  readonly kind: "delivery";
  readonly delivery: DeliveryId;
  readonly turn: TurnId | undefined;
  readonly session: SessionKey | undefined;
  /** The one that the turn was for. */
  readonly event: EventId | undefined;
  readonly target: DeliveryTarget;
  readonly error: string;
  readonly attempts: number;
  readonly diedAtMs: number;
}
