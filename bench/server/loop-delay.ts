// Loaded into the measured server with `--import`: tells its event-loop delay since it was last asked. The
// server itself has no part in this.

import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

export interface LoopDelay {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

if (isMainThread && process.send !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  process.on("message", () => {
    const told: LoopDelay = {
      p50Ms: delay.percentile(50) / 1e6,
      p99Ms: delay.percentile(99) / 1e6,
      maxMs: delay.max / 1e6,
    };
    process.send!(told);
    delay.reset();
  });
  // Listening must not keep a server alive that was told to stop.
  process.channel!.unref();
}
