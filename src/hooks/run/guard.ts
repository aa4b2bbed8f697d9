/**
 * Watches a process that runs hooks from a second thread of it, because a busy loop blocks the first. Kills the process
 * when it takes too much memory or its parent is gone.
 */
import { Worker } from "node:worker_threads";

export interface GuardOrders extends GuardLimits {
  /** Its process id. The parent may be gone before this process can ask for it. */
  readonly parent: number;
}

export interface GuardLimits {
  /** What hooks may use, on top of what the process uses without them. */
  readonly memoryMb: number;
  /** How often it checks while a hook runs. */
  readonly lookMs: number;
}

/** While no hook runs: what one left behind may still grow. */
const IDLE_LOOK_MS = 1_000;

const WATCH = `
const { working, allowedBytes, parent, lookMs, idleLookMs } = require("node:worker_threads").workerData;
const never = new Int32Array(new SharedArrayBuffer(4));
for (;;) {
  if (process.ppid !== parent || process.memoryUsage.rss() > allowedBytes) process.kill(process.pid, "SIGKILL");
  if (Atomics.load(working, 0) > 0) Atomics.wait(never, 0, 0, lookMs);
  else Atomics.wait(working, 0, 0, idleLookMs);
}`;

/** Returns a function that tells it how many calls are running. */
export function startGuard({ memoryMb, lookMs, parent }: GuardOrders): (calls: number) => void {
  const working = new Int32Array(new SharedArrayBuffer(4));
  const allowedBytes = process.memoryUsage.rss() + memoryMb * 1024 * 1024;
  new Worker(WATCH, {
    eval: true,
    execArgv: [],
    workerData: { working, allowedBytes, parent, lookMs, idleLookMs: IDLE_LOOK_MS },
  }).unref();
  return (calls) => {
    Atomics.store(working, 0, calls);
    if (calls > 0) Atomics.notify(working, 0);
  };
}
