import * as fc from "fast-check";
import { expect, test } from "vitest";

import { FIRST_DELAY_MS, MAX_DELAY_MS, nextAttemptMs } from "./next-attempt.ts";

const first = {
  nowMs: 0,
  failures: 1,
  random: 1,
  retryAfterMs: undefined,
  expiresAtMs: Number.POSITIVE_INFINITY,
};

test("each failure doubles the wait, up to a limit", () => {
  const waits = [1, 2, 3, 4, 50, 5_000].map((failures) => nextAttemptMs({ ...first, failures }));
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, MAX_DELAY_MS, MAX_DELAY_MS]);
});

test("what failed at the same time comes back spread over half the wait", () => {
  expect(nextAttemptMs({ ...first, random: 0 })).toBe(FIRST_DELAY_MS / 2);
});

test("the platform's own wait is kept where it is longer", () => {
  expect(nextAttemptMs({ ...first, retryAfterMs: 90_000 })).toBe(90_000);
  expect(nextAttemptMs({ ...first, retryAfterMs: 10 })).toBe(1_000);
});

test("the next attempt is never in the past, and never after the delivery is too old", () => {
  fc.assert(
    fc.property(
      fc.record({
        nowMs: fc.nat(),
        failures: fc.integer({ min: 1, max: 10_000 }),
        random: fc.double({ min: 0, max: 1, noNaN: true }),
        retryAfterMs: fc.option(fc.nat(), { nil: undefined }),
        expiresAtMs: fc.nat(),
      }),
      (failure) => {
        const atMs = nextAttemptMs(failure);
        expect(atMs).toBeGreaterThanOrEqual(failure.nowMs);
        expect(atMs).toBeLessThanOrEqual(Math.max(failure.expiresAtMs, failure.nowMs));
      },
    ),
  );
});
