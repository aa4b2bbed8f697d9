import { expect, test } from "vitest";

import { livenessOf, type LivenessState, MIN_STALE_MINUTES } from "./liveness.ts";

const NOW_MS = Date.parse("2026-03-28T12:00:00Z");

function stateAfter(
  minutes: number | undefined,
  { hasActive = true, heartbeatMinutes = 15, isInactive = false } = {},
): LivenessState {
  const tickMs = minutes === undefined ? undefined : NOW_MS - minutes * 60_000;
  return livenessOf({ tickMs, hasActive, nowMs: NOW_MS, heartbeatMinutes, isInactive }).state;
}

test("whoever has something to do is down when the last tick is older than half an hour", () => {
  expect(stateAfter(0)).toBe("fresh");
  expect(stateAfter(MIN_STALE_MINUTES)).toBe("fresh");
  expect(stateAfter(MIN_STALE_MINUTES + 1)).toBe("down");
});

test("with a long heartbeat, two of them must be missing", () => {
  expect(stateAfter(120, { heartbeatMinutes: 60 })).toBe("fresh");
  expect(stateAfter(121, { heartbeatMinutes: 60 })).toBe("down");
});

test("a short heartbeat makes nobody down within half an hour", () => {
  expect(stateAfter(30, { heartbeatMinutes: 1 })).toBe("fresh");
});

test("whoever has nothing to do is idle, also without any tick", () => {
  expect(stateAfter(31, { hasActive: false })).toBe("idle");
  expect(stateAfter(undefined, { hasActive: false })).toBe("idle");
});

test("whoever has something to do and has never ticked has never started", () => {
  expect(stateAfter(undefined)).toBe("never-started");
});

test("whoever has left is neither down nor idle", () => {
  expect(stateAfter(500, { isInactive: true })).toBe("inactive");
});

test("a tick in the future is fresh and said to be ahead, from a whole minute on", () => {
  const of = (aheadMs: number) =>
    livenessOf({ tickMs: NOW_MS + aheadMs, hasActive: true, nowMs: NOW_MS, heartbeatMinutes: 15 });
  expect(of(59_999)).toEqual({ state: "fresh", ageMs: -59_999, isAhead: false });
  expect(of(60_000)).toEqual({ state: "fresh", ageMs: -60_000, isAhead: true });
});
