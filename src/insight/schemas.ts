/** What goes over the wire about health, costs, agents and personas, and what became of an event. */
import { z } from "zod";

import { Delivery, Dispatch, Event, ITEM_STATES, Run, time, Usage } from "../feature/api.ts";
import { RUN_STATES } from "../feature/requests.ts";
import { HookRun } from "../hooks/surface/schemas.ts";
import { QUEUE_MODES } from "../model/queue-mode.ts";
import { STAGES } from "../model/spans.ts";
import { COST_GROUPS, DEFAULT_COST_DAYS, MAX_COST_DAYS } from "./costs.ts";

export const CostsQuery = z.strictObject({
  by: z.enum(COST_GROUPS).default("day"),
  days: z.coerce.number().int().min(1).max(MAX_COST_DAYS).default(DEFAULT_COST_DAYS),
});
export const WhyQuery = z.strictObject({
  live: z
    .enum(["0", "1"])
    .optional()
    .describe("1: timings also from the server's memory, if they are there."),
});
export const HealthQuery = z.strictObject({
  full: z.enum(["0", "1"]).optional().describe("1: include all metrics and problems; requires the token."),
});

const Explanation = z.object({
  id: z.string(),
  kind: z.enum(["event", "turn", "delivery", "item"]).describe("What the id is of."),
  event: Event.nullable(),
  chain: z
    .array(z.object({ id: z.string(), channel: z.string(), depth: z.number() }))
    .describe("The event and what led to it, the event first."),
  hooks: z.array(HookRun).describe("The hooks that were asked about it, and what they said."),
  dispatches: z.array(Dispatch),
  items: z.array(
    z.object({
      id: z.string(),
      session: z.string(),
      state: z.enum(ITEM_STATES),
      mode: z.enum(QUEUE_MODES),
      queuedAt: time,
      dueAt: time,
      settledAt: time.nullable(),
      policy: z.string().nullable().describe("By which it was dropped."),
      error: z.string().nullable(),
      caller: z.string().nullable().describe("The session that gave it as work, and is told how it ends."),
      turnId: z.string().nullable().describe("The turn that it is part of."),
      formerTurnId: z
        .string()
        .nullable()
        .describe("Of one that was dropped: the turn that was told of it, or that was given up."),
      waitsFor: z
        .object({ turnId: z.string(), state: z.enum(RUN_STATES), error: z.string().nullable() })
        .nullable()
        .describe("The turn before it in its session, where that is under way or to be tried again."),
    }),
  ),
  turns: z.array(
    z.object({
      id: z.string(),
      hooks: z.array(HookRun).describe("The hooks that were asked about its answer, and what they said."),
      dispatches: z.array(Dispatch).describe("What was made of its answer."),
      turn: z
        .object({
          session: z.string(),
          type: z.enum(["normal", "compaction"]),
          status: z.enum(["completed", "aborted"]),
          limitReached: z.boolean(),
          agent: z.string(),
          profile: z.string(),
          provider: z.string(),
          model: z.string(),
          toolCalls: z.number(),
          usage: Usage,
          costUsd: z.number().nullable(),
          sourceEventId: z.string().nullable(),
          startedAt: time,
          completedAt: time,
        })
        .nullable()
        .describe("Null while it is under way, and if it has failed."),
      items: z
        .array(z.object({ id: z.string(), eventId: z.string(), state: z.enum(ITEM_STATES) }))
        .describe("All messages that are part of it."),
      runs: z.array(
        Run.extend({
          fallback: z
            .string()
            .nullable()
            .describe("Why it has another profile than the one that was wished for."),
        }),
      ),
      deliveries: z.array(Delivery),
      timing: z
        .array(
          z.object({
            stage: z.enum(STAGES),
            atMs: z.number().describe("Since the message was received."),
            tookMs: z.number().describe("Since the stage before."),
            cpuMs: z
              .number()
              .nullable()
              .describe("CPU time of the server meanwhile, for all its work. Null: not measured."),
          }),
        )
        .describe("When each stage ended, from the message to the delivery of the answer."),
    }),
  ),
});

