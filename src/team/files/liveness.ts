/** Whether a member is at work, judging by its last tick. */
import { MINUTE_MS } from "../../model/durations.ts";

export type Liveness = {
  /** Since the last tick. Undefined: no tick yet. Negative: it is in the future. */
  readonly ageMs: number | undefined;
} &
  /** isAhead: the writer's clock is ahead of ours. */
  (
    | { readonly state: "fresh"; readonly isAhead: boolean }
    /** Has no active tasks, so no tick is expected. */
    | { readonly state: "idle" }
    /** Has active tasks and has stopped ticking. */
    | { readonly state: "down" }
    /** Has active tasks and has never ticked. */
    | { readonly state: "never-started" }
    /** No longer on the team. */
    | { readonly state: "inactive" }
  );

export type LivenessState = Liveness["state"];

interface LivenessInput {
  readonly tickMs: number | undefined;
  /** Whether a task is ready or in progress. */
  readonly hasActive: boolean;
  readonly nowMs: number;
  readonly heartbeatMinutes: number;
  readonly isInactive?: boolean;
}

/** The shortest time after which a tick is stale, however short the heartbeat. */
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
  // Stamps are whole minutes: two clocks a few seconds apart may show different ones.
  if (ageMs <= staleAfterMs(heartbeatMinutes)) return { state: "fresh", ageMs, isAhead: ageMs <= -MINUTE_MS };
  return { state: hasActive ? "down" : "idle", ageMs };
}

/** The age beyond which a tick is stale. */
export function staleAfterMs(heartbeatMinutes: number): number {
  return Math.max(MIN_STALE_MINUTES, HEARTBEATS_UNTIL_STALE * heartbeatMinutes) * MINUTE_MS;
}
