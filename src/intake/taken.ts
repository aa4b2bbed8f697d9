import type { DeliveryId } from "../model/ids.ts";
import type { Principal } from "../model/principal.ts";
import { createUlidSource, deriveUlid } from "../model/ulid.ts";
import type { AcceptOptions, DeliveryTarget, NewDelivery, NewEvent } from "../store/store.ts";

export type ChatEvent = NewEvent & { readonly principal: Principal };

/** An event that was for Cortex itself, and what is stored with it. */
export interface Taken {
  /** Absent: nothing is said. Its person writes too often, or sees the outcome anyway. */
  readonly reply?: string;
  readonly options: Pick<AcceptOptions, "notices" | "moves" | "dispatch">;
}

/** Queued in the commit of the event, under an id that is the same for the same event. */
export function replyIn(
  target: DeliveryTarget,
  content: string,
  { id, atMs }: Pick<NewEvent, "id" | "atMs">,
): NewDelivery & { readonly content: string } {
  return { id: deriveUlid(createUlidSource(() => atMs)(), `${id}/reply`) as DeliveryId, target, content };
}
