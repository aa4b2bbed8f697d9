import type { Channel } from "../channel.ts";

/**
 * The channel of those who read answers where they are kept: the command line, the browser, callers of the
 * API. Their answer is there as soon as its turn is committed, so there is nothing left to send.
 */
export function openLedgerChannel(name: string): Channel {
  return {
    name,
    limits: { maxLength: Number.POSITIVE_INFINITY, maxAgeMs: Number.POSITIVE_INFINITY },
    onUncertain: "repeat",
    formatText: (markdown) => markdown,
    isReady: () => true,
    send: async () => ({}),
  };
}
