import { type Outlet, TEXT_ONLY } from "../outlet.ts";

/**
 * The outlet of those who read answers where they are kept: the command line, the browser, callers of the
 * API. Their answer is there as soon as its turn is committed, so there is nothing left to send.
 */
export function openLedgerOutlet(name: string): Outlet {
  return {
    name,
    limits: { maxAgeMs: Number.POSITIVE_INFINITY },
    onUncertain: "repeat",
    can: TEXT_ONLY,
    *render(markdown) {
      yield markdown;
    },
    isReady: () => true,
    send: async () => ({}),
  };
}
