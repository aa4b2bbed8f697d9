/**
 * Patterns of tools as people write them. Tools have other names elsewhere, and a configuration may use those: to
 * forbid `shell` is to forbid Bash.
 */
import { matches, type Patterns } from "../model/permissions.ts";
import { canonicalToolName, TOOL_ALIASES } from "../model/tool-aliases.ts";

/** For what allows: another name of a tool stands for the tool. */
export function canonicalPatterns(patterns: Patterns): Patterns {
  return patterns.map(canonicalToolName);
}

/** For what forbids, or asks: so does a pattern that is meant for such names, as `file_*` is. */
export function denyingPatterns(patterns: Patterns): Patterns {
  const narrower = patterns.filter((pattern) => pattern !== "*"); // which says all that there is to say
  const meant = Object.entries(TOOL_ALIASES)
    .filter(([alias]) => matches(narrower, alias))
    .map(([, { name }]) => name);
  return [...new Set([...canonicalPatterns(patterns), ...meant])];
}
