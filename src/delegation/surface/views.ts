import type { Config } from "../../config/config.ts";
import { subAgentTypes } from "../sub-agents/types.ts";

/** The types of sub-agents. Of a program only its name is shown: its arguments may hold a secret. */
export function subTypesView(config: Config) {
  return Array.from(subAgentTypes(config).values(), (type) => ({
    type: type.name,
    label: type.label,
    description: type.description,
    tools: type.tools === undefined ? null : [...type.tools],
    maxTurns: type.maxTurns,
    timeoutMs: type.timeoutMs,
    systemPrompt: type.systemPrompt ?? null,
    profile: type.profile ?? null,
    program: type.command?.[0] ?? null,
  }));
}
