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

/** The drop policy of messages that the owner took back. */
const OWNER_POLICY = "owner";

export const workRoutes = [
  route({
    method: "get",
    path: "/api/queue",
    needs: "read",
    summary: "List queued messages of all sessions or one",
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
    needs: "send",
    summary: "Drop a queued message",
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
    needs: "read",
    summary: "List runs",
    query: RunsQuery,
    answers: { 200: schemas.Runs },
    async handle({ query }, { cortex }) {
      return { status: 200, body: pageOf(await cortex.store.runs.list(present(query)), runView) };
    },
  }),
  route({
    method: "get",
    path: "/api/dead",
    needs: "read",
    summary: "List dead letters: messages and deliveries that failed permanently",
    query: PageQuery,
    answers: { 200: schemas.DeadLetters },
    async handle({ query }, { cortex }) {
      return { status: 200, body: pageOf(await cortex.store.dead.list(present(query)), deadView) };
    },
  }),
  route({
    method: "get",
    path: "/api/dead/:id",
    needs: "read",
    summary: "Get a dead letter with its message or delivery",
    answers: { 200: schemas.FullDeadLetter },
    async handle({ params }, { cortex }) {
      return { status: 200, body: await readDead(params.id, cortex.store) };
    },
  }),
  route({
    method: "post",
    path: "/api/dead/:id/retry",
    needs: "send",
    summary: "Retry a dead letter without repeating finished work or sent parts",
    answers: { 202: schemas.Settled },
    async handle({ params: { id } }, { cortex }) {
      return { status: 202, body: { id, state: await retryDeadLetter(id, cortex.store) } };
    },
  }),
  route({
    method: "delete",
    path: "/api/dead/:id",
    needs: "send",
    summary: "Discard a dead letter",
    answers: { 200: schemas.Settled },
    async handle({ params: { id } }, { cortex }) {
      await dropDeadLetter(id, cortex.store);
      return { status: 200, body: { id, state: "dropped" as const } };
    },
  }),
  route({
    method: "get",
    path: "/api/deliveries",
    needs: "read",
    summary: "List deliveries to channels",
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
    needs: "send",
    summary: "Retry a dead delivery without sending its sent parts again",
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
  return new CortexError("item_unknown", `Unknown queue item "${id.slice(0, 80)}"`, {
    hint: "GET /api/queue lists queued messages.",
  });
}

function notWaiting(id: string): CortexError {
  return new CortexError("state_conflict", `The message ${id} is no longer queued`, {
    hint: "To end a running turn, POST /api/sessions/<key>/abort.",
  });
}

function deliveryUnknown(id: string): CortexError {
  return new CortexError("delivery_unknown", `Unknown delivery "${id.slice(0, 80)}"`, {
    hint: "GET /api/deliveries lists the deliveries.",
  });
}
