/**
 * What the files of relays may hold besides agents, the single one and those of the folder. The descriptions are the help that
 * editors show, through the JSON Schemas, and the hints of whatever is wrong with a file.
 *
 * What depends on something else (a name that must exist, a file that must be there) is not here: see
 * validate-agent.ts, validate-conditions.ts and validate-templates.ts.
 */
import { z } from "zod";
import { env, named } from "../../config/cortex-schema.ts";
import { quote } from "../../config/problem.ts";
import { agentSchema, description, flag, name, overrideSchema, schemaAddress, text } from "./agent-schema.ts";
import { DEFAULT_MAX_ITERATIONS } from "./convergence.ts";
import { ACTIVE_AGENT } from "./snapshot.ts";

export const DEFAULT_SCRIPT_TIMEOUT_MS = 30_000;
/** A day. */
export const MAX_SCRIPT_TIMEOUT_MS = 86_400_000;
/** How many agents a template may have, and how many ends a transition. */
export const MAX_TEMPLATE_AGENTS = 100;
export const MAX_TRANSITIONS = 1_000;
export const MAX_TOTAL_STEPS = 10_000;

const whole = (max: number, description: string) => z.int().min(1).max(max).describe(description);
const usd = (description: string) => z.number().positive().describe(description);

const conditionSchema = z
  .strictObject({
    type: z
      .enum(["always", "convergence", "output_contains", "output_not_contains"])
      .describe("What the transition depends on."),
    marker: text("convergence: the text that says that the work is done.").exactOptional(),
    maxIterations: whole(
      MAX_TOTAL_STEPS,
      "convergence: how often `from` runs without the marker, or, where the marker ends the relay, `to`.",
    ).default(DEFAULT_MAX_ITERATIONS),
    onMarker: z
      .enum(["advance", "stop"])
      .describe(
        "convergence: whether the marker leads on, and without it `from` runs again, or ends the relay, and without " +
          "it `to` runs. Unless it is said, it is stop where `to` leads back to `from` by other transitions.",
      )
      .exactOptional(),
    pattern: z
      .string()
      .describe("output_contains, output_not_contains: a regular expression in the syntax of RE2.")
      .exactOptional(),
    scope: z
      .enum(["artifact", "step", "output"])
      .describe("Where it looks: in the artifact, in what the step added to it, in what the agent answered.")
      .default("artifact"),
  })
  .describe("When the transition is taken.");

const end = (what: string) =>
  z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(MAX_TEMPLATE_AGENTS)]).describe(what);

const transitionSchema = z
  .strictObject({
    from: end('The step before: "agent" or "agent:stage"; of a list, all must have ended.'),
    to: end('The step after: "agent" or "agent:stage"; those of a list run at the same time.'),
    condition: conditionSchema,
  })
  .describe("What follows on a step.");

const scriptSchema = z
  .strictObject({
    command: text("What the shell runs, with its interpreter: node hooks/done.mjs."),
    args: z.array(z.string()).describe("Arguments for the command.").default([]),
    timeout: whole(MAX_SCRIPT_TIMEOUT_MS, "How long it may take, in milliseconds.").default(
      DEFAULT_SCRIPT_TIMEOUT_MS,
    ),
    env: env.exactOptional(),
  })
  .describe("A command that is given the state of the relay and may answer what to do.");

export const hooksSchema = z
  .strictObject({
    onStart: scriptSchema.describe("Runs before the first step.").exactOptional(),
    onTransition: scriptSchema.describe("Runs between two steps.").exactOptional(),
    onEnd: scriptSchema.describe("Runs after the last step, however the relay ended.").exactOptional(),
  })
  .describe("Commands that run at certain moments of a relay.");

const maxTotalSteps = whole(MAX_TOTAL_STEPS, "How many steps the relay may have.");
const maxTotalCostUsd = usd("What the relay may cost, in USD.").exactOptional();

const templateShape = {
  $schema: schemaAddress,
  name,
  description: description("What the template is for."),
  agents: z
    .array(z.union([z.string().min(1), overrideSchema]))
    .min(1)
    .max(MAX_TEMPLATE_AGENTS)
    .describe(`The agents that take part, by name or with overrides; "${ACTIVE_AGENT}" is the current one.`),
  transitions: z
    .array(transitionSchema)
    .max(MAX_TRANSITIONS)
    .describe("What follows on each step: the first that applies is taken."),
  entryAgent: text("The agent of the first step."),
  maxTotalSteps,
  maxTotalCostUsd,
  hooks: hooksSchema.exactOptional(),
  disableHooks: flag("Whether hooks are left out, without removing them.").default(false),
};

export const templateSchema = z
  .strictObject({
    ...templateShape,
    entryStage: text(
      "The stage of the first step; otherwise the one that its agent begins with.",
    ).exactOptional(),
  })
  .describe("Agents that pass an artifact along, and in which order.");

export const shellSchema = z
  .strictObject({
    ...templateShape,
    params: z
      .array(
        z.string().regex(/^[A-Za-z_]\w*$/, {
          error: ({ input }) => `${quote(input)} is not the name of a parameter`,
        }),
      )
      .max(MAX_TEMPLATE_AGENTS)
      .describe("The parameters: letters, digits and _. Each stands for an agent."),
    entryStage: text("The stage of the first step, such as {param.entryStage}.").exactOptional(),
  })
  .describe("A template with {param} and {param.entryStage} in place of agents and stages.");

export const bindingSchema = z
  .object({
    $schema: schemaAddress,
    shell: text("The shell that the template is made from."),
    name,
    description: z
      .string()
      .describe("What the template is for, instead of what the shell says.")
      .exactOptional(),
    maxTotalSteps: maxTotalSteps.exactOptional(),
    maxTotalCostUsd,
  })
  .catchall(z.string().min(1).describe("The agent that a parameter of the shell stands for."))
  .describe("A template that is made from a shell: an agent for each of its parameters.");

export const relayFileSchema = z
  .strictObject({
    $schema: schemaAddress,
    agents: named(agentSchema, "Agents by name.").default({}),
    templates: named(z.union([templateSchema, bindingSchema]), "Templates by name.").default({}),
    shells: named(shellSchema, "Templates with parameters, by name.").default({}),
  })
  .describe("The agents of relays, and how they work together.");

export type TemplateEntry = z.output<typeof templateSchema>;
export type ShellEntry = z.output<typeof shellSchema>;
export type BindingEntry = z.output<typeof bindingSchema>;
