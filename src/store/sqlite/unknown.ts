/** The same error for an unknown id, whether it was read or written. */
import type { ErrorCode } from "../../model/errors.ts";
import { Refusal } from "./operation.ts";

function unknown(code: ErrorCode, what: string, hint: string): (name: string) => Refusal {
  return (name) => new Refusal(code, `Unknown ${what} "${name}"`, hint);
}

export const delegationUnknown = unknown(
  "delegation_unknown",
  "delegation",
  "Run `cortex sessions --tree` to see which session works for which.",
);
export const eventUnknown = unknown("event_unknown", "event", "Accept the event first.");
export const hookUnknown = unknown("hook_unknown", "hook", "Run `cortex hooks` to list hooks.");
export const personUnknown = unknown("person_unknown", "person", "Run `cortex people list` to list people.");
export const relayUnknown = unknown("relay_unknown", "relay", "Run `cortex relay list` to list relays.");
export const sessionUnknown = unknown(
  "session_unknown",
  "session",
  "Run `cortex sessions` to list sessions.",
);
export const tokenUnknown = unknown("token_unknown", "token", "Run `cortex tokens list` to list tokens.");
export const turnUnknown = unknown(
  "turn_unknown",
  "turn",
  "Run `cortex log` to list the turns of a session.",
);
export const runUnknown = unknown("run_unknown", "run", "Run `cortex runs` to list runs.");
