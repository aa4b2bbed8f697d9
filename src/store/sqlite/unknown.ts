/** One wording for each thing that is not there, whether it was to be read or to be written. */
import type { ErrorCode } from "../../model/errors.ts";
import { Refusal } from "./operation.ts";

function unknown(code: ErrorCode, what: string, hint: string): (name: string) => Refusal {
  return (name) => new Refusal(code, `No ${what} "${name}"`, hint);
}

export const delegationUnknown = unknown(
  "delegation_unknown",
  "delegation has the id",
  "`cortex sessions --tree` shows which session works for which.",
);
export const eventUnknown = unknown(
  "event_unknown",
  "event has the id",
  "Accept the event before anything is made of it.",
);
export const hookUnknown = unknown(
  "hook_unknown",
  "hook is called",
  "`cortex hooks` lists the hooks there are.",
);
export const relayUnknown = unknown(
  "relay_unknown",
  "relay has the id",
  "`cortex relay list` lists the relays there are.",
);
export const sessionUnknown = unknown(
  "session_unknown",
  "session is called",
  "`cortex sessions` lists the sessions there are.",
);
export const turnUnknown = unknown(
  "turn_unknown",
  "turn has the id",
  "`cortex log` shows the turns of a session.",
);
export const runUnknown = unknown("run_unknown", "run has the id", "`cortex runs` lists the runs there are.");
