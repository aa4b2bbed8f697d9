/**
 * What goes over the wire, by name. Requests are checked against their schemas when they come, replies by the
 * compiler when they are written; the OpenAPI document is made of them.
 */
import { z } from "zod";

import { PLACE_KINDS } from "../model/event.ts";
import { QUEUE_MODES } from "../model/queue-mode.ts";
import { relaySchemas } from "../relay/surface/schemas.ts";
import { teamSchemas } from "../team/surface/schemas.ts";
import {
  AnswerRequest,
  APPROVAL_STATES,
  DecisionRequest,
  DELIVERY_STATES,
  DIRECTIONS,
  EventRequest,
  ForkRequest,
  HookPatch,
  HookTestRequest,
  MessageRequest,
  PruneRequest,
  RUN_STATES,
  SessionPatch,
} from "./requests.ts";

const time = z.string().meta({ format: "date-time" });

const Accepted = z.object({
  eventId: z.string(),
  dispatchId: z.string(),
  session: z.string(),
  dropped: z.string().optional().describe("It will have no turn: the policy by which it was dropped."),
  reply: z.string().optional().describe("To the command in the first line of the message."),
});
const Answered = Accepted.extend({
  turnId: z.string(),
  text: z.string(),
  costUsd: z.number().nullable(),
  aborted: z
    .object({
      reason: z.string(),
      by: z.string().nullable().describe("The event that interrupted it. Null: somebody asked for the end."),
    })
    .optional()
    .describe("The turn ended early; `text` is what it had said by then."),
});
const Replied = z
  .object({ eventId: z.string(), session: z.string(), text: z.string() })
  .describe("A command to Cortex was carried out, and no turn was made.");

const Event = z.object({
  id: z.string(),
  channel: z.string(),
  direction: z.enum(DIRECTIONS),
  sender: z.string().nullable(),
  account: z.string().nullable(),
  place: z.string().nullable(),
  topic: z.string().nullable(),
  placeKind: z.enum(PLACE_KINDS).nullable(),
  mentionsMe: z.boolean().nullable(),
  replyTo: z.string().nullable(),
  content: z.string().nullable(),
  contentType: z.string().nullable(),
  attachments: z.unknown(),
  payload: z.unknown(),
  metadata: z.unknown(),
  timestamp: time,
  receivedAt: time,
  differing: z.number().describe("How many redeliveries had other content."),
  cause: z.string().nullable().describe("The event that led to it. Null: it began its chain."),
  depth: z.number().describe("How many links of its chain lie before it; `broker.maxChain` is the limit."),
  prunedAt: time.nullable().describe("When what it said was taken out."),
});
const Dispatch = z.object({
  id: z.string(),
  hook: z.string(),
  session: z.string(),
  itemId: z.string(),
  outcome: z.enum(["queued", "joined", "late", "merged", "silenced", "dropped"]),
  turnId: z.string().nullable(),
  createdAt: time,
});
const EventWithDispatches = Event.extend({ dispatches: z.array(Dispatch) });

const Session = z.object({
  key: z.string(),
  agent: z.string(),
  persona: z.string(),
  head: z.string().nullable(),
  model: z.string().nullable().describe("The model of its last turn."),
  turnCount: z.number(),
  messageCount: z.number(),
  limitReached: z
    .boolean()
    .describe("Whether a limit ended its last turn, so that its answer is not complete."),
  state: z.enum(["idle", "queued", "streaming", "tool", "compacting", "suspended"]),
  closed: z.boolean().describe("It is a step's, of a relay that is over."),
  wait: z.enum(["approval", "question", "child", "other"]).nullable(),
  channel: z.string().nullable(),
  parentSession: z.string().nullable().describe("The session whose agent opened it."),
  parentTurnId: z.string().nullable(),
  parentCallId: z.string().nullable().describe("The tool call in that turn."),
  type: z.string().nullable().describe("The type of sub-agent that it is, where it is one."),
  childCount: z.number().describe("How many sessions its agent has opened."),
  mode: z.string().nullable(),
  profile: z.string().nullable(),
  trust: z
    .object({ untrusted: z.boolean(), private: z.boolean(), outward: z.boolean() })
    .describe("What it has come into contact with: with the first two, outward calls need an approval."),
  queued: z.number(),
  runId: z.string().nullable(),
  createdAt: time,
  usedAt: time,
});
const Spent = z.object({
  turns: z.number(),
  costUsd: z.number(),
  unpriced: z.number().describe("Turns whose price is not known."),
});
const SessionNode = Session.extend(Spent.shape).extend({
  total: Spent.describe("Of the session with all below it."),
  get children() {
    return z.array(SessionNode);
  },
});

