import type { RunId, TurnId } from "../model/ids.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { DeliveryState } from "./deliveries.ts";

export interface Counts {
  /** Accepted so far. */
  readonly events: number;
  readonly turns: number;
  readonly sessions: number;
  /** Items waiting. */
  readonly queued: number;
  /** Runs held by a process. */
  readonly running: number;
  readonly suspended: number;
  /** Dead messages, except work whose caller is told about the failure. */
  readonly dead: number;
  readonly deliveries: Readonly<Record<Exclude<DeliveryState, "sent" | "dropped">, number>>;
}

export interface Pulse {
  /**
   * Sessions with a due message that no run has taken. Excludes sessions whose run is suspended, because they wait
   * for an answer rather than for Cortex.
   */
  readonly sessionsWaiting: number;
  /** When the oldest waiting message became due. */
  readonly waitingSinceMs: number | undefined;
  /** Active runs, longest without progress first, at most MAX_PULSE_RUNS. */
  readonly runs: readonly RunPulse[];
  /** When the oldest delivery in state `unknown` was created. */
  readonly unknownSinceMs: number | undefined;
  /** When the oldest event waiting for hooks was received. */
  readonly unjudgedSinceMs: number | undefined;
}

export interface RunPulse {
  readonly run: RunId;
  readonly turn: TurnId;
  readonly session: SessionKey;
  /** When it started, or its journal last grew. */
  readonly movedAtMs: number;
}
