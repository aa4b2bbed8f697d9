/** One wording for each thing that is not there, whether it was to be read or to be written. */
import { Refusal } from "./operation.ts";

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