const Approval = z.object({
  id: z.string(),
  kind: z.enum(["approval", "question"]),
  session: z.string(),
  chat: z.string().describe("The session in whose chat it is asked: of a relay, the one that started it."),
  turnId: z.string(),
  tool: z.string().nullable(),
  args: z.unknown(),
  reason: z.string().nullable().describe("Why a person is asked."),
  question: z.string().nullable(),
  options: z.array(z.string()).nullable(),
  status: z.enum(APPROVAL_STATES),
  answer: z.string().nullable().describe("To a question; of a denial, its reason."),
  answeredBy: z.string().nullable(),
  askedAt: time,
  expiresAt: time.nullable(),
  answeredAt: time.nullable(),
});

const CONTEXT_KINDS = ["system", "tools", "history", "memory", "message"] as const;
const SessionContext = z.object({
  session: z.string(),
  agent: z.string(),
  persona: z.string(),
  profile: z.string(),
  model: z.string().nullable(),
  window: z.number().nullable().describe("How many tokens the model takes. Null: nobody knows."),
  tokens: z.number().describe("The sum of the parts."),
  counted: z.number().describe("The same, where the provider has counted all but the end of it."),
  compactionDue: z.boolean().describe("Whether it is shortened before the model is asked."),
  sums: z.array(z.object({ kind: z.enum(CONTEXT_KINDS), tokens: z.number() })),
  parts: z.array(
    z.object({
      kind: z.enum(CONTEXT_KINDS),
      name: z.string(),
      turnId: z.string().nullable(),
      tokens: z.number(),
      note: z.string().nullable().describe("What was cut or left out."),
      text: z.string().optional(),
    }),
  ),
  problems: z
    .array(z.object({ path: z.string(), problem: z.string(), isLeftOut: z.boolean() }))
    .describe("What is wrong with skills and plugins."),
});

const Usage = z.object({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  reasoning: z.number(),
});

const ROLES = ["user", "assistant", "tool", "system"] as const;
const Turn = z.object({
  id: z.string(),
  parentId: z.string().nullable(),
  depth: z.number(),
  type: z.enum(["normal", "compaction"]),
  status: z.enum(["completed", "aborted"]),
  limitReached: z.boolean().describe("A limit ended it: its answer is not complete."),
  session: z.string(),
  agent: z.string(),
  persona: z.string(),
  role: z.enum(["manager", "worker"]),
  profile: z.string(),
  provider: z.string(),
  model: z.string(),
  query: z.array(z.object({ id: z.string(), role: z.enum(ROLES), content: z.string(), at: time })),
  text: z.string(),
  toolCalls: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      args: z.unknown(),
      result: z.string().nullable(),
      status: z.enum(["started", "ok", "error", "unknown", "skipped", "aborted"]),
      durationMs: z.number().nullable(),
      childSession: z.string().nullable(),
    }),
  ),
  usage: Usage,
  costUsd: z.number().nullable(),
  startedAt: time,
  completedAt: time,
  sourceEventId: z.string().nullable(),
  hash: z.string(),
  prunedAt: time.nullable().describe("When what was said in it was taken out."),
  childCount: z.number(),
});
const FullTurn = Turn.extend({
  messages: z.array(
    z.object({ id: z.string(), role: z.enum(ROLES), content: z.string(), body: z.unknown(), at: time }),
  ),
});

