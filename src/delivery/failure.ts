/** What went wrong with a delivery, in words that are kept with it. */
import { deliveryRefused, deliveryUncertain } from "../channels/channel.ts";
import { CortexError } from "../model/errors.ts";
import type { StoredDelivery } from "../store/store.ts";

/** refused: for good. failed: nothing was sent. uncertain: it may have arrived. */
export type Effect = "refused" | "failed" | "uncertain";

export function effectOf(error: unknown): Effect {
  if (!(error instanceof CortexError)) return "uncertain"; // a channel with a bug in it may have sent something
  if (error.code === "delivery_uncertain") return "uncertain";
  return error.transient ? "failed" : "refused";
}

export function describe(error: unknown): string {
  if (error instanceof CortexError) return `${error.code}: ${error.message}. ${error.hint}`;
  return `unexpected: ${error instanceof Error ? error.message : String(error)}`;
}

export function channelUnknown(name: string): CortexError {
  return deliveryRefused(`No channel is called "${name}"`, {
    hint: "Configure it under `channels`, or send to another; then retry the delivery.",
  });
}

export function nothingToSend(): CortexError {
  return deliveryRefused("The text is empty", { hint: "There is nothing to send." });
}

export function tooManyChunks(max: number): CortexError {
  return deliveryRefused(`The text would be more than ${max} messages`, {
    hint: "Let the agent write a file instead.",
  });
}

export function inDoubt(chunk: number): CortexError {
  return deliveryUncertain(`Message ${chunk + 1} may have arrived, and nobody can tell`, {
    hint: "Look at the other end, and retry the delivery if it is not there.",
  });
}

export function expired({ chunks, error }: StoredDelivery, maxAgeMs: number): string {
  const doubt = chunks.some(isDoubtful) ? " A part of it may have arrived." : "";
  const last = error === undefined ? "" : ` The last error was: ${error}`;
  return `expired: It could not be sent within ${Math.round(maxAgeMs / 60_000)} minutes.${doubt}${last}`;
}

/** Whether a chunk has begun to leave and was never heard of. */
export function isDoubtful({ state }: { readonly state: string }): boolean {
  return state === "unknown" || state === "sending";
}
