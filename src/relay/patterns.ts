/** Patterns of transitions, matched in time that grows with the text and never faster. */
import { CortexError } from "../model/errors.ts";

/** Whether a pattern occurs anywhere in a text. */
export type Matches = (pattern: string, text: string) => boolean;

/** So much of a text is matched, its end: of the slowest patterns the engine reads half a megabyte in a second. */
export const MAX_MATCHED_CHARACTERS = 256 * 1024;

/** How many patterns are kept compiled. */
export const MAX_COMPILED_PATTERNS = 500;

/** Patterns are compiled at their first use. One that is not valid is `config_invalid`. */
export async function loadPatterns(): Promise<Matches> {
  const { RE2JS } = await import("re2js");
  const compiled = new Map<string, InstanceType<typeof RE2JS>>();

  function compile(pattern: string): InstanceType<typeof RE2JS> {
    const known = compiled.get(pattern);
    if (known !== undefined) return known;
    try {
      const fresh = RE2JS.compile(pattern);
      if (compiled.size >= MAX_COMPILED_PATTERNS) compiled.clear();
      compiled.set(pattern, fresh);
      return fresh;
    } catch (error) {
      throw invalid(pattern, error);
    }
  }
  return (pattern, text) => compile(pattern).test(text.slice(-MAX_MATCHED_CHARACTERS));
}

function invalid(pattern: string, cause: unknown): CortexError {
  return new CortexError("config_invalid", `The pattern ${JSON.stringify(pattern)} is not valid`, {
    hint: "The syntax is that of RE2: no lookaround, no backreferences. `cortex relay validate` says where it stands.",
    cause,
  });
}
