import { parseArgs } from "node:util";
import type { WorkloadSize } from "./workload.ts";

/** Reads `--sessions N --senders N --messages N --sync-us N`, each with a default. */
export function readArguments(): WorkloadSize & { readonly syncUs: number } {
  const { values } = parseArgs({
    options: {
      sessions: { type: "string", default: "100" },
      senders: { type: "string", default: "100" },
      messages: { type: "string", default: "2000" },
      "sync-us": { type: "string", default: "1000" },
    },
    // A contender may have arguments of its own beside these.
    strict: false,
  });
  const count = (name: keyof typeof values, least: number): number => {
    const value = Number(values[name]);
    if (!Number.isInteger(value) || value < least) {
      throw new Error(`--${name} must be a whole number of at least ${least}, not "${String(values[name])}"`);
    }
    return value;
  };
  return {
    sessions: count("sessions", 1),
    senders: count("senders", 1),
    messages: count("messages", 1),
    syncUs: count("sync-us", 0),
  };
}
