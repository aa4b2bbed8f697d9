import { CortexError } from "../model/errors.ts";

export function sessionUnknown(name: string): CortexError {
  return new CortexError("session_unknown", `No session or turn is called "${name}"`, {
    hint: "`cortex sessions` lists the sessions there are.",
  });
}

export function turnUnknown(id: string): CortexError {
  return new CortexError("turn_unknown", `No turn is called "${id}"`, {
    hint: "`cortex log --all` shows the turns there are; an id has 26 characters.",
  });
}
