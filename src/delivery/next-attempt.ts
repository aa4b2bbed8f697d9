/** When a delivery that failed is tried again. */

export const FIRST_DELAY_MS = 1_000;
export const MAX_DELAY_MS = 10 * 60_000;

interface Failure {
  readonly nowMs: number;
  /** How often it has failed by now, at least 1. */
  readonly failures: number;
  /** From 0 up to 1. */
  readonly random: number;
  readonly retryAfterMs: number | undefined;
  /** When the delivery is too old. */
  readonly expiresAtMs: number;
}

/**
 * Twice as long after each failure, spread so that what failed together does not come back together, and not
 * before the platform allows it. Nor after the delivery is too old: it is to be seen as expired at that time,
 * and not to hold up its target for as long as a platform cares to say.
 */
export function nextAttemptMs({ nowMs, failures, random, retryAfterMs = 0, expiresAtMs }: Failure): number {
  const backoffMs = Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), MAX_DELAY_MS);
  const waitMs = Math.max(Math.round(backoffMs * (0.5 + random / 2)), retryAfterMs);
  return Math.min(nowMs + waitMs, Math.max(expiresAtMs, nowMs));
}