const Alive = z.object({
  status: z.literal("ok"),
  version: z.string(),
  store: z.string(),
  startedAt: time,
});
const Health = Alive.extend({
  status: z.enum(["ok", "degraded"]).describe("degraded: there are problems."),
  problems: z.array(z.object({ problem: z.string(), hint: z.string() })).readonly(),
  uptimeMs: z.number(),
  loop: z
    .object({ p50Ms: z.number(), p99Ms: z.number(), maxMs: z.number() })
    .describe("How late the main thread was, in this minute or the one before."),
  ledger: z.object({ events: z.number(), turns: z.number(), sessions: z.number() }),
  queue: z.object({
    waiting: z.number(),
    sessionsWaiting: z.number(),
    oldestWaitingMs: z.number().nullable(),
  }),
  runs: z.object({
    running: z.number(),
    suspended: z.number(),
    stillest: z
      .array(z.object({ runId: z.string(), turnId: z.string(), session: z.string(), stillMs: z.number() }))
      .readonly()
      .describe("The runs at work, with how long nothing has entered their journals; the stillest first."),
  }),
  deliveries: z.object({
    pending: z.number(),
    sending: z.number(),
    unknown: z.number(),
    dead: z.number(),
    oldestUnknownMs: z.number().nullable(),
  }),
  dead: z.object({ messages: z.number(), deliveries: z.number() }),
  hooks: z.object({
    active: z.number(),
    disabled: z.number(),
    errored: z.number(),
    open: z.number(),
    oldestUnjudgedMs: z.number().nullable(),
    broken: z
      .array(z.object({ name: z.string(), status: z.enum(["errored", "open"]), error: z.string() }))
      .readonly()
      .describe("Some of those that cannot be loaded, or are paused."),
  }),
  memory: z.object({ rssBytes: z.number(), heapUsedBytes: z.number(), heapLimitBytes: z.number() }),
  disk: z.object({ databaseBytes: z.number(), walBytes: z.number(), freeBytes: z.number() }),
  streams: z.number(),
  coolDowns: z
    .array(z.object({ profile: z.string(), failures: z.number(), leftMs: z.number(), error: z.string() }))
    .readonly()
    .describe(
      "Profiles whose models failed and that are left alone for now. Their fallbacks are used meanwhile.",
    ),
  usageReached: z
    .array(z.object({ what: z.string(), setting: z.string(), limit: z.number() }))
    .readonly()
    .describe(
      "The limits of `usage` that this day has reached: no model is asked beyond them until midnight.",
    ),
  unsetVariables: z
    .array(z.object({ setting: z.string(), variable: z.string(), effect: z.string() }))
    .readonly()
    .describe("Variables that settings name and that are not set, and what does not work without them."),
});

const Costs = z.object({
  by: z.enum(["day", "session", "agent", "persona", "model"]),
  since: time,
  costUsd: z.number(),
  turns: z.number(),
  unpriced: z.number().describe("Turns whose price is not known."),
  items: z.array(
    z.object({
      key: z.string(),
      turns: z.number(),
      usage: Usage,
      costUsd: z.number(),
      unpriced: z.number(),
    }),
  ),
  next: z.null(),
  today: z
    .object({
      calls: z.number(),
      tokens: z.number(),
      personas: z.array(
        z.object({
          persona: z.string().nullable().describe("Null: hooks have asked."),
          calls: z.number(),
          tokens: z.number(),
        }),
      ),
      limits: z.object({
        callsPerDay: z.number(),
        tokensPerDay: z.number(),
        personaCallsPerDay: z.number(),
        personaTokensPerDay: z.number(),
      }),
    })
    .describe("Model calls and tokens since midnight, whatever they cost, and what may be."),
});

const Agent = z.object({
  id: z.string(),
  persona: z.string(),
  profile: z.string(),
  role: z.enum(["manager", "worker"]),
  tools: z.array(z.string()),
  skills: z.array(z.string()),
  workspace: z.string(),
  queueMode: z.string().nullable(),
  limits: z.object({
    modelCalls: z.number(),
    costUsd: z.number(),
    wallClockMs: z.number(),
    repeatedCalls: z.number(),
    silenceMs: z.number(),
  }),
});
const Persona = z.object({
  id: z.string(),
  name: z.string(),
  emoji: z.string().nullable(),
  soul: z.string().nullable(),
  mainSession: z.string().nullable(),
  permissions: z.object({
    tools: z.object({ allow: z.array(z.string()), deny: z.array(z.string()) }),
    ask: z.array(z.string()),
    roots: z.array(z.string()),
    hosts: z.array(z.string()),
    channels: z.array(z.string()),
    credentials: z.array(z.string()),
    spendUsdPerDay: z.number(),
  }),
});

const ExplainedPermission = z.object({
  field: z.string().describe("What it is about, such as `hosts`. All rules about the same must agree."),
  value: z.unknown(),
  path: z.string().describe("Where it is set, such as `personas.atlas.permissions.hosts`."),
  origin: z.string().describe("Whether it is: `cortex.json` with the line, or `default`."),
});
const AgentDetails = Agent.extend({
  name: z.string().describe("Of its persona."),
  model: z.object({ profile: z.record(z.string(), z.unknown()), why: z.string() }),
  memory: z.boolean().describe("Whether it is reminded of what the ledger holds."),
  workspaceExists: z.boolean(),
  identityFiles: z.array(
    z.object({ name: z.string(), bytes: z.number().nullable(), problem: z.string().nullable() }),
  ),
  knownSkills: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      source: z.enum(["workspace", "home", "plugin"]),
    }),
  ),
  sandbox: z.object({
    setting: z.enum(["auto", "require", "off"]),
    effective: z.enum(["sandboxed", "asks", "refuses", "plain"]),
    why: z.string(),
  }),
  permissions: z.array(ExplainedPermission),
});
const PersonaDetails = Persona.extend({
  mainSession: z.string().nullable(),
  agents: z.array(z.string()).describe("Those that have it."),
  permissions: z.array(ExplainedPermission),
});

export const insightSchemas = {
  Explanation,
  Costs,
  Agent,
  Agents: z.object({ items: z.array(Agent), next: z.null() }),
  Persona,
  AgentDetails,
  Personas: z.object({ items: z.array(Persona), next: z.null() }),
  PersonaDetails,
  Config: z.object({
    model: z.object({ profile: z.record(z.string(), z.unknown()), why: z.string() }),
    config: z.record(z.string(), z.unknown()),
  }),
  Health: z.union([Health, Alive]),
};
