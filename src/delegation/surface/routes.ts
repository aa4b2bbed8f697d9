import { z } from "zod";

import type { Config } from "../../config/config.ts";
import { route } from "../../feature/route.ts";
import { subAgentTypes } from "../sub-agents/types.ts";

const SubAgentType = z.object({
  type: z.string(),
  label: z.string(),
  description: z.string(),
  tools: z.array(z.string()).nullable().describe("Null: all tools of the calling agent."),
  maxTurns: z.number().describe("Maximum number of model calls."),
  timeoutMs: z.number(),
  systemPrompt: z.string().nullable(),
  profile: z.string().nullable(),
  program: z.string().nullable().describe("Name of the external program. Null: Cortex itself."),
});

export const delegationSchemas = {
  SubAgentTypes: z.object({ items: z.array(SubAgentType), next: z.null() }),
};

export const delegationRoutes = [
  route({
    method: "get",
    path: "/api/agents/sub-types",
    needs: "read",
    summary: "List the built-in and configured types of sub-agents",
    answers: { 200: delegationSchemas.SubAgentTypes },
    async handle(_, { cortex }) {
      return { status: 200, body: { items: subTypesView(cortex.config()), next: null } };
    },
  }),
];

/** Shows only the name of a program: its arguments may hold a secret. */
function subTypesView(config: Config) {
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
