/**
 * What goes over the wire, by name. Requests are checked against their schemas when they come, replies by the
 * compiler when they are written; the OpenAPI document is made of them.
 */
import { z } from "zod";

import { PLACE_KINDS } from "../model/event.ts";
import { QUEUE_MODES } from "../model/queue-mode.ts";
import {
  AnswerRequest,
  APPROVAL_STATES,
  DecisionRequest,
  DELIVERY_STATES,
  DIRECTIONS,
  EventRequest,
  ForkRequest,
  MessageRequest,
  RUN_STATES,
  SessionPatch,
} from "./requests.ts";

export const time = z.string().meta({ format: "date-time" });

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

export const Event = z.object({
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
export const Dispatch = z.object({
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

export const Usage = z.object({
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

export const ITEM_STATES = ["queued", "claimed", "done", "merged", "dropped", "dead"] as const;
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
export const Run = z.object({
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
export const Delivery = z.object({
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

/** A page of a list, newest first; what cannot grow comes whole. */
export const page = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next: z.string().nullable() });

/** Everything that a route takes or gives, by the name it has in the OpenAPI document. */
export const coreSchemas = {
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
  EventAccepted: z.object({
    eventId: z.string(),
    fresh: z.boolean().describe("False: it was there already."),
  }),
  Events: page(Event),
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
  OpenApi: z.record(z.string(), z.unknown()),
  Error: z.object({ error: z.object({ code: z.string(), message: z.string(), hint: z.string() }) }),
};
