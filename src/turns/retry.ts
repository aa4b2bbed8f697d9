import { CortexError } from "../model/errors.ts";
import type { RunFailure } from "../store/store.ts";

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;

/** What becomes of a turn whose attempt failed: tried again a little later, or a dead letter. */
export function nextAttempt(
  error: unknown,
  {
    attempt,
    maxAttempts,
    nowMs,
    random,
  }: { attempt: number; maxAttempts: number; nowMs: number; random: number },
): RunFailure["outcome"] {
  if (!(error instanceof CortexError)) return { kind: "dead" };
  // A disk that is full is not the message's fault: it waits until there is room.
  const isPatient = error.transient && error.code.startsWith("store_");
  if (attempt >= maxAttempts && !isPatient) return { kind: "dead" };
  if (error.code === "head_moved") return { kind: "retry", atMs: nowMs }; // the next attempt follows the new head
  if (!error.transient) return { kind: "dead" };
  const backoff = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS);
  const jittered = backoff * (0.5 + random / 2);
  return { kind: "retry", atMs: nowMs + Math.max(Math.round(jittered), error.retryAfterMs ?? 0) };
}
