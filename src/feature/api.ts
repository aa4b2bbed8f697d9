/**
 * The schemas of the HTTP API, by name. Requests are checked against them at run time, replies by the compiler. The
 * OpenAPI document is generated from them.
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
  dropped: z.string().optional().describe("The policy that dropped the message; it gets no turn."),
  reply: z.string().optional().describe("The reply to the command in the first line of the message."),
});
const Answered = Accepted.extend({
  turnId: z.string(),
  text: z.string(),
  costUsd: z.number().nullable(),
  aborted: z
    .object({
      reason: z.string(),
      by: z.string().nullable().describe("The event that interrupted the turn. Null: aborted on request."),
    })
    .optional()
    .describe("The turn ended early; `text` is its output so far."),
});
const Replied = z
  .object({ eventId: z.string(), session: z.string(), text: z.string() })
  .describe("Cortex ran a command; no turn was made.");

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
  messageId: z.string().nullable().describe("The platform's own id of the message."),
  about: z.string().nullable().describe("Of an edit, deletion or reaction: the `messageId` it concerns."),
  content: z.string().nullable(),
  contentType: z.string().nullable(),
  attachments: z.unknown(),
  payload: z.unknown(),
  metadata: z.unknown(),
  timestamp: time,
  receivedAt: time,
  differing: z.number().describe("Number of redeliveries with different content."),
  cause: z.string().nullable().describe("The event that caused it. Null: it began its chain."),
  depth: z.number().describe("Number of links before it in its chain; limited by `broker.maxChain`."),
  principal: z
    .string()
    .describe("On whose authority it happened: `owner`, `person:<id>`, `guest:…`, `source:…`."),
  token: z.string().nullable().describe("The name of the scoped token that sent it."),
  prunedAt: time.nullable().describe("When its content was removed."),
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

export const Labels = z.object({
  untrusted: z.array(z.string()).describe("Whose words it holds: principals, `tool:<name>`, `document`."),
  private: z.array(z.string()).describe("To whom it is private: principals and rooms."),
  denied: z
    .array(z.string())
    .describe("Tools that one of its authors may not use; `!Read,Grep`: all but these."),
});
export const LabelOrigin = z.object({
  label: z.string().describe("Such as `untrusted: person:ada`."),
  from: z.string().describe("What brought it first: an event, a tool, a file, a session."),
  turnId: z.string().nullable().describe("The turn in which it came."),
  at: time,
});
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
    .describe("Whether a limit ended its last turn, so that the answer is incomplete."),
  state: z.enum(["idle", "queued", "streaming", "tool", "compacting", "suspended"]),
  closed: z.boolean().describe("Whether it belongs to a step of a finished relay."),
  wait: z.enum(["approval", "question", "child", "other"]).nullable(),
  channel: z.string().nullable(),
  parentSession: z.string().nullable().describe("The session whose agent opened it."),
  parentTurnId: z.string().nullable(),
  parentCallId: z.string().nullable().describe("The tool call in that turn."),
  type: z.string().nullable().describe("The sub-agent type. Null: not a sub-agent."),
  childCount: z.number().describe("Number of sessions that its agent opened."),
  mode: z.string().nullable(),
  profile: z.string().nullable(),
  trust: z
    .object({ untrusted: z.boolean(), private: z.boolean(), outward: z.boolean() })
    .describe("Whether its labels name anyone, and whether it has had effects outside."),
  labels: Labels.describe("What it has come into contact with."),
  queued: z.number(),
  runId: z.string().nullable(),
  createdAt: time,
  usedAt: time,
});
const Spent = z.object({
  turns: z.number(),
  costUsd: z.number(),
  unpriced: z.number().describe("Turns without a known price."),
});
const SessionNode = Session.extend(Spent.shape).extend({
  total: Spent.describe("Of the session and all sessions below it."),
  get children() {
    return z.array(SessionNode);
  },
});

const Approval = z.object({
  id: z.string(),
  kind: z.enum(["approval", "question"]),
  session: z.string(),
  chat: z
    .string()
    .describe("The session whose chat shows it; for a relay, the session that started the relay."),
  turnId: z.string(),
  agent: z.string().nullable(),
  workspace: z.string().nullable(),
  tool: z.string().nullable(),
  args: z.unknown(),
  reason: z.string().nullable().describe("Why the call needs an approval."),
  again: z.string().nullable().describe("Why an earlier approval of the same call did not hold."),
  principal: z.string().nullable().describe("Who the work is for: `owner`, or `<channel>/<sender>`."),
  labels: z.array(z.string()).nullable().describe("The labels of the session when it asked."),
  causedBy: z
    .object({ event: z.string(), sender: z.string().nullable(), channel: z.string(), text: z.string() })
    .nullable()
    .describe("The message that led to it; for a relay or a worker, the one that started the work."),
  files: z
    .array(z.object({ path: z.string(), sha256: z.string().nullable() }))
    .nullable()
    .describe("Files that the call changes or runs, when it asked."),
  diff: z.string().nullable().describe("What the call changes, or the code that it enables."),
  digest: z.string().describe("SHA-256 of the call, the labels and the files."),
  rendered: z
    .string()
    .describe(
      "The request as text, with everything invisible as an escape such as `\\u{202E}`. It says how much of a long one is left out.",
    ),
  question: z.string().nullable(),
  options: z.array(z.string()).nullable(),
  status: z.enum(APPROVAL_STATES),
  answer: z.string().nullable().describe("The answer to a question, or the reason of a denial."),
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
  window: z.number().nullable().describe("Context window of the model in tokens. Null: unknown."),
  tokens: z.number().describe("The sum of the parts."),
  counted: z.number().describe("The same, using the provider's count for all but the end."),
  compactionDue: z.boolean().describe("Whether it is compacted before the next model call."),
  sums: z.array(z.object({ kind: z.enum(CONTEXT_KINDS), tokens: z.number() })),
  parts: z.array(
    z.object({
      kind: z.enum(CONTEXT_KINDS),
      name: z.string(),
      turnId: z.string().nullable(),
      tokens: z.number(),
      note: z.string().nullable().describe("What was truncated or omitted."),
      text: z.string().optional(),
    }),
  ),
  labels: z.array(LabelOrigin).describe("The label of the session, and where each name of it came from."),
  problems: z
    .array(z.object({ path: z.string(), problem: z.string(), isLeftOut: z.boolean() }))
    .describe("Problems of skills and plugins."),
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
  limitReached: z.boolean().describe("Whether a limit ended it, so that the answer is incomplete."),
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
  prunedAt: time.nullable().describe("When its content was removed."),
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
  isCompacting: z.boolean().describe("Whether it is compacting its thread."),
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
  extras: z.unknown().describe("What is shown beside the text: buttons, files. Null: nothing."),
  chunks: z.array(z.object({ content: z.string(), state: z.string(), platformId: z.string().nullable() })),
  createdAt: time,
  settledAt: time.nullable(),
});
const DeadLetter = z.object({
  kind: z.enum(["message", "delivery"]),
  id: z.string().describe("The id of the queue item or the delivery."),
  turnId: z.string().nullable(),
  session: z.string().nullable(),
  eventId: z.string().nullable(),
  target: DeliveryTarget.nullable().describe("Only for a delivery."),
  error: z.string(),
  attempts: z.number(),
  diedAt: time,
});

/** A page of a list, newest first. Lists that cannot grow come whole. */
export const page = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next: z.string().nullable() });

/** The core's schemas, by their names in the OpenAPI document. */
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
    fresh: z.boolean().describe("False: already known."),
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
