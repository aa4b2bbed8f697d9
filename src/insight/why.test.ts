import { expect, test } from "vitest";

import { openTestStore } from "../../test/support/open-store.ts";
import {
  alice,
  delivery,
  dispatch,
  event,
  facts,
  message,
  START_MS,
  toSession,
  turnFor,
} from "../../test/support/sample.ts";
import { begin, finishTurn } from "../../test/support/stores.ts";
import type { EventId, ItemId, TurnId } from "../model/ids.ts";
import { explain } from "./why.ts";

test("a turn, its delivery and its message lead to the same event", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  const claim = await begin(store, "a");
  await store.events.accept(event("a", { content: "other words" }));
  clock.advance(1_000);
  await store.turns.commit(turnFor(claim, { deliveries: [delivery("a")] }));

  const whole = await explain(store, "test:a");
  expect(whole).toMatchObject({
    id: "test:a",
    kind: "event",
    event: { content: "message a", differing: 1 },
    hooks: [],
    dispatches: [{ hook: "direct", outcome: "queued", itemId: "item-a", turnId: claim.turn }],
    items: [
      {
        id: "item-a",
        session: "work",
        state: "done",
        mode: "followup",
        settledAt: new Date(START_MS + 1_000).toISOString(),
        turnId: claim.turn,
        formerTurnId: null,
      },
    ],
    turns: [
      {
        id: claim.turn,
        turn: { status: "completed", model: "offline", costUsd: 0.25, sourceEventId: "test:a" },
        items: [{ id: "item-a", eventId: "test:a", state: "done" }],
        runs: [{ id: claim.run, attempt: 1, state: "completed", interruptions: 0 }],
        deliveries: [{ id: "delivery-a", state: "pending", chunks: [] }],
      },
    ],
  });
  for (const [id, kind] of [
    [claim.turn, "turn"],
    ["delivery-a", "delivery"],
    ["item-a", "item"],
  ] as const) {
    expect(await explain(store, id)).toEqual({ ...whole, id, kind });
  }
});

test("an answer is explained by its turn", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const claim = await begin(store, "a");
  const id = `cortex:${claim.turn}` as EventId;
  await store.turns.commit(turnFor(claim, { answer: { id, channel: "test", atMs: START_MS } }));

  expect(await explain(store, id)).toMatchObject({
    kind: "event",
    event: { id: "test:a" },
    turns: [{ id: claim.turn }],
  });
});

test("an event of which nothing was made says so by saying nothing", async () => {
  await using opened = await openTestStore();
  await opened.store.events.accept(event("a"));
  expect(await explain(opened.store, "test:a")).toMatchObject({
    event: { id: "test:a" },
    hooks: [],
    dispatches: [],
    items: [],
    turns: [],
  });
});

test("the hooks that were asked are told with what they said", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  await store.hooks.sync(
    ["eager", "broken", "silent"].map((name) => ({ name, mode: "persistent", digest: name })),
  );
  await store.events.accept(event("a"), { judge: true });
  const id = "test:a" as EventId;
  const times = { startedAtMs: START_MS, endedAtMs: START_MS + 7 };
  const result = { fire: true, routing: { session: "other" } };
  const { hook: _, ...work } = dispatch("b", toSession("other"));
  await store.hooks.record({ event: id, hook: "eager", fired: true, result, dispatch: work, ...times });
  await store.hooks.record({ event: id, hook: "broken", fired: false, error: "no such thing", ...times });
  await store.hooks.judged(id, [{ hook: "silent", ...times }]);

  expect(await explain(store, id)).toMatchObject({
    hooks: [
      { hook: "broken", fired: false, error: "no such thing", result: null },
      { hook: "eager", fired: true, error: null, result, durationMs: 7, eventId: id },
      { hook: "silent", fired: false, error: null },
    ],
    dispatches: [{ hook: "eager", session: "other" }],
  });
});

test("what several hooks made of an event is told for each session", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const { turn } = await begin(store, "a");
  const id = "test:a" as EventId;
  await store.events.dispatch(id, dispatch("b", toSession("other"), { hook: "other" }));
  await store.events.dispatch(id, dispatch("c", toSession("other"), { hook: "third" }));

  const { dispatches, items, turns } = await explain(store, id);
  expect(dispatches.map(({ hook, outcome }) => [hook, outcome])).toEqual([
    ["direct", "queued"],
    ["other", "queued"],
    ["third", "joined"],
  ]);
  expect(items.map(({ session, state }) => [session, state])).toEqual([
    ["work", "claimed"],
    ["other", "queued"],
  ]);
  expect(turns).toMatchObject([{ id: turn, turn: null, runs: [{ state: "running" }] }]);
});

test("a dead letter that was given up still tells of its attempts", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  const first = await begin(store, "a");
  const retry = { kind: "retry" as const, atMs: clock() };
  await store.runs.fail({ lease: first.lease, run: first.run, error: "one", outcome: retry });
  const [second] = await store.queue.lease(alice, 1);
  const { lease, run } = second!;
  await store.runs.fail({ lease, run, error: "two", outcome: { kind: "dead" } });
  await store.queue.dropDead("item-a" as ItemId);

  for (const id of ["test:a", first.turn]) {
    expect(await explain(store, id)).toMatchObject({
      items: [{ state: "dropped", policy: "dead letter given up", turnId: null, formerTurnId: first.turn }],
      turns: [
        {
          id: first.turn,
          turn: null,
          runs: [
            { state: "failed", error: "one" },
            { state: "failed", error: "two" },
          ],
        },
      ],
    });
  }
});

test("a compaction is for no event, and is explained by its run", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  await finishTurn(store, "a");
  const { lease, run } = await begin(store, "b");
  const turn = "compaction" as TurnId;
  const summary = message("compaction", "assistant", "in short");
  await store.turns.compact({ lease, run, turn, facts, summary, firstKept: undefined });

  expect(await explain(store, turn)).toMatchObject({
    kind: "turn",
    event: null,
    items: [],
    turns: [{ id: turn, turn: { type: "compaction" }, runs: [{ state: "completed" }] }],
  });
});

test("an id that nothing has is told with all that was looked for", async () => {
  await using opened = await openTestStore();
  await expect(explain(opened.store, "nothing")).rejects.toMatchObject({
    code: "event_unknown",
    message: 'Unknown event, turn, delivery or queue item "nothing"',
  });
});
