/** Whether somebody is at work, as far as the comment of their last tick tells. */
import { MINUTE_MS } from "../../model/durations.ts";

export type Liveness = {
  /** Since the last tick. Undefined: there was none. Negative: it is in the future. */
  readonly ageMs: number | undefined;
} & (
  | {
      readonly state: "fresh";
      /** The clock of whoever wrote it is ahead of ours. */ readonly isAhead: boolean;
    }
  /** Has nothing to do, so no tick is wanted. */
  | { readonly state: "idle" }
  /** Has something to do and has stopped ticking. */
  | { readonly state: "down" }
  /** Has something to do and has never ticked. */
  | { readonly state: "never-started" }
  /** Not on the team any more. */
  | { readonly state: "inactive" }
);

export type LivenessState = Liveness["state"];

export interface LivenessInput {
  readonly tickMs: number | undefined;
  /** Whether a task is ready or in progress. */
  readonly hasActive: boolean;
  readonly nowMs: number;
  readonly heartbeatMinutes: number;
  readonly isInactive?: boolean;
}

/** Below this, no heartbeat is short enough to call somebody down. */
export const MIN_STALE_MINUTES = 30;
/** One heartbeat may be late. */
const HEARTBEATS_UNTIL_STALE = 2;

export function livenessOf({
  tickMs,
  hasActive,
  nowMs,
  heartbeatMinutes,
  isInactive = false,
}: LivenessInput): Liveness {
  const ageMs = tickMs === undefined ? undefined : nowMs - tickMs;
  if (isInactive) return { state: "inactive", ageMs };
  if (ageMs === undefined) return { state: hasActive ? "never-started" : "idle", ageMs };
  if (ageMs <= staleAfterMs(heartbeatMinutes)) return { state: "fresh", ageMs, isAhead: isAhead(ageMs) };
  return { state: hasActive ? "down" : "idle", ageMs };
}

/** A tick that is older than this is stale. */
export function staleAfterMs(heartbeatMinutes: number): number {
  return Math.max(MIN_STALE_MINUTES, HEARTBEATS_UNTIL_STALE * heartbeatMinutes) * MINUTE_MS;
}

/** Stamps have whole minutes, so that two clocks a few seconds apart may be in different ones. */
function isAhead(ageMs: number): boolean {
  return ageMs <= -MINUTE_MS;
}
