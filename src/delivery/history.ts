import type { DeliveryId } from "../model/ids.ts";
import type { DeliveryClaim, StoredDelivery } from "../store/store.ts";

/** What this process remembers of a delivery between two claims. */
export interface Course {
  /** Failed attempts in a row. Claims that came to nothing because a channel was not ready are none. */
  failures: number;
  /** Since when it waits to be sent. */
  readonly sinceMs: number;
  /** Whether somebody asked for a dead delivery to be tried again, and this is the first try. */
  readonly revived: boolean;
}

/** More deliveries than this do not fail at the same time; those that failed longest ago are forgotten. */
export const MAX_REMEMBERED = 10_000;

/**
 * The failures of deliveries that are under way. They are counted in memory: the store counts claims, which a
 * restart or a channel that is not ready makes too, and neither may use up a message. What bounds a delivery
 * over restarts is its age.
 */
export class History {
  readonly #courses = new Map<DeliveryId, Course>();

  recall(claim: DeliveryClaim, stored: StoredDelivery, nowMs: number): Course {
    // A delivery that was never claimed has no error yet; one that is dead starts again from the first attempt.
    const revived = claim.attempt === 1 && stored.error !== undefined;
    const known = this.#courses.get(claim.delivery);
    const course =
      known === undefined || revived
        ? { failures: 0, sinceMs: revived ? nowMs : stored.createdAtMs, revived }
        : { ...known, revived: false };
    this.#courses.delete(claim.delivery);
    this.#courses.set(claim.delivery, course);
    for (const [oldest] of this.#courses) {
      if (this.#courses.size <= MAX_REMEMBERED) break;
      this.#courses.delete(oldest);
    }
    return course;
  }

  forget(delivery: DeliveryId): void {
    this.#courses.delete(delivery);
  }
}
