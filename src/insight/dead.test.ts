import { expect, test } from "vitest";

import { openTestStore } from "../../test/support/open-store.ts";
import { alice, delivery, turnFor } from "../../test/support/sample.ts";
import { begin } from "../../test/support/stores.ts";
import type { DeliveryId, ItemId } from "../model/ids.ts";
import type { Store } from "../store/store.ts";
import { dropDeadLetter, readDead, retryDeadLetter } from "./dead.ts";

/** A message `item-a` that could not be answered, and an answer `delivery-b` that did not leave. */
async function openGraveyard() {
  const opened = await openTestStore();
  const store: Store = opened.store;
  const { lease, run } = await begin(store, "a", "one");
  await store.runs.fail({ lease, run, error: "no key", outcome: { kind: "dead" } });
  await store.turns.commit(turnFor(await begin(store, "b", "two"), { deliveries: [delivery("b")] }));
  const [claim] = await store.outbox.claim(alice, 1);
  await store.outbox.fail(claim!, { kind: "dead", error: "blocked" });
  return { store, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

test("a dead letter is shown with its message, or with what did not leave", async () => {
  await using opened = await openGraveyard();
  expect(await readDead("item-a", opened.store)).toMatchObject({
    kind: "message",
    id: "item-a",
    session: "one",
    target: null,
    error: "no key",
    item: { content: "message a" },
    delivery: null,
  });
  expect(await readDead("delivery-b", opened.store)).toMatchObject({
    kind: "delivery",
    id: "delivery-b",
    session: "two",
    eventId: "test:b",
    target: { channel: "test", place: "dm-1", topic: null },
    error: "blocked",
    item: null,
    delivery: { content: expect.stringContaining("answer of"), state: "dead" },
  });
});

test("each kind is tried again where it died", async () => {
  await using opened = await openGraveyard();
  const { store } = opened;
  expect(await retryDeadLetter("item-a", store)).toBe("queued");
  expect(await retryDeadLetter("delivery-b", store)).toBe("pending");
  expect(await store.queue.outcome("item-a" as ItemId)).toMatchObject({ state: "queued" });
  expect(await store.outbox.get("delivery-b" as DeliveryId)).toMatchObject({ state: "pending" });
});

test("each kind can be given up, and is no dead letter any more", async () => {
  await using opened = await openGraveyard();
  const { store } = opened;
  for (const id of ["item-a", "delivery-b"]) {
    await dropDeadLetter(id, store);
    await expect(retryDeadLetter(id, store)).rejects.toMatchObject({
      code: "state_conflict",
      message: `${id} is dropped, not a dead letter`,
    });
  }
  expect((await store.dead.list()).items).toEqual([]);
});

test("an id that is neither a message's nor a delivery's is named", async () => {
  await using opened = await openGraveyard();
  await expect(readDead("nothing", opened.store)).rejects.toMatchObject({
    code: "item_unknown",
    message: expect.stringContaining('"nothing"'),
  });
});
