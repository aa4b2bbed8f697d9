/** One wording for each thing that is not there, whether it was to be read or to be written. */
import { Refusal } from "./operation.ts";

export function delegationUnknown(id: string): Refusal {
  return new Refusal(
    "delegation_unknown",
    `No delegation has the id "${id}"`,
    "`cortex sessions --tree` shows which session works for which.",
  );
}

export function eventUnknown(event: string): Refusal {
  return new Refusal(
    "event_unknown",
    `No event has the id "${event}"`,
    "Accept the event before anything is made of it.",
  );
}

export function hookUnknown(name: string): Refusal {
  return new Refusal(
    "hook_unknown",
    `No hook is called "${name}"`,
    "`cortex hooks` lists the hooks there are.",
  );
}

export function relayUnknown(id: string): Refusal {
  return new Refusal(
    "relay_unknown",
    `No relay has the id "${id}"`,
    "`cortex relay list` lists the relays there are.",
  );
}

export function sessionUnknown(label: string): Refusal {
  return new Refusal(
    "session_unknown",
    `No session is called "${label}"`,
    "`cortex sessions` lists the sessions there are.",
  );
}

export function turnUnknown(turn: string): Refusal {
  return new Refusal(
    "turn_unknown",
    `No turn has the id "${turn}"`,
    "`cortex log` shows the turns of a session.",
  );
}

export function runUnknown(run: string): Refusal {
  return new Refusal("run_unknown", `No run has the id "${run}"`, "`cortex runs` lists the runs there are.");
}