const ITEM_STATES = ["queued", "claimed", "done", "merged", "dropped", "dead"] as const;
const Item = z.object({
  id: z.string(),
  session: z.string(),
  state: z.enum(ITEM_STATES),
  mode: z.enum(QUEUE_MODES),
  dueAt: time,
  queuedAt: time,
  eventId: z.string(),
  channel: z.string(),
  sender: z.string().nullable(),
  content: z.string().nullable(),
  dispatches: z.array(
    z.object({
      id: z.string(),
      hook: z.string(),
      message: z.string().nullable(),
      profile: z.string().nullable(),
    }),
  ),
});
const Run = z.object({
  id: z.string(),
  turnId: z.string(),
  session: z.string(),
  attempt: z.number(),
  state: z.enum(RUN_STATES),
  interruptions: z.number(),
  wait: z.object({ id: z.string(), kind: z.string(), detail: z.unknown() }).nullable(),
  abort: z.string().nullable(),
  abortedBy: z.string().nullable().describe("The event that interrupted it."),
  error: z.string().nullable(),
  isCompacting: z.boolean().describe("It sums its thread up before it goes on."),
  startedAt: time,
  endedAt: time.nullable(),
});
const DeliveryTarget = z.object({
  channel: z.string(),
  account: z.string().nullable(),
  place: z.string(),
  topic: z.string().nullable(),
});
const Delivery = z.object({
  id: z.string(),
  turnId: z.string().nullable(),
  target: DeliveryTarget,
  replyTo: z.string().nullable(),
  state: z.enum(DELIVERY_STATES),
  attempt: z.number(),
  error: z.string().nullable(),
  content: z.string(),
  chunks: z.array(z.object({ content: z.string(), state: z.string(), platformId: z.string().nullable() })),
  createdAt: time,
  settledAt: time.nullable(),
});
const DeadLetter = z.object({
  kind: z.enum(["message", "delivery"]),
  id: z.string().describe("Of the queue item, or of the delivery."),
  turnId: z.string().nullable(),
  session: z.string().nullable(),
  eventId: z.string().nullable(),
  target: DeliveryTarget.nullable().describe("Of a delivery."),
  error: z.string(),
  attempts: z.number(),
  diedAt: time,
});

const Found = z.object({
  items: z.array(
    z.object({
      eventId: z.string(),
      turnId: z.string().nullable().describe("Of an answer: the turn that it ends."),
      channel: z.string(),
      direction: z.enum(DIRECTIONS),
      sender: z.string().nullable(),
      place: z.string().nullable(),
      timestamp: time,
      text: z.string().describe("What was said, or the part of it where the words are."),
      score: z.number().describe("From 0 to 1, larger is better."),
    }),
  ),
  next: z.null(),
  unsearched: z.number().describe("Older events that wait to be indexed and were not looked at."),
});

