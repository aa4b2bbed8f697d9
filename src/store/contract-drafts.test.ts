/** What every store promises about drafts of answers. */
import { describe, expect, test } from "vitest";

import { alice, delivery, turnFor } from "../../test/support/sample.ts";
import { begin, STORES } from "../../test/support/stores.ts";
import type { DeliveryId, TurnId } from "../model/ids.ts";
import type { DeliveryTarget, Store } from "./store.ts";

const target: DeliveryTarget = { channel: "test", place: "dm-1" };

async function sendAll(store: Store, platformIds: readonly string[]): Promise<void> {
  const [claim] = await store.outbox.claim(alice, 1);
  await store.outbox.plan(claim!, platformIds);
  for (const [chunk, platformId] of platformIds.entries())
    await store.outbox.settle(claim!, chunk, { kind: "sent", platformId });
}

describe.each(Object.entries(STORES))("%s", (_, open) => {
  test("a turn has one draft, and only while its run is at work", async () => {
    await using opened = await open();
    const { store } = opened;
    const claim = await begin(store, "a");
    expect(await store.drafts.begin(claim.run, target)).toBe(true);
    expect(await store.drafts.begin(claim.run, target)).toBe(false);
    const draft = { turn: claim.turn, target: { ...target, account: "default" }, state: "writing" };
    expect(await store.drafts.list()).toEqual([{ ...draft, platformId: undefined }]);
    await store.drafts.sent(claim.turn, "7");
    expect(await store.drafts.get(claim.turn)).toEqual({ ...draft, platformId: "7" });
    await store.drafts.forget(claim.turn);
    await store.drafts.forget(claim.turn);
    expect(await store.drafts.list()).toEqual([]);
    await store.turns.commit(turnFor(claim));
    expect(await store.drafts.begin(claim.run, target)).toBe(false);
  });

  test("the commit binds a draft to the delivery for its place, until that has replaced it", async () => {
    await using opened = await open();
    const { store } = opened;
    const claim = await begin(store, "a");
    await store.outbox.add(claim.lease, claim.run, { ...delivery("before"), content: "wait" });
    await store.drafts.begin(claim.run, target);
    await store.drafts.sent(claim.turn, "7");
    await sendAll(store, ["6"]);
    await store.turns.commit(turnFor(claim, { deliveries: [delivery("x", "dm-2"), delivery("answer")] }));
    expect(await store.drafts.ofDelivery("delivery-before" as DeliveryId)).toBeUndefined();
    expect(await store.drafts.ofDelivery("delivery-x" as DeliveryId)).toBeUndefined();
    const bound = await store.drafts.ofDelivery("delivery-answer" as DeliveryId);
    expect(bound).toMatchObject({ turn: claim.turn, platformId: "7", state: "waiting" });
    await sendAll(store, ["5"]);
    await sendAll(store, ["7", "8"]);
    expect(await store.drafts.get(claim.turn)).toMatchObject({ state: "replaced" });
  });

  test("a draft that nothing will replace is stale", async () => {
    await using opened = await open();
    const { store } = opened;
    const silent = await begin(store, "a", "a");
    await store.drafts.begin(silent.run, target);
    await store.turns.commit(turnFor(silent));
    const failed = await begin(store, "b", "b");
    await store.drafts.begin(failed.run, target);
    const { lease, run } = failed;
    await store.runs.fail({ lease, run, error: "x", outcome: { kind: "dead" } });
    const anew = await begin(store, "c", "c");
    await store.drafts.begin(anew.run, target);
    await store.drafts.sent(anew.turn, "7");
    await store.turns.commit(turnFor(anew, { deliveries: [delivery("answer")] }));
    await sendAll(store, ["8"]);
    const states = async () => (await store.drafts.list()).map(({ turn, state }) => [turn, state]);
    expect(await states()).toEqual([silent, failed, anew].map(({ turn }) => [turn, "stale"]));
    await store.drafts.forget("nothing" as TurnId);
    expect(await states()).toHaveLength(3);
  });

  test("a draft of a suspended run is stale until the run goes on, and of a run that was left it is not", async () => {
    await using opened = await open();
    const { store } = opened;
    const claim = await begin(store, "a");
    await store.drafts.begin(claim.run, target);
    await store.queue.release([claim.lease]);
    expect(await store.drafts.list()).toMatchObject([{ state: "writing" }]);
    const [again] = await store.queue.lease(alice, 1);
    const { lease, run } = again!;
    await store.runs.suspend(lease, run, { id: "w", kind: "other", detail: {} }, []);
    expect(await store.drafts.list()).toMatchObject([{ state: "stale" }]);
    await store.runs.resume(run, "w", []);
    expect(await store.drafts.list()).toMatchObject([{ state: "writing" }]);
  });
});
