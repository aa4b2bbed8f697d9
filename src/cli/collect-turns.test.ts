import { join } from "node:path";
import { expect, test } from "vitest";

import { openWarmStore } from "../../test/support/open-store.ts";
import { alice, dispatch, event, testClock, toSession, turnFor } from "../../test/support/sample.ts";
import { memoryParent, temporaryFolder } from "../../test/support/temporary.ts";
import type { TurnId } from "../model/ids.ts";
import type { DispatchTarget, Store } from "../store/store.ts";
import { collectTurns } from "./collect-turns.ts";
import { session } from "../../test/support/sample.ts";

/** A store and a way to add turns to it, one after the other. */
async function openTree() {
  const folder = temporaryFolder(memoryParent());
  const clock = testClock();
  const store = await openWarmStore({ path: join(folder.path, "cortex.db"), clock });
  let made = 0;
  const add = async (target: DispatchTarget): Promise<TurnId> => {
    const name = String(made++);
    const options = { dispatch: dispatch(name, target), claim: alice };
    const { dispatched } = await store.events.accept(event(name), options);
    await store.turns.commit(turnFor(dispatched!.claim!));
    clock.advance(1_000);
    return dispatched!.claim!.turn;
  };
  return {
    store,
    say: (label: string) => add(toSession(label)),
    fork: (turn: TurnId, label: string) => add({ kind: "turn", turn, forkAs: session(label) }),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

async function collect(store: Store, heads: TurnId[], limit: number): Promise<string[]> {
  return (await collectTurns(store, heads, limit)).map(({ id }) => id);
}

test("a thread is collected newest first, as far back as is asked for", async () => {
  await using tree = await openTree();
  const turns = [await tree.say("a"), await tree.say("a"), await tree.say("a")];
  const newestFirst = turns.toReversed();
  expect(await collect(tree.store, [turns[2]!], 20)).toEqual(newestFirst);
  expect(await collect(tree.store, [turns[2]!], 2)).toEqual(newestFirst.slice(0, 2));
});

test("the branches that leave a thread are collected with it, to their ends", async () => {
  await using tree = await openTree();
  const [root, second] = [await tree.say("a"), await tree.say("a")];
  const branch = await tree.fork(root, "b");
  const end = await tree.say("b");
  const third = await tree.say("a");
  const all = [third, end, branch, second, root];
  expect(await collect(tree.store, [third], 20)).toEqual(all);
  expect(await collect(tree.store, [end], 20)).toEqual(all);
  expect(await collect(tree.store, [root], 20)).toEqual(all);
});

test("branches are bounded as the thread is", async () => {
  await using tree = await openTree();
  const root = await tree.say("a");
  const second = await tree.say("a");
  for (let made = 0; made < 5; made++) await tree.fork(root, `fork-${made}`);
  const collected = await collect(tree.store, [second], 2);
  expect(collected).toHaveLength(4);
  expect(collected).toEqual(expect.arrayContaining([root, second]));
});

test("of several threads, the newest turns are taken from all of them", async () => {
  await using tree = await openTree();
  const a = [await tree.say("a"), await tree.say("a")];
  const b = [await tree.say("b")];
  const heads = [a[1]!, b[0]!];
  expect(await collect(tree.store, heads, 20)).toEqual([b[0], a[1], a[0]]);
  expect((await collect(tree.store, heads, 2)).slice(0, 2)).toEqual([b[0], a[1]]);
});
