/**
 * The delay of the event loop: what blocks the main thread blocks everything. Measured outside of JavaScript, so that it
 * costs next to nothing and a stall cannot hide itself.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";

import type { LoopDelay } from "../feature/route.ts";

/** The histogram measures the time between two ticks of this length. */
const TICK_MS = 20;
const WINDOW_MS = 60_000;
const NS_PER_MS = 1_000_000;

const NONE: LoopDelay = { p50Ms: 0, p99Ms: 0, maxMs: 0 };

export class LoopMonitor implements Disposable {
  readonly #histogram = monitorEventLoopDelay({ resolution: TICK_MS });
  readonly #timer: NodeJS.Timeout;
  #last = NONE;

  constructor(windowMs = WINDOW_MS) {
    this.#histogram.enable();
    this.#timer = setInterval(() => this.#turnOver(), windowMs).unref();
  }

  /** The worse of this minute and the previous one, so that a stall shows for at least a minute. */
  read(): LoopDelay {
    const now = this.#measure();
    return {
      p50Ms: Math.max(now.p50Ms, this.#last.p50Ms),
      p99Ms: Math.max(now.p99Ms, this.#last.p99Ms),
      maxMs: Math.max(now.maxMs, this.#last.maxMs),
    };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#histogram.disable();
  }

  #turnOver(): void {
    this.#last = this.#measure();
    this.#histogram.reset();
  }

  #measure(): LoopDelay {
    return {
      p50Ms: lateness(this.#histogram.percentile(50)),
      p99Ms: lateness(this.#histogram.percentile(99)),
      maxMs: lateness(this.#histogram.max),
    };
  }
}

/** To a tenth of a millisecond. */
function lateness(betweenTicksNs: number): number {
  return Math.max(0, Math.round((betweenTicksNs / NS_PER_MS - TICK_MS) * 10) / 10);
}
