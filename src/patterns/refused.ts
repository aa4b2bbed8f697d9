import { CortexError } from "../model/errors.ts";
import { truncate } from "../model/truncate.ts";

export function refused(message: string, hint: string, cause?: unknown): CortexError {
  return new CortexError("pattern_refused", message, { hint, cause });
}

export function quotePattern(pattern: string): string {
  return JSON.stringify(truncate(pattern, 100));
}
