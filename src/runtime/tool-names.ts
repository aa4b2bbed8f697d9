import type { Feature } from "../feature/feature.ts";

/** The names of all tools that an agent can have, for checking configurations. */
export function toolNamesOf(features: readonly Feature[]): readonly string[] {
  return [...CORE_TOOLS, ...features.flatMap(({ toolNames = [] }) => toolNames)];
}

const CORE_TOOLS = [
  "Read",
  "Write",
  "Edit",
  "Grep",
  "Glob",
  "List",
  "Stat",
  "Bash",
  "CodeExec",
  "WebFetch",
  "WebSearch",
  "Skill",
  "AskUser",
  "message",
];
