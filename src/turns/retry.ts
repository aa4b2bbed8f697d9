import { CortexError } from "../model/errors.ts";
import type { RunFailure } from "../store/store.ts";
import type { Alternative } from "./choose-profile.ts";

const MAX_DELAY_MS = 60_000;

interface Attempt {
  /** 1 for the first. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Before the second attempt; doubled before each further one. */
  readonly firstDelayMs: number;
  readonly nowMs: number;
  /** Between 0 and 1, so that many turns do not come back at the same moment. */
  readonly random: number;
  /** Where a model has failed: what other profiles there are. */
  readonly alternative?: Alternative | undefined;
}

/** What becomes of a turn whose attempt failed: tried again at once or a little later, or a dead letter. */
export function nextAttempt(
  error: unknown,
  { attempt, maxAttempts, firstDelayMs, nowMs, random, alternative }: Attempt,
): RunFailure["outcome"] {
  if (!(error instanceof CortexError)) return { kind: "dead" };
  // A disk that is full is not the message's fault: it waits until there is room.
  const isPatient = error.transient && error.code.startsWith("store_");
  if (attempt >= maxAttempts && !isPatient) return { kind: "dead" };
  if (error.code === "head_moved") return { kind: "retry", atMs: nowMs }; // the next attempt follows the new head
  if (alternative === "now") return { kind: "retry", atMs: nowMs };
  if (!error.transient && alternative !== "later") return { kind: "dead" };
  const backoff = Math.min(firstDelayMs * 2 ** (attempt - 1), MAX_DELAY_MS);
  const jittered = backoff * (0.5 + random / 2);
  return { kind: "retry", atMs: nowMs + Math.max(Math.round(jittered), error.retryAfterMs ?? 0) };
}
