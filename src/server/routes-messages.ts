import { CortexError } from "../model/errors.ts";
import type { EventId } from "../model/ids.ts";
import { present } from "../model/present.ts";
import { readAttachment } from "../intake/attachments.ts";
import { dispatchView, eventView } from "../feature/views.ts";
import { coreSchemas as schemas } from "../feature/api.ts";
import { MAX_EVENT_BODY_BYTES } from "./body.ts";
import { pageOf } from "../feature/page.ts";
import { EventRequest, EventsQuery, MessageRequest } from "../feature/requests.ts";
import { route } from "../feature/route.ts";
import { replyTo } from "./wait.ts";

const ATTACHMENT_TYPE = "application/octet-stream";

export const messageRoutes = [
  route({
    method: "post",
    path: "/api/messages",
    summary: "Send a message to a session, a turn or a persona",
    body: MessageRequest,
    answers: { 200: schemas.AnsweredOrReplied, 202: schemas.Accepted },
    async handle({ body: { wait = false, delivery, ...message }, signal, received }, context) {
      const said = await context.cortex.say({
        ...message,
        delivery: delivery && present(delivery),
        received,
      });
      if (said.kind === "message") {
        return replyTo(said.sent, { wait, signal, ...present({ reply: said.reply }) }, context);
      }
      return { status: 200, body: { eventId: said.event, session: said.session, text: said.reply } };
    },
  }),
  route({
    method: "get",
    path: "/api/events",
    summary: "The events ledger",
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
    summary: "An event, and what was made of it",
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
    summary: "Take an event in; hooks decide what becomes of it",
    body: EventRequest,
    maxBodyBytes: MAX_EVENT_BODY_BYTES,
    answers: { 202: schemas.EventAccepted },
    async handle({ body: { timestamp, channel, ...event } }, { cortex, clock }) {
      const { event: eventId, fresh } = await cortex.accept({
        ...present(event),
        channel: channel ?? event.adapter,
        timestampMs: timestamp === undefined ? clock() : Date.parse(timestamp),
      });
      return { status: 202, body: { eventId, fresh } };
    },
  }),
  route({
    method: "get",
    path: "/api/attachments/:sha256",
    summary: "The file of an attachment",
    answers: { 200: ATTACHMENT_TYPE },
    async handle({ params: { sha256 } }, { cortex }) {
      const file = await readAttachment(sha256, cortex.home);
      // Whatever a stranger sent is saved, and never shown by a browser as a page of ours.
      const headers = { "Content-Type": ATTACHMENT_TYPE, "Content-Disposition": "attachment" };
      return new Response(new Uint8Array(file), { headers });
    },
  }),
];

function eventUnknown(id: string): CortexError {
  return new CortexError("event_unknown", `No event is called "${id.slice(0, 80)}"`, {
    hint: "GET /api/events lists them.",
  });
}
