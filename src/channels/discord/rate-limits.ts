import { remember } from "../../model/remember.ts";

/** Discord's limit of all requests is 50 a second. */
const ALL_MS = 20;
const SECOND_MS = 1_000;
const MAX_CHANNELS = 1_000;

/** Keeps to the rate limits that Discord tells with every answer, so that it need not refuse. */
export class RateLimits {
  readonly #clock: () => number;
  readonly #channels = new Map<string, { left: number; readonly resetAtMs: number }>();
  /** When the next request would be due if all were sent evenly. */
  #allAtMs = 0;
  /** Until then, Discord refuses everything. */
  #refusedUntilMs = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** How long a message to a channel has to wait; 0 takes a place. */
  take(channel: string): number {
    const nowMs = this.#clock();
    const bucket = this.#channels.get(channel);
    const isFull = bucket !== undefined && bucket.left <= 0;
    const allDueAtMs = Math.max(this.#allAtMs, nowMs) + ALL_MS;
    // Whoever waits is asked again after up to a second: then a whole second's messages may go.
    const freeAtMs = Math.max(allDueAtMs - SECOND_MS, this.#refusedUntilMs, isFull ? bucket.resetAtMs : 0);
    const waitMs = Math.max(freeAtMs - nowMs, 0);
    if (waitMs > 0) return waitMs;
    if (bucket !== undefined) bucket.left--;
    this.#allAtMs = allDueAtMs;
    return 0;
  }

  /** What an answer says: of new messages in a channel, or of everything. */
  note(request: string, headers: Headers): void {
    const afterMs = (name: string): number => this.#clock() + Number(headers.get(name) ?? 0) * 1_000;
    if (headers.has("x-ratelimit-global")) this.#refusedUntilMs = afterMs("retry-after");
    const channel = /^POST \/channels\/(\d+)\/messages$/.exec(request)?.[1];
    const left = headers.get("x-ratelimit-remaining");
    if (channel === undefined || left === null) return;
    const bucket = { left: Number(left), resetAtMs: afterMs("x-ratelimit-reset-after") };
    remember(this.#channels, [channel, bucket], MAX_CHANNELS);
  }
}
