import type { RunId, TurnId } from "../model/ids.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { DeliveryState } from "./deliveries.ts";

export interface Counts {
  /** Taken in so far. */
  readonly events: number;
  readonly turns: number;
  readonly sessions: number;
  /** Items that wait. */
  readonly queued: number;
  /** Runs that somebody holds. */
  readonly running: number;
  readonly suspended: number;
  /** Messages that are dead letters: those that failed, but for work whose caller is told. */
  readonly dead: number;
  readonly deliveries: Readonly<Record<Exclude<DeliveryState, "sent" | "dropped">, number>>;
}

export interface Pulse {
  /**
   * Sessions with a message that is due and not taken up. Those whose run is suspended are left out: they wait
   * for an answer, not for Cortex.
   */
  readonly sessionsWaiting: number;
  /** Since when the one of their messages has waited that has waited longest. */
  readonly waitingSinceMs: number | undefined;
  /** The runs at work whose journal has been still for longest come first, at most MAX_PULSE_RUNS of them. */
  readonly runs: readonly RunPulse[];
  /** Since when there is a delivery of which nobody knows whether it arrived, the oldest. */
  readonly unknownSinceMs: number | undefined;
  /** Since when the event has waited to be judged that has waited longest. */
  readonly unjudgedSinceMs: number | undefined;
}

export interface RunPulse {
  readonly run: RunId;
  readonly turn: TurnId;
  readonly session: SessionKey;
  /** When it began, or something last entered its journal. */
  readonly movedAtMs: number;
}
