/**
 * Watches over a process that runs hooks, from a second thread of it: in the middle of a loop the first one hears
 * nothing. It ends the process when that takes too much memory, or when nobody is left who would end it.
 */
import { Worker } from "node:worker_threads";

export interface GuardParts extends GuardLimits {
  /** The process id of whoever started this one. It may be gone before this one can look who it was. */
  readonly parent: number;
}

export interface GuardLimits {
  /** What hooks may take, beside what the process takes without them. */
  readonly memoryMb: number;
  /** How often it looks while a hook is at work. */
  readonly lookMs: number;
}

/** While no hook is at work, what one has left behind may still grow. */
const IDLE_LOOK_MS = 1_000;

const WATCH = `
const { working, allowedBytes, parent, lookMs, idleLookMs } = require("node:worker_threads").workerData;
const never = new Int32Array(new SharedArrayBuffer(4));
for (;;) {
  if (process.ppid !== parent || process.memoryUsage.rss() > allowedBytes) process.kill(process.pid, "SIGKILL");
  if (Atomics.load(working, 0) > 0) Atomics.wait(never, 0, 0, lookMs);
  else Atomics.wait(working, 0, 0, idleLookMs);
}`;

/** Gives the function that tells it how many calls are under way. */
export function startGuard({ memoryMb, lookMs, parent }: GuardParts): (calls: number) => void {
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
