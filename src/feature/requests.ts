/** The schemas of request bodies and queries. */
import { z } from "zod";

import { OWNER_ADAPTERS, PLACE_KINDS } from "../model/event.ts";
import type { Json } from "../model/json.ts";
import { QUEUE_MODES } from "../model/queue-mode.ts";

/** The maximum page size of a list. */
const MAX_LIMIT = 1_000;
/** Turns come with their content, so their pages are smaller. */
const MAX_TURNS = 200;
const DEFAULT_TURNS = 50;

/** A lone surrogate cannot be stored, so the text that comes back would differ from the one that was sent. */
export const textField = z
  .string()
  .refine((value) => value.isWellFormed(), { error: "contains a lone surrogate" });
export const timeField = z.iso.datetime({ offset: true });
/** Any JSON. Its depth is checked where it is stored, by a check that cannot overflow the stack. */
export const jsonField = z.unknown().transform((value) => value as Json);
const mode = z.string().meta({ description: `One of ${QUEUE_MODES.join(", ")}.` });

/** A delivery address. */
export const place = z.strictObject({
  channel: z.string(),
  place: z.string(),
  account: z.string().optional(),
  topic: z.string().optional(),
  replyTo: z.string().optional(),
});

const limit = z.coerce.number().int().min(1).max(MAX_LIMIT).optional();
const cursor = z.string().min(1).optional().describe("`next` from the previous page.");

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
  all: z.enum(["0", "1"]).optional().describe("1: include sessions of finished relays."),
  tree: z
    .enum(["0", "1"])
    .optional()
    .describe("1: all sessions as a tree, each with the sessions that its agent opened."),
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
  reason: textField.optional().describe("Reason of a denial, shown to the agent."),
  digest: textField
    .optional()
    .describe("The `digest` of the request that you have seen. If it has another one, nothing is decided."),
});
export const AnswerRequest = z.strictObject({ answer: textField });
export const ContextQuery = z.strictObject({
  full: z.enum(["0", "1"]).optional().describe("1: include the texts."),
});
export const StreamQuery = z.strictObject({
  session: z.string().optional().describe("Only events of this session."),
  lastEventId: z.string().optional().describe("For clients that cannot send the header Last-Event-ID."),
});

export const MessageRequest = z.strictObject({
  content: textField,
  session: z.string().nullish(),
  thread: z.string().nullish().describe("Id of the turn to follow."),
  persona: z.string().nullish(),
  smart: z.boolean().optional(),
  mode: mode.optional(),
  profile: z.string().optional(),
  wait: z.boolean().optional().describe("Respond when the turn is done."),
  idempotencyKey: z.string().optional().describe("Requests with the same key are the same message."),
  delivery: place.optional().describe("Where the answer is also sent, besides the ledger."),
  replyTo: z
    .string()
    .min(1)
    .optional()
    .describe(
      "With `delivery`: the message there that the answer replies to, by its platform id or delivery id.",
    ),
  channel: z.enum(OWNER_ADAPTERS).optional(),
});
export const ForkRequest = z.strictObject({
  content: textField.optional(),
  session: z.string().optional().describe("Label of the new session."),
  mode: mode.optional(),
  wait: z.boolean().optional(),
});
export const SessionPatch = z.strictObject({
  mode: mode.nullish().describe("Null: reset to the default."),
  profile: z.string().nullish().describe("Null: reset to the agent's profile."),
  trust: z
    .strictObject({
      untrusted: z.literal(false).optional(),
      private: z.literal(false).optional(),
      denied: z.literal(false).optional(),
      outward: z.literal(false).optional(),
    })
    .optional()
    .describe("Clears labels: a person vouches for the content of the conversation."),
});
export const EventRequest = z.strictObject({
  adapter: z.string().default("api").describe("Source adapter; the first part of the event id."),
  sourceId: z
    .string()
    .optional()
    .describe("Unique id at the source. Default: derived from time and content."),
  channel: z.string().optional().describe("Default: the adapter's name."),
  direction: z.enum(DIRECTIONS).optional(),
  sender: textField.optional(),
  account: textField.optional(),
  place: textField.optional(),
  topic: textField.optional(),
  placeKind: z.enum(PLACE_KINDS).optional().describe("Kind of the place, by its number of participants."),
  placeName: textField.optional(),
  parentPlace: textField.optional().describe("The enclosing place on the same channel."),
  mentionsMe: z.boolean().optional().describe("Whether the message addresses the agent by name."),
  replyTo: textField.optional(),
  messageId: textField.optional().describe("The platform's own id of the message."),
  about: textField
    .optional()
    .describe("Of an edit, deletion or reaction: the id of the message it concerns."),
  content: textField.nullable().default(null),
  contentType: textField.optional(),
  attachments: jsonField.optional(),
  payload: jsonField.optional(),
  metadata: jsonField.optional(),
  timestamp: timeField.optional().describe("When it happened. Default: now."),
});
