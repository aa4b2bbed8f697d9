/** What an agent of relays may hold, in a file and in a template that overrides some of it. */
import { z } from "zod";
import { ACTIVE_PROFILE } from "../../model/profile.ts";

export const text = (description: string) => z.string().min(1).describe(description);
export const flag = (description: string) => z.boolean().describe(description);
export const description = (what: string) => z.string().describe(what).default("");
export const name = text(
  "The name; it is the key, or the name of the file, and may be left out.",
).exactOptional();
export const schemaAddress = z
  .string()
  .describe("Where editors find the description of this file.")
  .exactOptional();

/** What an agent has and a template may override. */
const overridable = {
  directive: text(
    "Who the agent is, put before its prompt. A text, or file:<name> of prompts/directives/.",
  ).exactOptional(),
  systemPrompt: text(
    "Replaces the system prompt. A text, or file:<name> of prompts/systemPrompts/.",
  ).exactOptional(),
  promptTemplate: text(
    "What the agent is asked, with {{variables}}. A text, or file:<name> of prompts/promptTemplates/.",
  ).exactOptional(),
  claudeAgent: text("The agent of Claude Code that it runs as, from .claude/agents/.").exactOptional(),
  outputStyle: text("The output style of Claude Code.").exactOptional(),
  tools: z
    .union([z.string(), z.array(z.string().min(1))])
    .describe("The tools it has, instead of the default: names with commas between them, or a list.")
    .exactOptional(),
  pluginDirs: z
    .array(z.string().min(1))
    .describe("Folders of plugins, from the home where they are relative.")
    .exactOptional(),
};

const persistSession = flag(
  "Whether it goes on with its own session when its turn comes again; otherwise every step is a new one.",
);

const stageSchema = z
  .strictObject({
    promptTemplate: text("What the agent is asked in this stage. A text, or file:<name>."),
    continuesSession: flag(
      "Whether a session that goes on is given this prompt alone, without the output before it.",
    ).default(false),
    description: description("What the stage is for."),
  })
  .describe("A stage of an agent.");

export const agentSchema = z
  .strictObject({
    $schema: schemaAddress,
    name,
    description: description("What the agent is for."),
    profile: text(`The profile it runs on; "${ACTIVE_PROFILE}" is whatever is active.`),
    persistSession,
    ...overridable,
    stages: z
      .record(z.string().min(1), stageSchema)
      .describe("Its stages by name, each with a prompt; promptTemplate is then not used.")
      .exactOptional(),
    entryStage: text("The stage it begins with; otherwise the first.").exactOptional(),
  })
  .describe("An agent that takes part in relays.");

export const overrideSchema = z
  .strictObject({
    ref: text("The agent's name."),
    persistSession: persistSession.exactOptional(),
    ...overridable,
  })
  .describe("An agent, and what is different about it in this template.");

export type AgentEntry = z.output<typeof agentSchema>;
