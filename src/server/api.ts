/**
 * What goes over the wire, by name. Requests are checked against their schemas when they come, replies by the
 * compiler when they are written; the OpenAPI document and the types of the web app are made of them.
 */
import { z } from "zod";

import { QUEUE_MODES } from "../model/queue-mode.ts";
import {
  DELIVERY_STATES,
  DIRECTIONS,
  EventRequest,
  ForkRequest,
  MessageRequest,
  RUN_STATES,
  SessionPatch,
} from "./requests.ts";

const time = z.string().meta({ format: "date-time" });

const Accepted = z.object({ eventId: z.string(), dispatchId: z.string(), session: z.string() });
const Answered = Accepted.extend({ turnId: z.string(), text: z.string(), costUsd: z.number().nullable() });

const Event = z.object({
  id: z.string(),
  channel: z.string(),
  direction: z.enum(DIRECTIONS),
  sender: z.string().nullable(),
  account: z.string().nullable(),
  place: z.string().nullable(),
  topic: z.string().nullable(),
  replyTo: z.string().nullable(),
  content: z.string().nullable(),
  contentType: z.string().nullable(),
  attachments: z.unknown(),
  payload: z.unknown(),
  metadata: z.unknown(),
  timestamp: time,
  receivedAt: time,
  differing: z.number().describe("How many redeliveries had other content."),
});
const EventWithDispatches = Event.extend({
  dispatches: z.array(
    z.object({
      id: z.string(),
      hook: z.string(),
      session: z.string(),
      itemId: z.string(),
      outcome: z.enum(["queued", "joined", "merged", "dropped"]),
      turnId: z.string().nullable(),
      createdAt: time,
    }),
  ),
});

const Session = z.object({
  key: z.string(),
  agent: z.string(),
  persona: z.string(),
  head: z.string().nullable(),
  state: z.enum(["idle", "queued", "streaming", "tool", "suspended"]),
  wait: z.enum(["approval", "question", "child", "other"]).nullable(),
  channel: z.string().nullable(),
  parentSession: z.string().nullable(),
  mode: z.string().nullable(),
  profile: z.string().nullable(),
  queued: z.number(),
  runId: z.string().nullable(),
  createdAt: time,
  usedAt: time,
});
const SessionNode = Session.extend({
  get children() {
    return z.array(SessionNode);
  },
});

const ROLES = ["user", "assistant", "tool", "system"] as const;
const Turn = z.object({
  id: z.string(),
  parentId: z.string().nullable(),
  depth: z.number(),
  type: z.enum(["normal", "compaction"]),
  status: z.enum(["completed", "aborted"]),
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
  usage: z.object({
    input: z.number(),
    output: z.number(),
    cacheRead: z.number(),
    cacheWrite: z.number(),
    reasoning: z.number(),
  }),
  costUsd: z.number().nullable(),
  startedAt: time,
  completedAt: time,
  sourceEventId: z.string().nullable(),
  hash: z.string(),
  childCount: z.number(),
});
const FullTurn = Turn.extend({
  messages: z.array(
    z.object({ id: z.string(), role: z.enum(ROLES), content: z.string(), body: z.unknown(), at: time }),
  ),
});

const Item = z.object({
  id: z.string(),
  session: z.string(),
  state: z.enum(["queued", "claimed", "done", "merged", "dropped", "dead"]),
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
  error: z.string().nullable(),
  startedAt: time,
  endedAt: time.nullable(),
});
const DeadLetter = z.object({
  id: z.string(),
  turnId: z.string(),
  session: z.string(),
  eventId: z.string(),
  error: z.string(),
  attempts: z.number(),
  diedAt: time,
});
const Delivery = z.object({
  id: z.string(),
  turnId: z.string().nullable(),
  target: z.object({
    channel: z.string(),
    account: z.string().nullable(),
    place: z.string(),
    topic: z.string().nullable(),
  }),
  replyTo: z.string().nullable(),
  state: z.enum(DELIVERY_STATES),
  attempt: z.number(),
  error: z.string().nullable(),
  content: z.string(),
  chunks: z.array(z.object({ content: z.string(), state: z.string(), platformId: z.string().nullable() })),
  createdAt: time,
  settledAt: time.nullable(),
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
    spendUsdPerDay: z.number(),
  }),
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
  Event,
  EventWithDispatches,
  EventAccepted: z.object({
    eventId: z.string(),
    fresh: z.boolean().describe("False: it was there already."),
  }),
  Events: page(Event),
  Session,
  SessionNode,
  Sessions: page(z.union([SessionNode, Session])),
  Forked: z.object({ session: z.string() }),
  Aborted: z.object({ session: z.string(), aborted: z.literal(true) }),
  Turn,
  FullTurn,
  Turns: page(Turn),
  Item,
  Items: page(Item),
  Settled: z.object({ id: z.string(), state: z.enum(["queued", "dropped", "pending"]) }),
  Run,
  Runs: page(Run),
  DeadLetter,
  DeadLetterWithItem: DeadLetter.extend({ item: Item.nullable() }),
  DeadLetters: page(DeadLetter),
  Delivery,
  Deliveries: page(Delivery),
  Agent,
  Agents: z.object({ items: z.array(Agent), next: z.null() }),
  Persona,
  Personas: z.object({ items: z.array(Persona), next: z.null() }),
  Config: z.object({
    model: z.object({ profile: z.record(z.string(), z.unknown()), why: z.string() }),
    config: z.record(z.string(), z.unknown()),
  }),
  Health: z.object({ status: z.literal("ok"), version: z.string(), store: z.string(), startedAt: time }),
  OpenApi: z.record(z.string(), z.unknown()),
  Error: z.object({ error: z.object({ code: z.string(), message: z.string(), hint: z.string() }) }),
};
