import type { Address } from "../channel.ts";

/** Telegram's own advice: a message a second to a chat, twenty a minute to a group, thirty a second to all. */
const DM_MS = 1_000;
const GROUP_MS = 3_000;
const ALL_MS = 34;
const SECOND_MS = 1_000;
/** A short answer of several parts goes out at once. */
const BURST = 3;
const MAX_CHATS = 1_000;

/** Keeps to the rate limits by itself, so that Telegram need not refuse. */
export class Pace {
  readonly #clock: () => number;
  /** When a chat would be due for its next message if messages were sent evenly; those used last are at the end. */
  readonly #chats = new Map<string, number>();
  /** The same for all chats together. */
  #allAtMs = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** How long to wait; 0 takes a place. */
  take({ place }: Address): number {
    const nowMs = this.#clock();
    const everyMs = place.startsWith("-") ? GROUP_MS : DM_MS;
    const dueAtMs = Math.max(this.#chats.get(place) ?? 0, nowMs);
    const allDueAtMs = Math.max(this.#allAtMs, nowMs);
    // Whoever waits is asked again after up to a second: then a whole second's messages may go.
    const waitMs = Math.max(dueAtMs - nowMs - (BURST - 1) * everyMs, allDueAtMs + ALL_MS - nowMs - SECOND_MS);
    if (waitMs > 0) return waitMs;
    this.#chats.delete(place);
    this.#chats.set(place, dueAtMs + everyMs);
    this.#allAtMs = allDueAtMs + ALL_MS;
    for (const [oldest] of this.#chats) {
      if (this.#chats.size <= MAX_CHATS) break;
      this.#chats.delete(oldest);
    }
    return 0;
  }
}
