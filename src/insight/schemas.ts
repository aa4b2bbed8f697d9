/** The API schemas of health, costs, agents, personas and traces. */
import { z } from "zod";

import { Delivery, Dispatch, Event, ITEM_STATES, LabelOrigin, Run, time, Usage } from "../feature/api.ts";
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
  live: z.enum(["0", "1"]).optional().describe("1: include timings from the server's memory, if available."),
});
export const HealthQuery = z.strictObject({
  full: z.enum(["0", "1"]).optional().describe("1: include all metrics and problems; requires the token."),
});

const Explanation = z.object({
  id: z.string(),
  kind: z.enum(["event", "turn", "delivery", "item"]).describe("What the id belongs to."),
  event: Event.nullable(),
  chain: z
    .array(z.object({ id: z.string(), channel: z.string(), depth: z.number() }))
    .describe("The event and its causes, the event first."),
  hooks: z.array(HookRun).describe("The hooks that judged it, with their verdicts."),
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
      policy: z.string().nullable().describe("The policy that dropped it."),
      error: z.string().nullable(),
      caller: z.string().nullable().describe("The session that delegated it and is notified of its end."),
      turnId: z.string().nullable().describe("Its turn."),
      formerTurnId: z
        .string()
        .nullable()
        .describe("If dropped: the turn that was notified of it, or that was abandoned."),
      waitsFor: z
        .object({ turnId: z.string(), state: z.enum(RUN_STATES), error: z.string().nullable() })
        .nullable()
        .describe("The earlier turn of its session, if it is running or will be retried."),
    }),
  ),
  turns: z.array(
    z.object({
      id: z.string(),
      hooks: z.array(HookRun).describe("The hooks that judged its answer, with their verdicts."),
      dispatches: z.array(Dispatch).describe("The dispatches of its answer."),
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
        .describe("Null while it is running, and if it failed."),
      items: z
        .array(z.object({ id: z.string(), eventId: z.string(), state: z.enum(ITEM_STATES) }))
        .describe("All its messages."),
      runs: z.array(
        Run.extend({
          fallback: z.string().nullable().describe("Why it used another profile than requested."),
        }),
      ),
      deliveries: z.array(Delivery),
      labels: z.array(LabelOrigin).describe("What it brought into the label of its session."),
      timing: z
        .array(
          z.object({
            stage: z.enum(STAGES),
            atMs: z.number().describe("Time since the message was received."),
            tookMs: z.number().describe("Time since the previous stage."),
            cpuMs: z
              .number()
              .nullable()
              .describe("CPU time of the whole server meanwhile. Null: not measured."),
          }),
        )
        .describe("The end of each stage, from the message to the delivery of the answer."),
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
    .describe("Delay of the main thread, in this minute or the previous one."),
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
      .describe("Running runs with the time since their last journal entry, longest first."),
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
      .describe("Some of the hooks that failed to load or are paused."),
  }),
  memory: z.object({ rssBytes: z.number(), heapUsedBytes: z.number(), heapLimitBytes: z.number() }),
  disk: z.object({ databaseBytes: z.number(), walBytes: z.number(), freeBytes: z.number() }),
  streams: z.number(),
  coolDowns: z
    .array(z.object({ profile: z.string(), failures: z.number(), leftMs: z.number(), error: z.string() }))
    .readonly()
    .describe("Profiles paused after failures of their models. Their fallbacks are used meanwhile."),
  usageReached: z
    .array(z.object({ what: z.string(), setting: z.string(), limit: z.number() }))
    .readonly()
    .describe("Daily limits of `usage` that were reached: no further model calls until midnight."),
  unsetVariables: z
    .array(z.object({ setting: z.string(), variable: z.string(), effect: z.string() }))
    .readonly()
    .describe("Variables that settings refer to but that are not set, and the effect."),
  quotas: z
    .array(
      z.object({
        kind: z.enum(["home", "workspace"]),
        path: z.string(),
        usedBytes: z.number(),
        limitBytes: z.number(),
        state: z.enum(["ok", "low", "full"]),
      }),
    )
    .readonly()
    .describe("Disk space of the home and of the agents' workspaces, with its limits."),
  channels: z
    .array(
      z.object({
        name: z.string(),
        account: z.string(),
        state: z.string(),
        downMs: z.number().nullable().describe("How long it has not been live. Null: it is."),
        error: z.string().nullable(),
      }),
    )
    .readonly()
    .describe("The connections of chat channels; see GET /api/channels."),
});

const Costs = z.object({
  by: z.enum(["day", "session", "agent", "persona", "person", "model"]),
  since: time,
  costUsd: z.number(),
  turns: z.number(),
  unpriced: z.number().describe("Turns with unknown price."),
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
          persona: z.string().nullable().describe("Null: used by hooks."),
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
    .describe("Model calls and tokens since midnight, free ones included, and the limits."),
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
    memoryMb: z.number(),
    processes: z.number(),
    cpuSeconds: z.number(),
    openFiles: z.number(),
    fileMb: z.number(),
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
  field: z.string().describe("The subject, such as `hosts`. All rules on one subject must allow a call."),
  value: z.unknown(),
  path: z.string().describe("The setting, such as `personas.atlas.permissions.hosts`."),
  origin: z.string().describe("Where it is set: `cortex.json` with the line, or `default`."),
});
const AgentDetails = Agent.extend({
  name: z.string().describe("The name of its persona."),
  model: z.object({ profile: z.record(z.string(), z.unknown()), why: z.string() }),
  memory: z.boolean().describe("Whether relevant turns are recalled from the ledger."),
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
  skillProblems: z
    .array(z.object({ path: z.string(), problem: z.string(), hint: z.string().nullable() }))
    .describe("Problems with its skills and plugins, such as a plugin that changed after it was pinned."),
  sandbox: z.object({
    setting: z.enum(["auto", "require", "off"]),
    effective: z.enum(["sandboxed", "asks", "refuses", "plain"]),
    why: z.string(),
  }),
  permissions: z.array(ExplainedPermission),
});
const PersonaDetails = Persona.extend({
  mainSession: z.string().nullable(),
  agents: z.array(z.string()).describe("The agents with this persona."),
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
