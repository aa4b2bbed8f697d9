/** What requests may hold: bodies and queries. What is wrong with one is found here, all of it at once. */
import { z } from "zod";

import { OWNER_ADAPTERS, PLACE_KINDS } from "../model/event.ts";
import type { Json } from "../model/json.ts";
import { QUEUE_MODES } from "../model/queue-mode.ts";

/** How much of a list is given at once. */
const MAX_LIMIT = 1_000;
/** Turns come with all that was done in them, so fewer of them are read at once. */
const MAX_TURNS = 200;
const DEFAULT_TURNS = 50;

/** Half of a character cannot be stored, so what would come back is not what was sent. */
export const textField = z
  .string()
  .refine((value) => value.isWellFormed(), { error: "holds half a character" });
export const timeField = z.iso.datetime({ offset: true });
/** Any JSON. How deep it may be is checked where it is stored, by a check that no depth can overflow. */
export const jsonField = z.unknown().transform((value) => value as Json);
const mode = z.string().meta({ description: `One of ${QUEUE_MODES.join(", ")}.` });

/** Where something is delivered. */
export const place = z.strictObject({
  channel: z.string(),
  place: z.string(),
  account: z.string().optional(),
  topic: z.string().optional(),
  replyTo: z.string().optional(),
});

const limit = z.coerce.number().int().min(1).max(MAX_LIMIT).optional();
const cursor = z.string().min(1).optional().describe("The `next` of the page before.");

export const PageQuery = z.strictObject({ limit, cursor });
export const TurnsQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(MAX_TURNS).default(DEFAULT_TURNS),
  cursor,
});

export const DIRECTIONS = ["received", "sent", "observed", "created", "updated", "deleted"] as const;
export const RUN_STATES = ["running", "suspended", "resumable", "failed", "completed", "aborted"] as const;
export const DELIVERY_STATES = ["pending", "sending", "sent", "unknown", "dead", "dropped"] as const;

export const EventsQuery = PageQuery.extend({
  channel: z.string().min(1).optional(),
  direction: z.enum(DIRECTIONS).optional(),
  since: timeField.optional().describe("Only at or after this time."),
  until: timeField.optional().describe("Only before this time."),
});
export const SessionsQuery = PageQuery.extend({
  all: z.enum(["0", "1"]).optional().describe("1: also those that are closed, because their relay is over."),
  tree: z.enum(["0", "1"]).optional().describe("1: all sessions, each with those that its agent opened."),
});
export const QueueQuery = PageQuery.extend({ session: z.string().optional() });
export const RunsQuery = PageQuery.extend({ state: z.enum(RUN_STATES).optional() });
export const DeliveriesQuery = PageQuery.extend({ state: z.enum(DELIVERY_STATES).optional() });
export const APPROVAL_STATES = ["open", "approved", "denied", "answered", "expired", "used", "void"] as const;
export const ApprovalsQuery = PageQuery.extend({
  state: z.enum(APPROVAL_STATES).optional(),
  session: z.string().optional(),
});
export const DecisionRequest = z.strictObject({
  decision: z.enum(["approve", "deny"]),
  reason: textField.optional().describe("Of a denial: the agent reads it."),
});
export const AnswerRequest = z.strictObject({ answer: textField });
export const ContextQuery = z.strictObject({
  full: z.enum(["0", "1"]).optional().describe("1: with the texts."),
});
export const StreamQuery = z.strictObject({
  session: z.string().optional().describe("Only what happens in this session."),
  lastEventId: z.string().optional().describe("For clients that cannot send the header Last-Event-ID."),
});

export const MessageRequest = z.strictObject({
  content: textField,
  session: z.string().nullish(),
  thread: z.string().nullish().describe("The id of the turn to follow."),
  persona: z.string().nullish(),
  smart: z.boolean().optional(),
  mode: mode.optional(),
  profile: z.string().optional(),
  wait: z.boolean().optional().describe("Answer when the turn is done."),
  idempotencyKey: z
    .string()
    .optional()
    .describe("The same key is the same message, however often it is sent."),
  delivery: place.optional().describe("Where the answer is sent, beside the ledger."),
  replyTo: z
    .string()
    .min(1)
    .optional()
    .describe(
      "With `delivery`: the message there that it replies to, by the platform's id or that of the delivery.",
    ),
  channel: z.enum(OWNER_ADAPTERS).optional(),
});
export const ForkRequest = z.strictObject({
  content: textField.optional(),
  session: z.string().optional().describe("What the new session is called."),
  mode: mode.optional(),
  wait: z.boolean().optional(),
});
export const SessionPatch = z.strictObject({
  mode: mode.nullish().describe("Null: back to the default."),
  profile: z.string().nullish().describe("Null: back to that of the agent."),
  trust: z
    .strictObject({
      untrusted: z.literal(false).optional(),
      private: z.literal(false).optional(),
      outward: z.literal(false).optional(),
    })
    .optional()
    .describe("Takes marks away: a person vouches for what is in the conversation."),
});
export const EventRequest = z.strictObject({
  adapter: z.string().default("api").describe("What it is from; the first part of the event's id."),
  sourceId: z.string().optional().describe("What makes it unique there. Else time and content decide."),
  channel: z.string().optional().describe("The adapter's name unless given."),
  direction: z.enum(DIRECTIONS).optional(),
  sender: textField.optional(),
  account: textField.optional(),
  place: textField.optional(),
  topic: textField.optional(),
  placeKind: z.enum(PLACE_KINDS).optional().describe("How many take part in the place."),
  placeName: textField.optional(),
  parentPlace: textField.optional().describe("The place around it, on the same channel."),
  mentionsMe: z.boolean().optional().describe("Whether the agent was addressed by name."),
  replyTo: textField.optional(),
  content: textField.nullable().default(null),
  contentType: textField.optional(),
  attachments: jsonField.optional(),
  payload: jsonField.optional(),
  metadata: jsonField.optional(),
  timestamp: timeField.optional().describe("When it happened: now, unless given."),
});
