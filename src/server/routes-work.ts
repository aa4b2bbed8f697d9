import { CortexError } from "../model/errors.ts";
import type { DeliveryId, ItemId } from "../model/ids.ts";
import { normalizeSessionKey } from "../model/session-key.ts";
import { present } from "../model/present.ts";
import { dropDeadLetter, readDead, retryDeadLetter } from "../insight/dead.ts";
import { deadView, deliveryView, itemView, runView } from "../feature/views.ts";
import { coreSchemas as schemas } from "../feature/api.ts";
import { pageOf } from "../feature/page.ts";
import { DeliveriesQuery, PageQuery, QueueQuery, RunsQuery } from "../feature/requests.ts";
import { route } from "../feature/route.ts";

/** The policy by which a message goes that its owner took back. */
const OWNER_POLICY = "owner";

export const workRoutes = [
  route({
    method: "get",
    path: "/api/queue",
    summary: "What waits, in all sessions or in one",
    query: QueueQuery,
    answers: { 200: schemas.Items },
    async handle({ query: { session, ...options } }, { cortex }) {
      const key = session === undefined ? undefined : normalizeSessionKey(session);
      const items = await cortex.store.queue.list(present({ ...options, session: key }));
      return { status: 200, body: pageOf(items, itemView) };
    },
  }),
  route({
    method: "delete",
    path: "/api/queue/:id",
    summary: "Take a message back that still waits",
    answers: { 200: schemas.Settled },
    async handle({ params }, { cortex: { store } }) {
      const id = params.id as ItemId;
      if ((await store.queue.item(id)) === undefined) throw itemUnknown(id);
      const [dropped] = await store.queue.drop([id], OWNER_POLICY);
      if (dropped === undefined) throw notWaiting(id);
      return { status: 200, body: { id, state: "dropped" as const } };
    },
  }),
  route({
    method: "get",
    path: "/api/runs",
    summary: "The attempts to carry turns out",
    query: RunsQuery,
    answers: { 200: schemas.Runs },
    async handle({ query }, { cortex }) {
      return { status: 200, body: pageOf(await cortex.store.runs.list(present(query)), runView) };
    },
  }),
  route({
    method: "get",
    path: "/api/dead",
    summary: "The dead letters: messages whose turns failed for good, and deliveries that did not leave",
    query: PageQuery,
    answers: { 200: schemas.DeadLetters },
    async handle({ query }, { cortex }) {
      return { status: 200, body: pageOf(await cortex.store.dead.list(present(query)), deadView) };
    },
  }),
  route({
    method: "get",
    path: "/api/dead/:id",
    summary: "A dead letter with its message or its delivery",
    answers: { 200: schemas.FullDeadLetter },
    async handle({ params }, { cortex }) {
      return { status: 200, body: await readDead(params.id, cortex.store) };
    },
  }),
  route({
    method: "post",
    path: "/api/dead/:id/retry",
    summary: "Try a dead letter again; what was done of its turn or sent of its delivery is not repeated",
    answers: { 202: schemas.Settled },
    async handle({ params: { id } }, { cortex }) {
      return { status: 202, body: { id, state: await retryDeadLetter(id, cortex.store) } };
    },
  }),
  route({
    method: "delete",
    path: "/api/dead/:id",
    summary: "Give a dead letter up",
    answers: { 200: schemas.Settled },
    async handle({ params: { id } }, { cortex }) {
      await dropDeadLetter(id, cortex.store);
      return { status: 200, body: { id, state: "dropped" as const } };
    },
  }),
  route({
    method: "get",
    path: "/api/deliveries",
    summary: "What goes out to channels",
    query: DeliveriesQuery,
    answers: { 200: schemas.Deliveries },
    async handle({ query }, { cortex }) {
      return {
        status: 200,
        body: pageOf(await cortex.store.outbox.list(present(query)), deliveryView),
      };
    },
  }),
  route({
    method: "post",
    path: "/api/deliveries/:id/retry",
    summary: "Try a dead delivery again; what was sent of it is not sent again",
    answers: { 202: schemas.Settled },
    async handle({ params }, { cortex: { store } }) {
      const id = params.id as DeliveryId;
      if ((await store.outbox.get(id)) === undefined) throw deliveryUnknown(id);
      await store.outbox.retry(id);
      return { status: 202, body: { id, state: "pending" as const } };
    },
  }),
];

function itemUnknown(id: string): CortexError {
  return new CortexError("item_unknown", `No queue item has the id "${id.slice(0, 80)}"`, {
    hint: "GET /api/queue lists what waits.",
  });
}

function notWaiting(id: string): CortexError {
  return new CortexError("state_conflict", `The message ${id} does not wait any more`, {
    hint: "To end what runs, POST /api/sessions/<key>/abort.",
  });
}

function deliveryUnknown(id: string): CortexError {
  return new CortexError("delivery_unknown", `No delivery has the id "${id.slice(0, 80)}"`, {
    hint: "GET /api/deliveries lists them.",
  });
}
