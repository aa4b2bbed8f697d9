import { CortexError } from "../model/errors.ts";
import type { DeliveryId, ItemId } from "../model/ids.ts";
import { normalizeSessionKey } from "../model/session-key.ts";
import type { Cortex } from "../runtime/cortex.ts";
import { deadView, deliveryView, itemView, runView } from "../runtime/views.ts";
import { schemas } from "./api.ts";
import { pageOf, withoutAbsent } from "./page.ts";
import { DeliveriesQuery, MAX_LIMIT, PageQuery, QueueQuery, RunsQuery } from "./requests.ts";
import { route } from "./route.ts";

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
      const items = await cortex.store.queue.list(withoutAbsent({ ...options, session: key }));
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
      return { status: 200, body: pageOf(await cortex.store.runs.list(withoutAbsent(query)), runView) };
    },
  }),
  route({
    method: "get",
    path: "/api/dead",
    summary: "The dead letters: messages whose turns failed for good",
    query: PageQuery,
    answers: { 200: schemas.DeadLetters },
    async handle({ query }, { cortex }) {
      return { status: 200, body: pageOf(await cortex.store.queue.dead(withoutAbsent(query)), deadView) };
    },
  }),
  route({
    method: "get",
    path: "/api/dead/:id",
    summary: "A dead letter with its message",
    answers: { 200: schemas.DeadLetterWithItem },
    async handle({ params }, { cortex: { store } }) {
      const id = params.id as ItemId;
      const letter = await findDead(id, store);
      const item = await store.queue.item(id);
      return { status: 200, body: { ...deadView(letter), item: item === undefined ? null : itemView(item) } };
    },
  }),
  route({
    method: "post",
    path: "/api/dead/:id/retry",
    summary: "Try a dead letter again; its turn keeps its id and what was done",
    answers: { 202: schemas.Settled },
    async handle({ params }, { cortex: { store } }) {
      const id = params.id as ItemId;
      await checkDead(id, store);
      await store.queue.retryDead(id);
      return { status: 202, body: { id, state: "queued" as const } };
    },
  }),
  route({
    method: "delete",
    path: "/api/dead/:id",
    summary: "Give a dead letter up",
    answers: { 200: schemas.Settled },
    async handle({ params }, { cortex: { store } }) {
      const id = params.id as ItemId;
      await checkDead(id, store);
      await store.queue.dropDead(id);
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
        body: pageOf(await cortex.store.outbox.list(withoutAbsent(query)), deliveryView),
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

/** There are few of them: they are put away by hand. */
async function findDead(id: ItemId, store: Cortex["store"]) {
  await checkDead(id, store);
  let cursor: string | undefined;
  do {
    const page = await store.queue.dead({ limit: MAX_LIMIT, ...(cursor === undefined ? {} : { cursor }) });
    const found = page.items.find(({ item }) => item === id);
    if (found !== undefined) return found;
    cursor = page.next;
  } while (cursor !== undefined);
  throw notDead(id); // it was settled in between
}

async function checkDead(id: ItemId, { queue }: Cortex["store"]): Promise<void> {
  const outcome = await queue.outcome(id);
  if (outcome === undefined) throw itemUnknown(id);
  if (outcome.state !== "dead") throw notDead(id);
}

function itemUnknown(id: string): CortexError {
  return new CortexError("item_unknown", `No queue item has the id "${id.slice(0, 80)}"`, {
    hint: "GET /api/queue lists what waits, GET /api/dead the dead letters.",
  });
}

function notWaiting(id: string): CortexError {
  return new CortexError("state_conflict", `The message ${id} does not wait any more`, {
    hint: "To end what runs, POST /api/sessions/<key>/abort.",
  });
}

function notDead(id: string): CortexError {
  return new CortexError("state_conflict", `The message ${id} is not a dead letter`, {
    hint: "GET /api/dead lists them.",
  });
}

function deliveryUnknown(id: string): CortexError {
  return new CortexError("delivery_unknown", `No delivery has the id "${id.slice(0, 80)}"`, {
    hint: "GET /api/deliveries lists them.",
  });
}
