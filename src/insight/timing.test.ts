import { expect, test } from "vitest";

import { openTestStore } from "../../test/support/open-store.ts";
import { delivery, START_MS, turnFor } from "../../test/support/sample.ts";
import { begin } from "../../test/support/stores.ts";
import { explain } from "./why.ts";

test("without marks, the stages of a turn are those that the ledger has times of", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  const claim = await begin(store, "a");
  clock.advance(1_000);
  await store.turns.commit(turnFor(claim));
  const [turn] = (await explain(store, claim.turn)).turns;
  expect(turn!.timing).toEqual([
    { stage: "received", atMs: 0, tookMs: 0, cpuMs: null },
    { stage: "accepted", atMs: 0, tookMs: 0, cpuMs: null },
    { stage: "queued", atMs: 0, tookMs: 0, cpuMs: null },
    { stage: "claimed", atMs: 0, tookMs: 0, cpuMs: null },
    { stage: "committed", atMs: 1_000, tookMs: 1_000, cpuMs: null },
  ]);
});

test("marks are finer than the ledger, and are kept with the turn", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  const claim = await begin(store, "a");
  clock.advance(12);
  const timing = {
    atMs: START_MS,
    marks: [
      ["received", 0, 0],
      ["accepted", 1.5, 1.25],
      ["claimed", 2.25, 1.5],
      ["answered", 12.5, 3],
    ],
  } as const;
  await store.turns.commit(turnFor(claim, { timing, deliveries: [delivery("a")] }));
  const [turn] = (await explain(store, claim.turn)).turns;
  expect(turn!.timing).toEqual([
    { stage: "received", atMs: 0, tookMs: 0, cpuMs: null },
    { stage: "accepted", atMs: 1.5, tookMs: 1.5, cpuMs: 1.25 },
    { stage: "queued", atMs: 1.5, tookMs: 0, cpuMs: null },
    { stage: "claimed", atMs: 2.25, tookMs: 0.75, cpuMs: 0.25 },
    { stage: "answered", atMs: 12.5, tookMs: 10.25, cpuMs: 1.5 },
    { stage: "committed", atMs: 12.5, tookMs: 0, cpuMs: null },
  ]);
});
