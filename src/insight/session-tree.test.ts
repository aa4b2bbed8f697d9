import { expect, test } from "vitest";

import { openTestStore } from "../../test/support/open-store.ts";
import { alice, dispatch, event, facts, session, toSession, turnFor } from "../../test/support/sample.ts";
import type { TurnId } from "../model/ids.ts";
import type { Store } from "../store/store.ts";
import { readSessionTree, type SessionNode } from "./session-tree.ts";

/** A session with one turn, opened by another one where that is said. */
async function work(store: Store, label: string, costUsd: number | null, parent?: string): Promise<void> {
  const opened = {
    parentTurn: "t" as TurnId,
    parentCall: "call",
    worker: { type: "explore", permissions: {} },
  };
  const worker = parent === undefined ? {} : { worker: { parent: session(parent), ...opened } };
  const channel = parent === undefined ? "cli" : "subagent:explore";
  await store.events.accept(event(label, { channel }), {
    dispatch: dispatch(label, { ...toSession(label), ...worker }),
  });
  const [claim] = await store.queue.lease(alice, 1);
  await store.turns.commit(turnFor(claim!, { facts: { ...facts, costUsd } }));
}

function shape({ key, turns, costUsd, unpriced, total, children }: SessionNode): unknown {
  return [key, turns, costUsd, unpriced, total, children.map(shape)];
}

test("each session stands below the one that opened it, with its cost and that of all below it", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  await work(store, "boss", 1);
  clock.advance(1);
  await work(store, "first", 0.5, "boss");
  await work(store, "nested", 0.25, "first");
  await work(store, "second", null, "boss");
  await work(store, "boss-again", 2, "boss");
  clock.advance(1);
  await work(store, "other", 4);

  const tree = await readSessionTree(store);
  const spent = (turns: number, costUsd: number, unpriced = 0) => ({ turns, costUsd, unpriced });
  expect(tree.map(shape)).toEqual([
    ["other", 1, 4, 0, spent(1, 4), []],
    [
      "boss",
      1,
      1,
      0,
      spent(5, 3.75, 1),
      [
        ["boss-again", 1, 2, 0, spent(1, 2), []],
        ["first", 1, 0.5, 0, spent(2, 0.75), [["nested", 1, 0.25, 0, spent(1, 0.25), []]]],
        ["second", 1, 0, 1, spent(1, 0, 1), []],
      ],
    ],
  ]);
  expect(tree[1]!.children[1]).toMatchObject({
    channel: "subagent:explore",
    type: "explore",
    parentSession: "boss",
    parentTurnId: "t",
    parentCallId: "call",
    childCount: 1,
  });
});

test("a session without a turn has cost nothing, and one whose parent is not among them stands at the top", async () => {
  await using opened = await openTestStore();
  const { store, clock } = opened;
  expect(await readSessionTree(store)).toEqual([]);
  await work(store, "boss", 1);
  clock.advance(1);
  await work(store, "worker", 1, "boss");
  clock.advance(1);
  await store.events.accept(event("new"), { dispatch: dispatch("new", toSession("new")) });
  const nothing = { turns: 0, costUsd: 0, unpriced: 0 };
  expect(await readSessionTree(store, { max: 2 })).toMatchObject([
    { key: "new", ...nothing, total: nothing, children: [] },
    { key: "worker", parentSession: "boss", costUsd: 1 },
  ]);
});
