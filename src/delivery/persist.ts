import { setTimeout as pause } from "node:timers/promises";

import { CortexError } from "../model/errors.ts";

/** How long a store that is full or busy is left alone. */
const STORE_RETRY_MS = 1_000;

/**
 * Writes down what is known about a message that has left, and goes on trying while the store has troubles
 * that pass: forgetting it now would mean sending the message again. Gives up when cut off.
 */
export async function persist(
  write: () => Promise<void>,
  cut: AbortSignal,
  retryMs = STORE_RETRY_MS,
): Promise<void> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!passes(error) || cut.aborted) throw error;
    }
    await pause(retryMs, undefined, { signal: cut }).catch(() => {}); // cut off: one last try
  }
}

/** A writer that is lost does not come back in this process. */
function passes(error: unknown): boolean {
  return error instanceof CortexError && (error.code === "store_full" || error.code === "store_busy");
}
