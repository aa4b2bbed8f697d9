/** The wire formats of relays. The fields of a record are named as in `threads.json`. */
import { z } from "zod";

import { jsonField, PageQuery, place, textField } from "../../feature/requests.ts";
import { RELAY_STATUSES, RESERVED_METADATA, STOP_REASONS } from "../record/record.ts";

const time = z.string().meta({ format: "date-time" });

const Slot = z.object({
  slotId: z.string(),
  profile: z.string(),
  sessionId: z.string().nullable(),
  sessionName: z.string().nullable(),
  status: z.enum(["idle", "running", "completed"]),
  lastOutput: z.string().nullable(),
  persistSession: z.boolean(),
});
const Step = z.object({
  stepIndex: z.number().describe("Its index in the list, from 0 as in `threads.json`."),
  kind: z
    .enum(["agent", "inserted", "script"])
    .describe("inserted: requested by a script; script: a script that failed."),
  agentSlotId: z.string(),
  stage: z.string().nullable(),
  executionId: z.string().nullable().describe("The turn."),
  sessionId: z.string().nullable(),
  sessionName: z.string().nullable(),
  input: z.string().describe("The whole prompt."),
  output: z.string().nullable(),
  status: z.enum(["running", "completed", "failed"]),
  error: z.string().nullable(),
  costUsd: z.number().nullable(),
  numTurns: z.number().nullable(),
  durationS: z.number().nullable(),
  artifactHash: z.string().nullable().describe("The hash of the artifact after it."),
  startedAt: time.nullable(),
  endedAt: time.nullable(),
});
const Relay = z.object({
  id: z.string(),
  templateName: z.string().nullable().describe("Null: a single agent."),
  status: z.enum(RELAY_STATUSES),
  stopReason: z.enum(STOP_REASONS).nullable(),
  channel: z.string().describe("Where it was started."),
  platformThreadId: z.string().nullable(),
  userMessage: z.string(),
  userMessageTs: time,
  workspacePath: z.string(),
  artifactPath: z.string(),
  agents: z.record(z.string(), Slot),
  activeAgent: z.string(),
  activeStage: z.string().nullable(),
  currentStepIndex: z.number(),
  steps: z.array(Step).readonly(),
  iterationCounts: z.record(z.string(), z.number()),
  totalCostUsd: z.number(),
  createdAt: time,
  updatedAt: time,
  endedAt: time.nullable(),
  error: z.string().nullable(),
  abortReason: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  configHash: z.string().describe("The hash of the template and prompts it runs with."),
});

const Condition = z.object({
  type: z.enum(["always", "convergence", "output_contains", "output_not_contains"]),
  marker: z.string().optional(),
  maxIterations: z.number().optional(),
  onMarker: z.enum(["advance", "stop"]).optional(),
  pattern: z.string().optional(),
  scope: z.enum(["artifact", "step", "output"]).optional(),
});
export const RelayTemplateSchema = z.object({
  name: z.string(),
  description: z.string(),
  agents: z.array(z.string()).readonly(),
  entry: z.string().describe("agent, or agent:stage."),
  transitions: z
    .array(
      z.object({
        from: z.array(z.string()).readonly(),
        to: z.array(z.string()).readonly(),
        condition: Condition,
      }),
    )
    .readonly(),
  maxTotalSteps: z.number(),
  maxTotalCostUsd: z.number().nullable(),
  hooks: z.array(z.string()).readonly(),
  convergence: z
    .array(
      z.object({
        transition: z.number(),
        reading: z.enum(["advance", "stop"]),
        isStated: z.boolean(),
        text: z.string(),
      }),
    )
    .readonly()
    .describe("The meaning of the marker on each convergence edge."),
});
export const RelayAgentSchema = z.object({
  name: z.string(),
  description: z.string(),
  profile: z.string(),
  persistSession: z.boolean(),
  stages: z.array(z.object({ name: z.string(), description: z.string() })).readonly(),
  entryStage: z.string().nullable(),
  tools: z
    .array(z.string())
    .readonly()
    .nullable()
    .describe("Null: the tools of the agent that runs the step."),
  pluginDirs: z.array(z.string()).readonly(),
});

export const RelaysQuery = PageQuery.extend({
  running: z.enum(["0", "1"]).optional().describe("1: only unfinished relays."),
  channel: z.string().min(1).optional().describe("Only relays started there."),
});
export const ArtifactQuery = z.strictObject({
  step: z.coerce.number().int().min(1).optional().describe("The state after this step, counted from 1."),
});

const RelayRequest = z
  .strictObject({
    template: z.string().min(1).optional(),
    agent: z.string().min(1).optional(),
    name: z.string().min(1).optional().describe("A template, else an agent."),
    message: textField.min(1),
    dir: z.string().min(1).optional().describe("The working folder of its agents, as an absolute path."),
    profile: z.string().min(1).optional().describe("For agents that use the active profile."),
    budgetUsd: z.number().positive().optional().describe("Cost limit in USD for the whole relay."),
    metadata: z
      .record(z.string(), jsonField)
      .refine((metadata) => RESERVED_METADATA.every((field) => !Object.hasOwn(metadata, field)), {
        error: `reserved fields: ${RESERVED_METADATA.join(", ")}`,
      })
      .optional(),
    delivery: place.optional().describe("Where its notices go."),
    channel: z.string().min(1).optional().describe("The channel in its record: where it was started."),
    idempotencyKey: z.string().min(1).optional().describe("The same key returns the same relay."),
    dryRun: z.boolean().optional().describe("Only preview its path with the offline model."),
  })
  .refine((request) => [request.template, request.agent, request.name].filter(isGiven).length === 1, {
    error: "expected exactly one of template, agent and name",
  });

function isGiven(value: string | undefined): boolean {
  return value !== undefined;
}

const DryRun = z.object({
  template: z.string().nullable(),
  steps: z
    .array(
      z.object({
        agent: z.string(),
        stage: z.string().nullable(),
        prompt: z.string(),
        output: z.string().nullable(),
      }),
    )
    .readonly(),
  stopReason: z.enum(STOP_REASONS).nullable(),
  artifact: z.string(),
});

export const relaySchemas = {
  RelayRequest,
  RelayAddition: z.strictObject({ agent: z.string().min(1), message: textField.min(1).optional() }),
  RelayMessage: z.strictObject({
    content: textField.min(1),
    idempotencyKey: z.string().min(1).optional().describe("A message with the same key is accepted once."),
  }),
  Relay,
  Relays: z.object({ items: z.array(Relay), next: z.string().nullable() }),
  RelayCancelled: z.object({ id: z.string(), cancelled: z.literal(true) }),
  RelayBuffered: z.object({
    id: z.string(),
    buffered: z.number().describe("How many messages wait for the next step."),
    dropped: z.number().describe("How many older messages were dropped."),
    answered: z.string().nullable().describe("The question that was answered. Null: none was open."),
  }),
  RelayArtifact: z.object({
    id: z.string(),
    step: z.number().nullable().describe("Counted from 1. Null: the current state."),
    content: z.string(),
  }),
  RelayDryRun: DryRun,
  RelayTemplates: z.object({ items: z.array(RelayTemplateSchema), next: z.null() }),
  RelayAgents: z.object({ items: z.array(RelayAgentSchema), next: z.null() }),
};
