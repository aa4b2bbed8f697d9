/**
 * Compiles untrusted regular expressions for an engine without backtracking (RE2). Matching takes time proportional to the
 * size of the compiled program times the length of the text, so both are limited: a few characters such as `.{0,1000}`
 * compile to thousands of instructions.
 */
import { RE2JS } from "re2js";

import { quotePattern, refused } from "./refused.ts";

/** Instructions per compiled pattern. */
export const MAX_PROGRAM_SIZE = 5_000;
/** Instructions times characters, for one text. */
export const MAX_STEPS = 200_000_000;
/** How many compiled patterns are cached. */
export const MAX_COMPILED_PATTERNS = 200;

const SYNTAX_HINT =
  "The syntax is RE2: no lookaround and no backreferences, (?i) ignores case. Write \\( to match a literal (.";

export class Compiler {
  readonly #compiled = new Map<string, RE2JS>();

  /** Throws `pattern_refused`. */
  compile(pattern: string): RE2JS {
    const known = this.#compiled.get(pattern);
    if (known !== undefined) return known;
    const fresh = compilePattern(pattern);
    if (this.#compiled.size >= MAX_COMPILED_PATTERNS) this.#compiled.clear();
    this.#compiled.set(pattern, fresh);
    return fresh;
  }

  /** Throws `pattern_refused`, also if the pattern is too complex for a text of this length. */
  compileFor(pattern: string, text: string): RE2JS {
    const compiled = this.compile(pattern);
    const steps = compiled.programSize() * text.length;
    if (steps <= MAX_STEPS) return compiled;
    throw refused(
      `The pattern ${quotePattern(pattern)} is too complex for a text of ${text.length} characters`,
      "Use smaller repetition counts, or a shorter pattern.",
    );
  }
}

/** Throws `pattern_refused`. A hostile pattern may take long: call it in a thread or process that can be killed. */
export function compilePattern(pattern: string): RE2JS {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern);
  } catch (error) {
    throw refused(`Invalid pattern ${quotePattern(pattern)}: ${reasonOf(error)}`, SYNTAX_HINT, error);
  }
  const size = compiled.programSize();
  if (size <= MAX_PROGRAM_SIZE) return compiled;
  throw refused(
    `The pattern ${quotePattern(pattern)} is too complex: it compiles to ${size} instructions (limit ${MAX_PROGRAM_SIZE})`,
    "Use smaller repetition counts: .{0,1000} alone takes 2000 instructions, and .* takes 2.",
  );
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace("error parsing regexp: ", "") : String(error);
}
