import * as fc from "fast-check";
import { expect, test } from "vitest";

import { message, session, turnFor } from "../../test/support/sample.ts";
import { begin, STORES } from "../../test/support/stores.ts";
import type { TurnId } from "../model/ids.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Store } from "../store/store.ts";
import { compareTurns } from "./compare-turns.ts";

const open = STORES["sqlite"]!;

/** A question and an answer in a session. */
async function say(store: Store, label: string, query: string, answer: string): Promise<TurnId> {
  const claim = await begin(store, `${label}-${query}-${answer}`, label);
  const messages = [message(`q-${claim.turn}`, "user", query), message(claim.turn, "assistant", answer)];
  await store.turns.commit(turnFor(claim, { messages }));
  return claim.turn;
}

test("of what was pruned it is not said that it was the same", async () => {
  await using opened = await open();
  const { store, clock } = opened;
  const [left, right] = [await say(store, "work", "a", "b"), await say(store, "other", "c", "d")];
  clock.advance(1);
  await store.prune("turns", { beforeMs: clock(), after: undefined, max: 10 });
  const { diff } = await compareTurns([left, right], store, 10);
  expect(diff).toContain(`-(${left}, pruned `);
  expect(diff).toContain(`+(${right}, pruned `);
});

test("two branches are told apart from where they part", async () => {
  await using opened = await open();
  const { store } = opened;
  const shared = await say(store, "work", "hello", "hi");
  await store.sessions.fork(shared, "other" as SessionKey);
  const first = await say(store, "work", "a story", "A cat\nsat on\na mat.");
  const left = await say(store, "work", "more", "The end.");
  const right = await say(store, "other", "a story", "A dog\nsat on\na mat.");

  const compared = await compareTurns([left, right], store, 10);
  expect(compared).toMatchObject({
    common: { id: shared, text: "hi" },
    left: { head: left, turns: [{ id: first }, { id: left }], more: 0 },
    right: { head: right, turns: [{ id: right }], more: 0 },
  });
  expect(compared.diff.split("\n").slice(1)).toEqual([
    " > a story",
    " ",
    "-A cat",
    "+A dog",
    " sat on",
    " a mat.",
    "-",
    "-> more",
    "-",
    "-The end.",
  ]);
});

test("of a turn and one after it, one side has nothing of its own; of a turn and itself, neither", async () => {
  await using opened = await open();
  const { store } = opened;
  const early = await say(store, "work", "a", "b");
  const late = await say(store, "work", "c", "d");
  expect(await compareTurns([early, late], store, 10)).toMatchObject({
    common: { id: early },
    left: { turns: [] },
    right: { turns: [{ id: late }] },
  });
  expect(await compareTurns([late, late], store, 10)).toMatchObject({
    common: { id: late },
    left: { turns: [] },
    right: { turns: [] },
    diff: "",
  });
});

test("threads that have nothing in common are compared whole, the first turns of them", async () => {
  await using opened = await open();
  const { store } = opened;
  const [left] = [await say(store, "one", "a", "b")];
  for (let i = 0; i < 5; i++) await say(store, "two", `q${i}`, `a${i}`);
  const right = (await store.sessions.get(session("two")))!.head!;
  const compared = await compareTurns([left, right], store, 2);
  expect(compared).toMatchObject({ common: null, left: { more: 0 }, right: { more: 3 } });
  expect(compared.right.turns.map(({ text }) => text)).toEqual(["a0", "a1"]);
});

test("wherever a tree is forked, what two turns have in common is found", async () => {
  await using opened = await open();
  const { store } = opened;
  const made: TurnId[] = [await say(store, "root", "q", "a")];
  const parents = [-1];
  for (let i = 1; i < 40; i++) {
    const parent = (i * 7) % 3 === 0 ? Math.floor(i / 2) : i - 1;
    await store.sessions.fork(made[parent]!, `fork-${i}` as SessionKey);
    parents.push(parent);
    made.push(await say(store, `fork-${i}`, `q${i}`, `a${i}`));
  }
  const ancestors = (place: number): number[] => (place === -1 ? [] : [place, ...ancestors(parents[place]!)]);
  const place = fc.nat(made.length - 1);
  await fc.assert(
    fc.asyncProperty(place, place, async (left, right) => {
      const expected = ancestors(left).find((each) => ancestors(right).includes(each))!;
      const { common } = await compareTurns([made[left]!, made[right]!], store, 1);
      expect(common!.id).toBe(made[expected]!);
    }),
    { numRuns: 60 },
  );
});
