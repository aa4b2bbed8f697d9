/** Errors of deliveries, in the words that are stored with them. */
import { deliveryRefused, deliveryUncertain } from "../channels/channel.ts";
import { CortexError } from "../model/errors.ts";
import type { StoredDelivery } from "../store/store.ts";

/** refused: for good. failed: nothing was sent. uncertain: it may have arrived. */
type Effect = "refused" | "failed" | "uncertain";

export function effectOf(error: unknown): Effect {
  if (!(error instanceof CortexError)) return "uncertain"; // a channel with a bug may have sent something
  if (error.code === "delivery_uncertain") return "uncertain";
  return error.transient ? "failed" : "refused";
}

export function describe(error: unknown): string {
  if (error instanceof CortexError) return `${error.code}: ${error.message}. ${error.hint}`;
  return `unexpected: ${error instanceof Error ? error.message : String(error)}`;
}

export function channelUnknown(name: string): CortexError {
  return deliveryRefused(`Unknown channel "${name}"`, {
    hint: "Configure it under `channels` or use another, then retry the delivery.",
  });
}

export function nothingToSend(): CortexError {
  return deliveryRefused("The text is empty", { hint: "Nothing was sent." });
}

export function tooManyChunks(max: number): CortexError {
  return deliveryRefused(`The text would need more than ${max} messages`, {
    hint: "Have the agent write a file instead.",
  });
}

export function inDoubt(chunk: number): CortexError {
  return deliveryUncertain(`Cannot tell whether message ${chunk + 1} arrived`, {
    hint: "Check the receiver, and retry the delivery if the message is missing.",
  });
}

export function expired({ chunks, error }: StoredDelivery, maxAgeMs: number): string {
  const doubt = chunks.some(isDoubtful) ? " Part of it may have arrived." : "";
  const last = error === undefined ? "" : ` Last error: ${error}`;
  return `expired: Not sent within ${Math.round(maxAgeMs / 60_000)} minutes.${doubt}${last}`;
}

/** Whether a chunk was being sent and its outcome is unknown. */
export function isDoubtful({ state }: { readonly state: string }): boolean {
  return state === "unknown" || state === "sending";
}
