import { CortexError } from "../model/errors.ts";

export function refused(message: string, hint: string, cause?: unknown): CortexError {
  return new CortexError("pattern_refused", message, { hint, cause });
}

export function quote(pattern: string): string {
  return JSON.stringify(pattern.length > 100 ? `${pattern.slice(0, 100)}…` : pattern);
}
