/**
 * One event a minute, for hooks with a schedule.
 *
 * The minute is the id of its event, so that no minute can come twice, whatever the clock does. Minutes without an
 * event, because nobody was running or the clock was put forward, are not made up for one by one: the next
 * event says which they were, and each hook decides what it makes of that.
 */
import { MINUTE_MS } from "../../model/durations.ts";
import { TIMER_ADAPTER } from "../../model/event.ts";
import { startOfMinute } from "../../model/schedule.ts";
import { WakeLoop } from "../../model/wake-loop.ts";

interface TimerParts {
  readonly clock: () => number;
  /** Whether anybody listens. While nobody does, there are no events. */
  readonly isWanted: () => boolean;
  /** The newest minute before this one that has an event. */
  readonly lastBefore: (minuteMs: number) => Promise<number | undefined>;
  /** Takes an event in, once. */
  readonly accept: (event: TimerEvent) => Promise<unknown>;
  /** Told when events cannot be taken in, once until they can. */
  readonly onProblem: (error: unknown) => void;
}

export interface TimerEvent {
  readonly adapter: typeof TIMER_ADAPTER;
  readonly sourceId: { readonly kind: "minute"; readonly atMs: number };
  readonly channel: typeof TIMER_ADAPTER;
  readonly content: null;
  readonly contentType: "timer";
  readonly metadata: {
    /** The first and the last minute before this one that have no event. */
    readonly missed?: { readonly fromMs: number; readonly toMs: number };
  };
  readonly timestampMs: number;
}

/** How often the clock is looked at, at least: after a sleep of the machine, timeouts come late. */
const LOOK_MS = 5_000;

export class Timer implements AsyncDisposable {
  readonly #parts: TimerParts;
  readonly #loop: WakeLoop;
  /** The last minute that was dealt with. Undefined: none since the start. */
  #minuteMs: number | undefined;

  constructor(parts: TimerParts) {
    this.#parts = parts;
    const { onProblem } = parts;
    this.#loop = new WakeLoop({ round: () => this.#tick(), pollMs: LOOK_MS, onProblem });
  }

  /** The minute that is under way has its event at once. */
  start(): void {
    this.#loop.start();
  }

  /** Makes the event of this minute, unless there is one. */
  look(): Promise<void> {
    return this.#loop.settle();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }

  /** Returns how long it is until the next minute. */
  async #tick(): Promise<number> {
    const { clock, isWanted, lastBefore, accept } = this.#parts;
    const nowMs = clock();
    const minuteMs = startOfMinute(nowMs);
    const leftMs = minuteMs + MINUTE_MS - nowMs;
    if (minuteMs === this.#minuteMs) return leftMs;
    if (!isWanted()) {
      // Whoever comes later has missed nothing; whoever has been here before the last end is told by the ledger.
      if (this.#minuteMs !== undefined) this.#minuteMs = minuteMs;
      return leftMs;
    }
    // Where it is not simply the next one, only the ledger knows: the clock may have gone back before.
    const isNext = this.#minuteMs === minuteMs - MINUTE_MS;
    await accept(eventOf(minuteMs, isNext ? this.#minuteMs : await lastBefore(minuteMs)));
    this.#minuteMs = minuteMs;
    return leftMs;
  }
}

function eventOf(minuteMs: number, beforeMs: number | undefined): TimerEvent {
  const isGap = beforeMs !== undefined && beforeMs < minuteMs - MINUTE_MS;
  return {
    adapter: TIMER_ADAPTER,
    sourceId: { kind: "minute", atMs: minuteMs },
    channel: TIMER_ADAPTER,
    content: null,
    contentType: "timer",
    metadata: isGap ? { missed: { fromMs: beforeMs + MINUTE_MS, toMs: minuteMs - MINUTE_MS } } : {},
    timestampMs: minuteMs,
  };
}
