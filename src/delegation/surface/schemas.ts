import { z } from "zod";

const SubAgentType = z.object({
  type: z.string(),
  label: z.string(),
  description: z.string(),
  tools: z.array(z.string()).nullable().describe("Null: all tools of the calling agent."),
  maxTurns: z.number().describe("How often it may call the model."),
  timeoutMs: z.number(),
  systemPrompt: z.string().nullable(),
  profile: z.string().nullable(),
  program: z.string().nullable().describe("The program that it is, where it is none of Cortex itself."),
});

export const delegationSchemas = {
  SubAgentTypes: z.object({ items: z.array(SubAgentType), next: z.null() }),
};