const Hook = z.object({
  name: z.string().describe("Of its file, without the ending."),
  title: z.string(),
  description: z.string(),
  mode: z.enum(["persistent", "one-shot"]),
  status: z.enum(["active", "disabled", "errored", "open"]).describe("open: paused after repeated failures."),
  enabled: z.boolean(),
  present: z.boolean().describe("False: its file is gone."),
  origin: z.enum(["person", "agent"]).describe("Who wrote it."),
  error: z.string().nullable(),
  filter: z.unknown(),
  triggers: z.number().describe("How often it has fired."),
  triggeredAt: time.nullable(),
  lastRunAt: time.nullable(),
  openedAt: time.nullable(),
  createdAt: time,
  health: z
    .object({
      runs: z.number(),
      fired: z.number(),
      errors: z.number(),
      consecutiveErrors: z.number(),
      p95Ms: z.number().nullable(),
    })
    .describe("Of its last 100 runs."),
});
const HookRun = z.object({
  hook: z.string(),
  eventId: z.string(),
  fired: z.boolean(),
  exclusive: z.boolean().describe("It silences the default hooks for its event."),
  result: z.unknown(),
  error: z.string().nullable(),
  skipped: z
    .string()
    .nullable()
    .describe("Why the hook was not asked: paused, or a scheduled time has passed."),
  llmCalls: z.number(),
  costUsd: z.number().nullable(),
  startedAt: time,
  durationMs: z.number(),
});
const HookTrial = z.object({
  hook: z.string(),
  matches: z.boolean().describe("Whether the event passes its filter. If not, the hook was not asked."),
  fired: z.boolean(),
  result: z.unknown().describe("What it returned, in the one form that all of them are brought into."),
  error: z.string().nullable(),
  llmCalls: z.number(),
  costUsd: z.number().nullable(),
  durationMs: z.number(),
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

const Diagnosis = z.object({
  state: z.enum(["ok", "warn", "fail"]).describe("The worst of them."),
  canStart: z.boolean().describe("Whether nothing was found because of which Cortex would not start."),
  checks: z
    .array(
      z.object({
        name: z.string().describe("What was looked at; several checks may have the same name."),
        state: z.enum(["ok", "warn", "fail"]),
        message: z.string(),
        hint: z.string().nullable(),
        stopsStart: z.boolean().describe("Whether Cortex does not start because of it."),
        diff: z.array(z.string()).nullable().describe("What `cortex doctor --fix` would change."),
      }),
    )
    .readonly(),
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
const SubAgentType = z.object({
  type: z.string(),
  label: z.string(),
  description: z.string(),
  tools: z.array(z.string()).nullable().describe("Null: all that whoever calls it has."),
  maxTurns: z.number().describe("How often it may call the model."),
  timeoutMs: z.number(),
  systemPrompt: z.string().nullable(),
  profile: z.string().nullable(),
  program: z.string().nullable().describe("The program that it is, where it is none of Cortex itself."),
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

/** A page of a list, newest first; what cannot grow comes whole. */
const page = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next: z.string().nullable() });

/** Everything that a route takes or gives, by the name it has in the OpenAPI document. */
export const schemas = {
  MessageRequest,
  ForkRequest,
  SessionPatch,
  EventRequest,
  Accepted,
  Answered,
  Replied,
  AnsweredOrReplied: z.union([Answered, Replied]),
  Event,
  EventWithDispatches,
  Explanation,
  EventAccepted: z.object({
    eventId: z.string(),
    fresh: z.boolean().describe("False: it was there already."),
  }),
  Events: page(Event),
  Found,
  Session,
  SessionNode,
  Sessions: page(z.union([SessionNode, Session])),
  SessionContext,
  Forked: z.object({ session: z.string() }),
  Aborted: z.object({ session: z.string(), aborted: z.literal(true) }),
  Turn,
  FullTurn,
  Turns: page(Turn),
  Item,
  Items: page(Item),
  Settled: z.object({ id: z.string(), state: z.enum(["queued", "dropped", "pending"]) }),
  Pruned: z.object({
    before: time,
    turns: z.number(),
    events: z.number(),
    deliveries: z.number(),
    approvals: z.number(),
    relays: z.number(),
  }),
  PruneRequest,
  Run,
  Runs: page(Run),
  DeadLetter,
  FullDeadLetter: DeadLetter.extend({ item: Item.nullable(), delivery: Delivery.nullable() }),
  DeadLetters: page(DeadLetter),
  Delivery,
  Deliveries: page(Delivery),
  Approval,
  Approvals: page(Approval),
  DecisionRequest,
  AnswerRequest,
  Hook,
  Hooks: z.object({ items: z.array(Hook), next: z.null() }),
  HookRuns: page(HookRun),
  HookPatch,
  HookTestRequest,
  HookTrial,
  ...relaySchemas,
  ...teamSchemas,
  Costs,
  Agent,
  Agents: z.object({ items: z.array(Agent), next: z.null() }),
  SubAgentTypes: z.object({ items: z.array(SubAgentType), next: z.null() }),
  Persona,
  AgentDetails,
  Personas: z.object({ items: z.array(Persona), next: z.null() }),
  PersonaDetails,
  Config: z.object({
    model: z.object({ profile: z.record(z.string(), z.unknown()), why: z.string() }),
    config: z.record(z.string(), z.unknown()),
  }),
  Health: z.union([Health, Alive]),
  Diagnosis,
  OpenApi: z.record(z.string(), z.unknown()),
  Error: z.object({ error: z.object({ code: z.string(), message: z.string(), hint: z.string() }) }),
};
