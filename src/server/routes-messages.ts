import { CortexError } from "../model/errors.ts";
import { MAX_ATTACHMENT_BYTES } from "../model/event.ts";
import type { EventId, ItemId } from "../model/ids.ts";
import { present } from "../model/present.ts";
import { readAttachment } from "../intake/attachments.ts";
import type { Sent } from "../intake/messages.ts";
import { dispatchView, eventView } from "../feature/views.ts";
import { coreSchemas as schemas } from "../feature/api.ts";
import { pageOf } from "../feature/page.ts";
import { EventRequest, EventsQuery, MessageRequest } from "../feature/requests.ts";
import { type RouteContext, type RouteRequest, MAX_BODY_BYTES, route } from "../feature/route.ts";

/** Room for one attachment in base64 that is somewhat over its limit, so that the event can still report that. */
export const MAX_EVENT_BODY_BYTES = MAX_BODY_BYTES + 2 * MAX_ATTACHMENT_BYTES;
const ATTACHMENT_TYPE = "application/octet-stream";

export const messageRoutes = [
  route({
    method: "post",
    path: "/api/messages",
    needs: "send",
    summary: "Send a message to a session, a turn or a persona",
    body: MessageRequest,
    answers: { 200: schemas.AnsweredOrReplied, 202: schemas.Accepted },
    async handle(
      { caller, body: { wait = false, delivery, ...message }, signal, received, mayContinue },
      context,
    ) {
      const said = await context.cortex.say({
        ...message,
        caller,
        delivery: delivery && present(delivery),
        received,
      });
      if (said.kind === "message") {
        return replyWithOutcome(
          said.sent,
          { wait, signal, mayContinue, ...present({ reply: said.reply }) },
          context,
        );
      }
      return { status: 200, body: { eventId: said.event, session: said.session, text: said.reply } };
    },
  }),
  route({
    method: "get",
    path: "/api/events",
    needs: "read",
    summary: "List the events of the ledger",
    query: EventsQuery,
    answers: { 200: schemas.Events },
    async handle({ query: { since, until, ...rest } }, { cortex }) {
      const events = await cortex.store.events.list(
        present({
          ...rest,
          sinceMs: since === undefined ? undefined : Date.parse(since),
          untilMs: until === undefined ? undefined : Date.parse(until),
        }),
      );
      return { status: 200, body: pageOf(events, eventView) };
    },
  }),
  route({
    method: "get",
    path: "/api/events/:id",
    needs: "read",
    summary: "Get an event with its dispatches",
    answers: { 200: schemas.EventWithDispatches },
    async handle({ params }, { cortex: { store } }) {
      const id = params.id as EventId;
      const [event, dispatches] = await Promise.all([store.events.get(id), store.events.dispatches(id)]);
      if (event === undefined) throw eventUnknown(id);
      return { status: 200, body: { ...eventView(event), dispatches: dispatches.map(dispatchView) } };
    },
  }),
  route({
    method: "post",
    path: "/api/events",
    needs: "ingest",
    summary: "Submit an event for the hooks",
    body: EventRequest,
    maxBodyBytes: MAX_EVENT_BODY_BYTES,
    answers: { 202: schemas.EventAccepted },
    async handle({ caller, body: { timestamp, channel, ...event } }, { cortex, clock }) {
      const { event: eventId, fresh } = await cortex.accept(
        {
          ...present(event),
          channel: channel ?? event.adapter,
          timestampMs: timestamp === undefined ? clock() : Date.parse(timestamp),
        },
        caller,
      );
      return { status: 202, body: { eventId, fresh } };
    },
  }),
  route({
    method: "get",
    path: "/api/attachments/:sha256",
    needs: "read",
    summary: "Download an attachment",
    answers: { 200: ATTACHMENT_TYPE },
    async handle({ params: { sha256 } }, { cortex }) {
      const file = await readAttachment(sha256, cortex.home);
      // A browser must download it: a file from a stranger is never shown as a page of ours.
      const headers = { "Content-Type": ATTACHMENT_TYPE, "Content-Disposition": "attachment" };
      return new Response(new Uint8Array(file), { headers });
    },
  }),
];

interface AcceptedReply {
  readonly eventId: string;
  readonly dispatchId: string;
  readonly session: string;
  readonly dropped?: string;
  readonly reply?: string;
}

interface AnsweredReply extends AcceptedReply {
  readonly turnId: string;
  readonly text: string;
  readonly costUsd: number | null;
  readonly aborted?: { readonly reason: string; readonly by: string | null };
}

type SentReply =
  | { readonly status: 202; readonly body: AcceptedReply }
  | { readonly status: 200; readonly body: AnsweredReply };

interface Waiting extends Pick<RouteRequest, "signal" | "mayContinue"> {
  readonly wait: boolean;
  readonly reply?: string;
}

/**
 * Replies at once, or with the outcome of the message. Waiting for it, or giving up waiting, does not affect the
 * message.
 */
export async function replyWithOutcome(
  sent: Sent,
  { wait, signal, mayContinue, reply }: Waiting,
  { cortex, closing, waitMs }: RouteContext,
): Promise<SentReply> {
  const accepted = {
    eventId: sent.event,
    dispatchId: sent.dispatch,
    session: sent.session,
    ...(sent.dropped === undefined ? {} : { dropped: sent.dropped }),
    ...(reply === undefined ? {} : { reply }),
  };
  if (!wait) return { status: 202, body: accepted };
  const enough = AbortSignal.any([signal, closing, AbortSignal.timeout(waitMs)]);
  const outcome = await cortex.outcome(sent.item, enough);
  if (!(await mayContinue())) throw tokenEnded();
  switch (outcome?.kind) {
    case undefined:
      return { status: 202, body: accepted };
    case "dropped":
      throw dropped(outcome.policy);
    case "dead":
      throw turnFailed(sent.item, outcome.error);
    case "turn": {
      const { turn, text, costUsd, aborted } = outcome;
      const answer = { turnId: turn, text, costUsd };
      const ended = aborted && { aborted: { reason: aborted.reason, by: aborted.by ?? null } };
      return { status: 200, body: { ...accepted, ...answer, ...ended } };
    }
  }
}

function tokenEnded(): CortexError {
  return new CortexError("auth_failed", "The token became invalid while the request waited", {
    hint: "The message was accepted. Use another token to read the outcome.",
  });
}

function dropped(policy: string): CortexError {
  return new CortexError("state_conflict", `The message was dropped by the policy "${policy}"`, {
    hint: "Send it again with a new idempotencyKey or none.",
  });
}

function turnFailed(item: ItemId, error: string): CortexError {
  return new CortexError("turn_failed", `The turn failed: ${error}`, {
    hint: `Retry it with \`cortex dead retry ${item}\`.`,
  });
}

function eventUnknown(id: string): CortexError {
  return new CortexError("event_unknown", `Unknown event "${id.slice(0, 80)}"`, {
    hint: "GET /api/events lists the events.",
  });
}
