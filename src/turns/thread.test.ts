import { expect, test } from "vitest";
import { openTestStore } from "../../test/support/open-store.ts";
import { alice, dispatch, event, facts, message, toSession, turnFor } from "../../test/support/sample.ts";
import type { TurnId } from "../model/ids.ts";
import type { Context, Store } from "../store/store.ts";
import { isPartial, measure, PROBED_TURNS, readThread } from "./thread.ts";
import { says, spoken } from "../../test/support/scripted-model.ts";
import { compactionTurn, spokenTurn, turnContent } from "../../test/support/thread.ts";
import { NO_USAGE } from "../model/usage.ts";

/** Adds so many turns of 100 characters each to a session, and a compaction before the last of them if asked for. */
async function grow(store: Store, count: number, { compacts = false } = {}): Promise<TurnId> {
  let head: TurnId | undefined;
  const { turns: before } = await store.counts();
  for (let n = 0; n < count; n++) {
    const name = String(before + n);
    const work = { dispatch: dispatch(name, toSession("work")), claim: alice };
    const claim = (await store.events.accept(event(name), work)).dispatched!.claim!;
    let { parent } = claim;
    if (compacts && n === count - 1) {
      const { lease, run } = claim;
      const summary = message("compaction", "assistant", "What was said before.");
      parent = "compaction" as TurnId;
      await store.turns.compact({ lease, run, turn: parent, facts, summary, firstKept: head });
    }
    const messages = [
      message(`q-${name}`, "user", "q".repeat(50)),
      message(claim.turn, "assistant", "a".repeat(50)),
    ];
    await store.turns.commit({ ...turnFor(claim, { messages }), parent });
    head = claim.turn;
  }
  return head!;
}

test("nothing follows no turn", async () => {
  await using opened = await openTestStore();
  expect(await readThread(undefined, opened.store, 1_000)).toEqual({ compaction: undefined, turns: [] });
});

test.each([1, PROBED_TURNS, PROBED_TURNS + 100])(
  "a thread of %i turns that fits the window is read whole",
  async (length) => {
    await using opened = await openTestStore();
    const head = await grow(opened.store, length);
    const thread = await readThread(head, opened.store, 100_000);
    expect(thread).toEqual(await readThread(head, opened.store));
    expect([thread.turns.length, isPartial(thread)]).toEqual([length, false]);
  },
);

test("of a thread that is much longer than the window, little more than the window is read", async () => {
  await using opened = await openTestStore();
  const head = await grow(opened.store, 600);
  const thread = await readThread(head, opened.store, 3_000);
  expect(isPartial(thread)).toBe(true);
  expect(thread.turns.at(-1)!.turn.id).toBe(head);
  const tokens = (thread.turns.length * 100) / 4;
  expect(tokens).toBeGreaterThan(3_000 * 1.5);
  expect(tokens).toBeLessThan(3_000 * 2);
});

test("what follows a compaction is read whole, with what it kept", async () => {
  await using opened = await openTestStore();
  await grow(opened.store, 100, { compacts: true });
  const head = await grow(opened.store, PROBED_TURNS);
  const thread = await readThread(head, opened.store, 3_000);
  expect(thread).toEqual(await readThread(head, opened.store));
  expect([thread.compaction?.turn.id, thread.turns.length, isPartial(thread)]).toEqual([
    "compaction",
    PROBED_TURNS + 2,
    false,
  ]);
});

const current = { messages: [message("q", "user", "12345678")], toolCalls: [] };
const usage = { ...NO_USAGE, input: 1_000, output: 20, cacheRead: 300, cacheWrite: 4, reasoning: 10 };
const counted = turnContent(5, [message("q5", "user", "go"), spoken("turn-5", says("well", { usage }))]);

function load(thread: Partial<Context>) {
  return measure({ system: "", tools: [], thread: { compaction: undefined, turns: [], ...thread }, current });
}

test("what the provider has counted is right; what came since is estimated", () => {
  expect(load({ turns: [counted] })).toEqual({ tokens: 1_324 + 2, estimated: (8 + 2 + 4) / 4 + 0.5 });
});

test("system prompt and tools are part of what is estimated", () => {
  const tools = [{ name: "Read", description: "Reads.", parameters: {} }];
  const thread = { compaction: undefined, turns: [] };
  expect(measure({ system: "1234", tools, thread, current }).tokens).toBe((4 + 4 + 6 + 2 + 8) / 4);
});

test.each<[string, Partial<Context>]>([
  ["no turn came before", {}],
  ["nobody has counted", { turns: [spokenTurn(5, "go", "well")] }],
  ["the last turn was aborted", { turns: [{ ...counted, turn: { ...counted.turn, status: "aborted" } }] }],
  ["it was compacted since", { compaction: compactionTurn(6, "so far"), turns: [counted] }],
])("where %s, characters are counted", (_, thread) => {
  const { tokens, estimated } = load(thread);
  expect(tokens).toBe(estimated);
});

test("what was counted after a compaction counts", () => {
  expect(load({ compaction: compactionTurn(4, "so far"), turns: [counted] }).tokens).toBe(1_326);
});
