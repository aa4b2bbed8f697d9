import { expect, test } from "vitest";

import { openTestStore } from "../../test/support/open-store.ts";
import { alice, dispatch, event, toSession, turnFor } from "../../test/support/sample.ts";
import type { ItemId } from "../model/ids.ts";
import type { Claim, Store } from "../store/store.ts";
import { Outcomes } from "./outcomes.ts";

const NEVER = new AbortController().signal;
const item = (name: string): ItemId => `item-${name}` as ItemId;

async function begin(store: Store, name: string): Promise<Claim> {
  const work = { dispatch: dispatch(name, toSession(name)), claim: alice };
  return (await store.events.accept(event(name), work)).dispatched!.claim!;
}

test("a sender learns of the turn, at once where it is there already", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  using outcomes = new Outcomes(store);
  const claim = await begin(store, "a");
  const waiting = [outcomes.wait(item("a"), NEVER), outcomes.wait(item("a"), NEVER)];
  await store.turns.commit(turnFor(claim));
  outcomes.look([item("a"), item("other")]);

  const turn = { kind: "turn", turn: claim.turn, text: `answer of ${claim.turn}`, costUsd: 0.25 };
  expect(await Promise.all(waiting)).toEqual([turn, turn]);
  expect(await outcomes.wait(item("a"), NEVER)).toEqual(turn);
});

test("a sender learns that the message was dropped, or is a dead letter and why", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  using outcomes = new Outcomes(store);
  const claim = await begin(store, "a");
  await store.events.accept(event("b"), { dispatch: dispatch("b", toSession("a")) });
  const waiting = [outcomes.wait(item("a"), NEVER), outcomes.wait(item("b"), NEVER)];
  await store.queue.drop([item("b")], "too many");
  await store.runs.fail({ lease: claim.lease, run: claim.run, error: "broken", outcome: { kind: "dead" } });

  // Nobody says so: the slow poll finds them.
  expect(await Promise.all(waiting)).toEqual([
    { kind: "dead", error: "broken" },
    { kind: "dropped", policy: "too many" },
  ]);
});

test("a message that was merged ends with the turn that it is part of", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  using outcomes = new Outcomes(store);
  const claim = await begin(store, "a");
  await store.events.accept(event("b"), { dispatch: dispatch("b", toSession("a")) });
  const query = { id: "q" as never, role: "user", content: "b", atMs: 0 } as const;
  await store.runs.journal(claim.lease, claim.run, [
    { kind: "message", place: 0, message: query, items: [item("b")] },
  ]);
  await store.turns.commit(turnFor(claim));
  expect(await outcomes.wait(item("b"), NEVER)).toMatchObject({ kind: "turn", turn: claim.turn });
});

test("a sender can stop waiting, also before beginning to", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  using outcomes = new Outcomes(store);
  await begin(store, "a");
  const controller = new AbortController();
  const waiting = outcomes.wait(item("a"), controller.signal);
  controller.abort();
  expect(await waiting).toBeUndefined();
  expect(await outcomes.wait(item("a"), controller.signal)).toBeUndefined();
});

test("whoever waits is let go when Cortex stops", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const outcomes = new Outcomes(store);
  await begin(store, "a");
  const waiting = outcomes.wait(item("a"), NEVER);
  outcomes[Symbol.dispose]();
  expect(await waiting).toBeUndefined();
  expect(await outcomes.wait(item("a"), NEVER)).toBeUndefined();
});
