/** Wrong tokens from one address within the window before requests are limited. */
export const MAX_FAILURES = 10;
export const FAILURE_WINDOW_MS = 60_000;
/** The number of remembered addresses; beyond it, the oldest are forgotten. */
export const MAX_ADDRESSES = 10_000;

interface Failures {
  count: number;
  readonly untilMs: number;
}

interface Limited {
  readonly retryAfterMs: number;
  /** Whether the address exceeds the limit for the first time in the window. */
  readonly isFirst: boolean;
}

/** Counts wrong tokens by address, including this machine's own. */
export class FailureLimit {
  readonly #clock: () => number;
  readonly #failures = new Map<string, Failures>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Counts a failure. Undefined: the address may try again at once. */
  fail(address: string): Limited | undefined {
    const nowMs = this.#clock();
    let failures = this.#failures.get(address);
    if (failures === undefined || failures.untilMs <= nowMs) {
      this.#failures.delete(address); // keeps the newest at the end
      failures = { count: 0, untilMs: nowMs + FAILURE_WINDOW_MS };
      this.#failures.set(address, failures);
      if (this.#failures.size > MAX_ADDRESSES) this.#failures.delete(this.#failures.keys().next().value!);
    }
    failures.count++;
    if (failures.count <= MAX_FAILURES) return undefined;
    return { retryAfterMs: failures.untilMs - nowMs, isFirst: failures.count === MAX_FAILURES + 1 };
  }

  get size(): number {
    return this.#failures.size;
  }
}
