import * as fc from "fast-check";
import { expect, test } from "vitest";
import { FIRST_DELAY_MS, History, MAX_DELAY_MS, MAX_REMEMBERED, nextAttemptMs, persist } from "./work.ts";
import { CortexError, type ErrorCode } from "../model/errors.ts";
import type { DeliveryId } from "../model/ids.ts";
import type { DeliveryClaim, StoredDelivery } from "../store/store.ts";

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

function failing(code: ErrorCode, times: number): { write: () => Promise<void>; calls: () => number } {
  let calls = 0;
  return {
    calls: () => calls,
    write: async () => {
      if (calls++ < times) throw new CortexError(code, "no", { hint: "wait" });
    },
  };
}

const never = new AbortController().signal;

test.each<ErrorCode>(["store_full", "store_busy"])(
  "what cannot be written because of %s is written later",
  async (code) => {
    const store = failing(code, 3);
    await persist(store.write, never, 0);
    expect(store.calls()).toBe(4);
  },
);

test.each<ErrorCode>(["lease_lost", "store_closed", "store_writer_lost"])(
  "%s is not waited out",
  async (code) => {
    const store = failing(code, 1);
    await expect(persist(store.write, never, 0)).rejects.toMatchObject({ code });
  },
);

test("when it is cut off it tries once more and gives up", async () => {
  const store = failing("store_full", Number.POSITIVE_INFINITY);
  const cut = new AbortController();
  const writing = persist(store.write, cut.signal, 3_600_000);
  cut.abort();
  await expect(writing).rejects.toMatchObject({ code: "store_full" });
  expect(store.calls()).toBeLessThanOrEqual(2);
});

function claimOf(id: string, attempt: number): DeliveryClaim {
  return { delivery: id as DeliveryId, attempt } as DeliveryClaim;
}

const fresh = { createdAtMs: 100, error: undefined } as StoredDelivery;
const failed = { createdAtMs: 100, error: "busy" } as StoredDelivery;

test("failures are remembered from claim to claim, and the age counts from the beginning", () => {
  const history = new History();
  history.recall(claimOf("a", 1), fresh, 500).failures = 3;
  expect(history.recall(claimOf("a", 2), failed, 900)).toEqual({ failures: 3, sinceMs: 100, revived: false });
});

test("one that somebody wants to be tried again begins anew", () => {
  const history = new History();
  history.recall(claimOf("a", 4), failed, 500).failures = 3;
  expect(history.recall(claimOf("a", 1), failed, 900)).toEqual({ failures: 0, sinceMs: 900, revived: true });
  expect(history.recall(claimOf("a", 2), failed, 950)).toEqual({ failures: 0, sinceMs: 900, revived: false });
});

test("no more is remembered than there is room for, and the newest stays", () => {
  const history = new History();
  for (let i = 0; i <= MAX_REMEMBERED; i++) history.recall(claimOf(`d${i}`, 1), fresh, 0).failures = 1;
  expect(history.recall(claimOf(`d${MAX_REMEMBERED}`, 2), failed, 0).failures).toBe(1);
  expect(history.recall(claimOf("d0", 2), failed, 0).failures).toBe(0);
});
