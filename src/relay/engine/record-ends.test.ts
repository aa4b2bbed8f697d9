import { expect, test } from "vitest";

import { openTestStore } from "../../../test/support/open-store.ts";
import { bob, dispatch, event, facts, toSession, turnFor } from "../../../test/support/sample.ts";
import { begin } from "../../../test/support/stores.ts";
import type { DelegationId, ItemId } from "../../model/ids.ts";
import { readStepEnd } from "./record-ends.ts";

test("a step costs what its workers cost too", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const caller = await begin(store, "step");
  const id = "d-1" as DelegationId;
  const given = await store.events.accept(event("work"), {
    dispatch: dispatch("work", toSession("worker"), {
      from: caller.lease.session,
      delegation: { id, turn: caller.turn, ordinal: 0, waits: true },
    }),
    claim: bob,
  });
  await store.turns.commit(turnFor(given.dispatched!.claim!, { facts: { ...facts, costUsd: 0.5 } }));
  await store.turns.commit(turnFor(caller, { facts: { ...facts, costUsd: null } }));
  expect(await readStepEnd({ item: "item-step" as ItemId }, store)).toEqual({
    status: "completed",
    output: `answer of ${caller.turn}`,
    costUsd: 0.5,
    numTurns: 1,
    turn: caller.turn,
  });
});

test("a step whose message is gone has failed", async () => {
  await using opened = await openTestStore();
  expect(await readStepEnd({ item: "nothing" as ItemId }, opened.store)).toMatchObject({
    status: "failed",
    error: "Its message was dropped: unknown",
  });
});
