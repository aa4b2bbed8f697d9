/**
 * What the files of relays may contain. The descriptions are the help that editors show through the JSON Schemas, and the
 * hints for mistakes in a file.
 *
 * Checks that depend on other entries or files are in validate-agent.ts, validate-conditions.ts and validate.ts.
 */
import { z } from "zod";
import { env, named } from "../../config/schema-parts.ts";
import { quote } from "../../config/problem.ts";
import { ACTIVE_PROFILE } from "../../model/profile.ts";
import { DEFAULT_MAX_ITERATIONS } from "./convergence.ts";
import { ACTIVE_AGENT } from "./snapshot.ts";

export const DEFAULT_SCRIPT_TIMEOUT_MS = 30_000;
const DEFAULT_SESSION_SCRIPT_TIMEOUT_MS = 60_000;
/** A day. */
export const MAX_SCRIPT_TIMEOUT_MS = 86_400_000;
/** Agents of a template, and ends of a transition. */
export const MAX_TEMPLATE_AGENTS = 100;
export const MAX_TRANSITIONS = 1_000;
export const MAX_TOTAL_STEPS = 10_000;

const whole = (max: number, description: string) => z.int().min(1).max(max).describe(description);

const text = (description: string) => z.string().min(1).describe(description);
const flag = (description: string) => z.boolean().describe(description);
const description = (what: string) => z.string().describe(what).default("");
const name = text(
  "The name. Optional: it defaults to the key or file name, and must match it.",
).exactOptional();
const schemaAddress = z.string().describe("The JSON Schema of this file, for editors.").exactOptional();

/** The fields of an agent that a template may override. */
const overridable = {
  directive: text(
    "Describes the agent's role; precedes its prompt. Text, or file:<name> in prompts/directives/.",
  ).exactOptional(),
  systemPrompt: text(
    "Replaces the system prompt. Text, or file:<name> in prompts/systemPrompts/.",
  ).exactOptional(),
  promptTemplate: text(
    "The agent's prompt, with {{variables}}. Text, or file:<name> in prompts/promptTemplates/.",
  ).exactOptional(),
  claudeAgent: text("The Claude Code agent to run as, from .claude/agents/.").exactOptional(),
  outputStyle: text("The output style of Claude Code.").exactOptional(),
  tools: z
    .union([z.string(), z.array(z.string().min(1))])
    .describe("Its tools, replacing the default: comma-separated names, or a list.")
    .exactOptional(),
  pluginDirs: z
    .array(z.string().min(1))
    .describe("Plugin folders. Relative paths start from the home.")
    .exactOptional(),
};

const persistSession = flag(
  "Whether its later steps continue its session; otherwise every step starts a new one.",
);

const stageSchema = z
  .strictObject({
    promptTemplate: text("The agent's prompt in this stage. Text, or file:<name>."),
    continuesSession: flag(
      "Whether a continued session gets this prompt alone, without the previous output.",
    ).default(false),
    description: description("The purpose of the stage."),
  })
  .describe("A stage of an agent.");

export const relayAgentSchema = z
  .strictObject({
    $schema: schemaAddress,
    name,
    description: description("The purpose of the agent."),
    profile: text(`The profile it runs on; "${ACTIVE_PROFILE}" means the active one.`),
    persistSession,
    ...overridable,
    stages: z
      .record(z.string().min(1), stageSchema)
      .describe("Its stages by name, each with a prompt. They replace promptTemplate.")
      .exactOptional(),
    entryStage: text("The stage it starts with (default: the first).").exactOptional(),
  })
  .describe("An agent for relays.");

const overrideSchema = z
  .strictObject({
    ref: text("The agent's name."),
    persistSession: persistSession.exactOptional(),
    ...overridable,
  })
  .describe("An agent, with overrides for this template.");

const conditionSchema = z
  .strictObject({
    type: z
      .enum(["always", "convergence", "output_contains", "output_not_contains"])
      .describe("The kind of condition."),
    marker: text("convergence: the text that marks the work as done.").exactOptional(),
    maxIterations: whole(
      MAX_TOTAL_STEPS,
      "convergence: how often `from` (or `to`, if the marker ends the relay) runs without the marker.",
    ).default(DEFAULT_MAX_ITERATIONS),
    onMarker: z
      .enum(["advance", "stop"])
      .describe(
        "convergence: advance: the marker leads to `to`; without it `from` runs again. stop: the marker ends the relay; " +
          "without it `to` runs. Default: stop if other transitions lead from `to` back to `from`, else advance.",
      )
      .exactOptional(),
    pattern: z
      .string()
      .describe("output_contains, output_not_contains: a regular expression in RE2 syntax.")
      .exactOptional(),
    scope: z
      .enum(["artifact", "step", "output"])
      .describe("The text it examines: the artifact, the step's additions to it, or the agent's answer.")
      .default("artifact"),
  })
  .describe("The condition of the transition.");

const end = (what: string) =>
  z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(MAX_TEMPLATE_AGENTS)]).describe(what);

