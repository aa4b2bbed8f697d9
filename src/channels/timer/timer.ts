/**
 * One event a minute, for hooks with a schedule.
 *
 * The minute is the id of its event, so no minute comes twice, whatever the clock does. Minutes without an event,
 * because Cortex was down or the clock was set forward, are not repeated one by one: the next event names them, and each
 * hook decides how to handle them.
 */
import type { Ports } from "../../feature/ports.ts";
import { MINUTE_MS } from "../../model/durations.ts";
import { TIMER_ADAPTER } from "../../model/event.ts";
import { startOfMinute } from "../../model/schedule.ts";
import { WakeLoop } from "../../model/wake-loop.ts";
import type { Store } from "../../store/store.ts";

interface TimerOptions {
  readonly clock: () => number;
  /** Whether any hook listens. Without a listener, there are no events. */
  readonly isWanted: () => boolean;
  /** The newest minute before this one that has an event. */
  readonly lastBefore: (minuteMs: number) => Promise<number | undefined>;
  /** Accepts an event once. */
  readonly accept: (event: TimerEvent) => Promise<unknown>;
  /** Called once when events cannot be accepted, until they can be again. */
  readonly onProblem: (error: unknown) => void;
}

export interface TimerEvent {
  readonly adapter: typeof TIMER_ADAPTER;
  readonly sourceId: { readonly kind: "minute"; readonly atMs: number };
  readonly channel: typeof TIMER_ADAPTER;
  readonly content: null;
  readonly contentType: "timer";
  readonly metadata: {
    /** The first and last of the minutes before this one that have no event. */
    readonly missed?: { readonly fromMs: number; readonly toMs: number };
  };
  readonly timestampMs: number;
}

/** The clock is read at least this often: timeouts are late after the machine slept. */
const LOOK_MS = 5_000;

export class Timer implements AsyncDisposable {
  readonly #options: TimerOptions;
  readonly #loop: WakeLoop;
  /** The last minute that was handled. Undefined: none since the start. */
  #minuteMs: number | undefined;

  constructor(options: TimerOptions) {
    this.#options = options;
    const { onProblem } = options;
    this.#loop = new WakeLoop({ round: () => this.#tick(), pollMs: LOOK_MS, onProblem });
  }

  /** The current minute gets its event at once. */
  start(): void {
    this.#loop.start();
  }

  /** Makes the event of this minute unless it exists. */
  look(): Promise<void> {
    return this.#loop.settle();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }

  /** Returns the time until the next minute. */
  async #tick(): Promise<number> {
    const { clock, isWanted, lastBefore, accept } = this.#options;
    const nowMs = clock();
    const minuteMs = startOfMinute(nowMs);
    const leftMs = minuteMs + MINUTE_MS - nowMs;
    if (minuteMs === this.#minuteMs) return leftMs;
    if (!isWanted()) {
      // A later listener has missed nothing since the start; for before that, the ledger is asked.
      if (this.#minuteMs !== undefined) this.#minuteMs = minuteMs;
      return leftMs;
    }
    // Unless it is simply the next minute, only the ledger knows: the clock may have gone back.
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

type TimerPorts = Pick<Ports, "clock" | "isJudged" | "accept" | "log"> & {
  readonly store: Pick<Store, "events">;
};

/** The timer of a running Cortex. The ledger knows which minutes had an event. */
export function openTimer({ clock, store, isJudged, accept, log }: TimerPorts): Timer {
  return new Timer({
    clock,
    isWanted: () => isJudged("received", TIMER_ADAPTER),
    lastBefore: (minuteMs) => lastMinute(store.events, minuteMs),
    accept,
    onProblem: (error) => log(`The timer is waiting: cannot store its event: ${String(error)}`),
  });
}

async function lastMinute(events: Store["events"], minuteMs: number): Promise<number | undefined> {
  const last = await events.lastOf(TIMER_ADAPTER);
  if (last === undefined || last.atMs < minuteMs) return last?.atMs;
  // The clock went back, or Cortex restarted within the minute. Answers are on the channel too.
  const { items } = await events.list({
    channel: TIMER_ADAPTER,
    direction: "received",
    untilMs: minuteMs,
    limit: 1,
  });
  return items[0]?.atMs;
}
