import { remember } from "../model/remember.ts";
import type { Address } from "./channel.ts";

interface Rates {
  /** Between two messages to a place, when they are sent evenly. */
  readonly placeMs: (place: string) => number;
  /** Between any two messages. */
  readonly allMs: number;
}

const SECOND_MS = 1_000;
/** A short answer of several parts goes out at once. */
const BURST = 3;
const MAX_PLACES = 1_000;

/** Keeps to the rate limits of a platform by itself, so that it need not refuse. */
export class Pace {
  readonly #rates: Rates;
  readonly #clock: () => number;
  /** When a place would be due for its next message if messages were sent evenly; those used last are at the end. */
  readonly #places = new Map<string, number>();
  /** The same for all places together. */
  #allAtMs = 0;

  constructor(rates: Rates, clock: () => number) {
    this.#rates = rates;
    this.#clock = clock;
  }

  /** How long to wait; 0 takes a place. */
  take({ place }: Address): number {
    const nowMs = this.#clock();
    const everyMs = this.#rates.placeMs(place);
    const dueAtMs = Math.max(this.#places.get(place) ?? 0, nowMs);
    const { allMs } = this.#rates;
    const allDueAtMs = Math.max(this.#allAtMs, nowMs);
    // Whoever waits is asked again after up to a second: then a whole second's messages may go.
    const waitMs = Math.max(dueAtMs - nowMs - (BURST - 1) * everyMs, allDueAtMs + allMs - nowMs - SECOND_MS);
    if (waitMs > 0) return waitMs;
    remember(this.#places, [place, dueAtMs + everyMs], MAX_PLACES);
    this.#allAtMs = allDueAtMs + allMs;
    return 0;
  }
}
