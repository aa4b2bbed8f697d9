import { deliveryUncertain } from "../channels/channel.ts";
import { withTimeout } from "../channels/with-timeout.ts";

/** However slow a platform is, and even where a channel does not listen to its signal, a send ends by then. */
export const SEND_DEADLINE_MS = 60_000;

/** Asks a channel for something, and leaves it alone when the time is over. */
export async function withDeadline<Result>(
  act: (signal: AbortSignal) => Promise<Result>,
  cut: AbortSignal,
  deadlineMs = SEND_DEADLINE_MS,
): Promise<Result> {
  return withTimeout(
    async (signal) => {
      if (signal.aborted) throw cutOff();
      const over = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => over.reject(cutOff()), { once: true });
      return Promise.race([act(signal), over.promise]);
    },
    cut,
    deadlineMs,
  );
}

function cutOff(): Error {
  return deliveryUncertain("The send was interrupted before the platform answered", {
    hint: "It may have arrived.",
  });
}
