import { expect, test } from "vitest";

import { LoopMonitor } from "./loop-delay.ts";

/** Holds this thread up, as a long computation would. */
function stall(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** The first tick has nothing before it, so the first stall may pass unseen. */
function stallUntilSeen(monitor: LoopMonitor, ms: number): Promise<void> {
  const worst = (): number => {
    stall(ms);
    return monitor.read().maxMs;
  };
  return expect.poll(worst).toBeGreaterThan(ms / 2);
}

test("a stall of the main thread is measured", async () => {
  using monitor = new LoopMonitor();
  await stallUntilSeen(monitor, 100);
  const { p50Ms, p99Ms, maxMs } = monitor.read();
  expect([p50Ms, p99Ms, maxMs]).toEqual([p50Ms, p99Ms, maxMs].toSorted((a, b) => a - b));
});

test("a stall is forgotten when its window and the next are over", async () => {
  using monitor = new LoopMonitor(50);
  await stallUntilSeen(monitor, 1_000);
  await expect.poll(() => monitor.read().maxMs).toBeLessThan(500);
});

test("a monitor that has just begun measures nothing", () => {
  using monitor = new LoopMonitor();
  expect(monitor.read()).toEqual({ p50Ms: 0, p99Ms: 0, maxMs: 0 });
});
