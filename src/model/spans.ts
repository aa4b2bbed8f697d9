/**
 * Where the time of a message goes, measured by the pipeline itself: each step marks the moment at which it is done with
 * a message. A mark is two numbers in memory, so all messages are measured. The marks of a finished turn are committed
 * with it; the times that the ledger keeps anyway stand in for marks that a restart has lost.
 */
import type { EventId, TurnId } from "./ids.ts";

/** What is marked, in the order of the pipeline. */
export const STAGES = [
  "received",
  "accepted",
  "judged",
  "queued",
  "claimed",
  "prepared",
  "asked",
  "first byte",
  "answered",
  "committed",
  "delivered",
] as const;

export type Stage = (typeof STAGES)[number];

/** A moment by clocks that only go forward: of the wall and of the process's CPU, all threads together. */
export interface Instant {
  readonly ms: number;
  readonly cpuMs: number;
}

/** When a message came, and its marks: how long after that each stage ended, and the CPU time used by then. */
export interface Timing {
  readonly atMs: number;
  readonly marks: readonly (readonly [stage: Stage, ms: number, cpuMs: number])[];
}

/** Events and turns whose marks are in memory at a time; of the oldest, those are forgotten. */
const MAX_TRACES = 1_000;

interface Trace {
  readonly atMs: number;
  readonly start: Instant;
  readonly marks: { readonly stage: Stage; readonly at: Instant }[];
}

export class Spans {
  readonly now: () => Instant;
  readonly #clock: () => number;
  readonly #traces = new Map<EventId | TurnId, Trace>();

  /** The clock says what day it is, `now` how much time has passed. */
  constructor(clock: () => number, now: () => Instant) {
    this.#clock = clock;
    this.now = now;
  }

  /** Marks the end of a stage of an event, or of the turn that answers it. */
  mark(id: EventId | TurnId, stage: Stage, at: Instant = this.now()): void {
    const trace = this.#traces.get(id) ?? this.#keep(id, this.#start(at));
    trace.marks.push({ stage, at });
  }

  /** A turn was claimed that answers an event: its marks go on from those of the event. Each attempt begins anew. */
  claim(turn: TurnId, event: EventId, at: Instant): void {
    const { marks, ...trace } = this.#traces.get(event) ?? this.#start(at);
    this.#keep(turn, { ...trace, marks: [...marks, { stage: "claimed", at }] });
  }

  /** The marks so far. Undefined: none are known. */
  read(id: EventId | TurnId): Timing | undefined {
    const trace = this.#traces.get(id);
    if (trace === undefined) return undefined;
    const { atMs, start, marks } = trace;
    return {
      atMs,
      marks: marks.map(({ stage, at }) => [
        stage,
        rounded(at.ms - start.ms),
        rounded(at.cpuMs - start.cpuMs),
      ]),
    };
  }

  #start(start: Instant): Trace {
    return { atMs: this.#clock() - (this.now().ms - start.ms), start, marks: [] };
  }

  #keep(id: EventId | TurnId, trace: Trace): Trace {
    this.#traces.set(id, trace);
    if (this.#traces.size > MAX_TRACES) this.#traces.delete(this.#traces.keys().next().value!);
    return trace;
  }
}

/** To the microsecond. */
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
