/** Reads, retries and drops dead letters, by the id of their queue item or delivery. */
import { CortexError } from "../model/errors.ts";
import type { DeliveryId, ItemId } from "../model/ids.ts";
import type { DeadLetter, Ledger, Store } from "../store/store.ts";
import { deadView, deliveryView, itemView } from "../feature/views.ts";

/** A dead letter with its message or delivery. */
export async function readDead(id: string, ledger: Ledger) {
  const letter = await findDead(id, ledger);
  const view = { ...deadView(letter), item: null, delivery: null };
  if (letter.kind === "message") {
    const item = await ledger.queue.item(letter.item);
    return { ...view, item: item === undefined ? null : itemView(item) };
  }
  const delivery = await ledger.outbox.get(letter.delivery);
  return { ...view, delivery: delivery === undefined ? null : deliveryView(delivery) };
}

/** Returns the new state. */
export async function retryDeadLetter(id: string, store: Store): Promise<"queued" | "pending"> {
  const letter = await findDead(id, store);
  if (letter.kind === "message") {
    await store.queue.retryDead(letter.item);
    return "queued";
  }
  await store.outbox.retry(letter.delivery);
  return "pending";
}

export async function dropDeadLetter(id: string, store: Store): Promise<void> {
  const letter = await findDead(id, store);
  if (letter.kind === "message") await store.queue.dropDead(letter.item);
  else await store.outbox.dropDead(letter.delivery);
}

async function findDead(id: string, ledger: Ledger): Promise<DeadLetter> {
  const letter = await ledger.dead.get(id);
  if (letter !== undefined) return letter;
  const [item, delivery] = await Promise.all([
    ledger.queue.outcome(id as ItemId),
    ledger.outbox.get(id as DeliveryId),
  ]);
  const state = item?.state ?? delivery?.state;
  throw state === undefined ? letterUnknown(id) : notDead(id, state);
}

function letterUnknown(id: string): CortexError {
  return new CortexError("item_unknown", `Unknown queue item or delivery "${id.slice(0, 80)}"`, {
    hint: "`cortex dead list` or GET /api/dead lists dead letters.",
  });
}

function notDead(id: string, state: string): CortexError {
  return new CortexError("state_conflict", `${id} is ${state}, not a dead letter`, {
    hint: "`cortex dead list` or GET /api/dead lists dead letters.",
  });
}