const transitionSchema = z
  .strictObject({
    from: end('The previous step: "agent" or "agent:stage". In a list, all must have ended.'),
    to: end('The next step: "agent" or "agent:stage". The steps in a list run in parallel.'),
    condition: conditionSchema,
  })
  .describe("A rule for the step that follows another.");

const scriptSchema = z
  .strictObject({
    command: text("The shell command, including its interpreter: node hooks/done.mjs."),
    args: z.array(z.string()).describe("Arguments for the command.").default([]),
    timeout: whole(MAX_SCRIPT_TIMEOUT_MS, "Timeout in milliseconds.").default(DEFAULT_SCRIPT_TIMEOUT_MS),
    env: env.exactOptional(),
  })
  .describe("A command that receives the state of the relay and may answer with an instruction.");

export const hooksSchema = z
  .strictObject({
    onStart: scriptSchema.describe("Runs before the first step.").exactOptional(),
    onTransition: scriptSchema.describe("Runs between two steps.").exactOptional(),
    onEnd: scriptSchema.describe("Runs after the last step, however the relay ended.").exactOptional(),
  })
  .describe("Commands that run between the steps of a relay.");

const maxTotalSteps = whole(MAX_TOTAL_STEPS, "Maximum number of steps.");
const maxTotalCostUsd = z.number().positive().describe("Cost limit in USD.").exactOptional();

const templateShape = {
  $schema: schemaAddress,
  name,
  description: description("The purpose of the template."),
  agents: z
    .array(z.union([z.string().min(1), overrideSchema]))
    .min(1)
    .max(MAX_TEMPLATE_AGENTS)
    .describe(`The agents, by name or with overrides; "${ACTIVE_AGENT}" is the current one.`),
  transitions: z
    .array(transitionSchema)
    .max(MAX_TRANSITIONS)
    .describe("The rules for what follows each step. The first that applies is taken."),
  entryAgent: text("The agent of the first step."),
  maxTotalSteps,
  maxTotalCostUsd,
  hooks: hooksSchema.exactOptional(),
  disableHooks: flag("Disables the hooks without removing them.").default(false),
};

export const templateSchema = z
  .strictObject({
    ...templateShape,
    entryStage: text("The stage of the first step (default: the entry stage of its agent).").exactOptional(),
  })
  .describe("Agents that pass an artifact along, and their order.");

export const shellSchema = z
  .strictObject({
    ...templateShape,
    params: z
      .array(
        z.string().regex(/^[A-Za-z_]\w*$/, {
          error: ({ input }) => `invalid parameter name ${quote(input)}`,
        }),
      )
      .max(MAX_TEMPLATE_AGENTS)
      .describe("Its parameters: letters, digits and _. Each stands for an agent."),
    entryStage: text("The stage of the first step, such as {param.entryStage}.").exactOptional(),
  })
  .describe("A template with {param} and {param.entryStage} in place of agents and stages.");

export const bindingSchema = z
  .object({
    $schema: schemaAddress,
    shell: text("The shell to expand."),
    name,
    description: z.string().describe("Replaces the description of the shell.").exactOptional(),
    maxTotalSteps: maxTotalSteps.exactOptional(),
    maxTotalCostUsd,
  })
  .catchall(z.string().min(1).describe("The agent for a parameter of the shell."))
  .describe("A template made from a shell, with an agent for each of its parameters.");

const relayFileSchema = z
  .strictObject({
    $schema: schemaAddress,
    agents: named(relayAgentSchema, "Agents by name.").default({}),
    templates: named(z.union([templateSchema, bindingSchema]), "Templates by name.").default({}),
    shells: named(shellSchema, "Templates with parameters, by name.").default({}),
  })
  .describe("The agents and templates of relays.");

const sessionScriptSchema = scriptSchema
  .extend({
    timeout: whole(MAX_SCRIPT_TIMEOUT_MS, "Timeout in milliseconds.").default(
      DEFAULT_SESSION_SCRIPT_TIMEOUT_MS,
    ),
  })
  .describe(
    "A command that receives the state of a session. Its output is sent to the agent of the session.",
  );

export const sessionScriptsSchema = z.strictObject({
  $schema: schemaAddress,
  onNew: sessionScriptSchema.describe("Runs after a session is reset.").exactOptional(),
  onMessageEnd: sessionScriptSchema.describe("Runs after a turn that answers a person.").exactOptional(),
});

/** The JSON Schemas of the files of relays, by their names in the config folder. */
export const RELAY_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  "thread-templates.schema.json": relayFileSchema,
  "thread-agent.schema.json": relayAgentSchema,
  "thread-template.schema.json": z.union([templateSchema, bindingSchema]),
  "thread-shell.schema.json": shellSchema,
  "session-hooks.schema.json": sessionScriptsSchema,
};

export type AgentEntry = z.output<typeof relayAgentSchema>;
export type TemplateEntry = z.output<typeof templateSchema>;
export type ShellEntry = z.output<typeof shellSchema>;
export type BindingEntry = z.output<typeof bindingSchema>;
