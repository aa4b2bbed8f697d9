/** What every store promises about costs. */
import { describe, expect, test } from "vitest";

import { alice, answer, facts, message, session, START_MS, turnFor } from "../../test/support/sample.ts";
import { begin, STORES } from "../../test/support/stores.ts";
import { DAY_MS } from "../model/durations.ts";
import type { ItemId, PersonaId, TurnId } from "../model/ids.ts";
import { assistantMessage, type AssistantBody } from "../model/message.ts";
import { NO_USAGE } from "../model/usage.ts";
import type { Claim, JournalEntry, Store, TurnFacts } from "./store.ts";

const refusal = (code: string) =>
  expect.objectContaining({ name: "CortexError", code, hint: expect.any(String) });

const atlas = "atlas" as PersonaId;

async function spend(
  store: Store,
  name: string,
  fields: Partial<TurnFacts>,
  label = "work",
): Promise<TurnId> {
  const claim = await begin(store, name, label);
  await store.turns.commit(turnFor(claim, { facts: { ...facts, ...fields } }));
  return claim.turn;
}

/** A message of a model that has cost something. */
function spoken(place: number, costUsd: number | null): JournalEntry {
  const body: AssistantBody = {
    blocks: [{ type: "text", text: "hm" }],
    stop: "tools",
    provider: "p",
    model: "m",
    usage: NO_USAGE,
    costUsd,
  };
  return { kind: "message", place, message: assistantMessage(`m-${place}`, body, START_MS) };
}

async function takeUp(store: Store): Promise<Claim> {
  return (await store.queue.lease(alice, 1))[0]!;
}

describe.each(Object.entries(STORES))("%s", (_, open) => {
  describe("costs", () => {
    const everything = { sinceMs: 0, untilMs: START_MS + 1_000 * DAY_MS };

    test("costs are summed by session, agent, persona and model, the dearest first", async () => {
      await using opened = await open();
      const { store } = opened;
      await spend(store, "a", { costUsd: 0.5, provider: "anthropic", model: "opus" });
      await spend(store, "b", { costUsd: 0.25, provider: "anthropic", model: "opus" });
      await spend(store, "c", { costUsd: 2, provider: "openai", model: "gpt" }, "home");
      await spend(store, "d", { costUsd: null, provider: "local", model: "qwen" }, "home");

      expect(await store.turns.costs({ by: "session", ...everything })).toEqual([
        {
          key: "home",
          turns: 2,
          usage: { input: 20, output: 40, cacheRead: 2, cacheWrite: 4, reasoning: 6 },
          costUsd: 2,
          unpriced: 1,
        },
        {
          key: "work",
          turns: 2,
          usage: { input: 20, output: 40, cacheRead: 2, cacheWrite: 4, reasoning: 6 },
          costUsd: 0.75,
          unpriced: 0,
        },
      ]);
      const some = { by: "session" as const, ...everything, sessions: [session("work"), session("nobody")] };
      expect(await store.turns.costs(some)).toMatchObject([{ key: "work", turns: 2, costUsd: 0.75 }]);
      expect(await store.turns.costs({ ...some, sessions: [] })).toEqual([]);
      expect(await store.turns.costs({ by: "model", ...everything })).toMatchObject([
        { key: "openai/gpt", costUsd: 2 },
        { key: "anthropic/opus", costUsd: 0.75, turns: 2 },
        { key: "local/qwen", costUsd: 0, unpriced: 1 },
      ]);
      expect(await store.turns.costs({ by: "model", ...everything, limit: 1 })).toHaveLength(1);
      expect(await store.turns.costs({ by: "agent", ...everything })).toMatchObject([
        { key: "main", turns: 4 },
      ]);
      expect(await store.turns.costs({ by: "persona", ...everything })).toMatchObject([
        { key: "atlas", costUsd: 2.75 },
      ]);
    });

    test("days begin when they are said to begin, the newest first, those without a turn left out", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await spend(store, "a", { costUsd: 1 });
      clock.advance(DAY_MS - 1);
      await spend(store, "b", { costUsd: 2 });
      clock.advance(1);
      await spend(store, "c", { costUsd: 4 });
      clock.advance(2 * DAY_MS);
      await spend(store, "d", { costUsd: 8 });
      const dayStartsMs = [0, 1, 2, 3].map((day) => START_MS + day * DAY_MS);
      const days = { by: "day", sinceMs: START_MS, untilMs: clock() + 1, dayStartsMs } as const;
      expect(await store.turns.costs(days)).toMatchObject([
        { key: String(dayStartsMs[3]), costUsd: 8 },
        { key: String(dayStartsMs[1]), costUsd: 4 },
        { key: String(dayStartsMs[0]), costUsd: 3, turns: 2 },
      ]);
      // From the middle of the first day until before the last turn.
      expect(await store.turns.costs({ ...days, sinceMs: START_MS + 1, untilMs: clock() })).toMatchObject([
        { key: String(dayStartsMs[1]), costUsd: 4 },
        { key: String(dayStartsMs[0]), costUsd: 2 },
      ]);
      for (const wrong of [[], [START_MS + 2], [START_MS, START_MS]]) {
        const query = { ...days, sinceMs: START_MS + 1, dayStartsMs: wrong };
        await expect(store.turns.costs(query)).rejects.toEqual(refusal("request_invalid"));
      }
    });

    test("only turns of the time that was asked for count", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      await spend(store, "a", { costUsd: 1 });
      clock.advance(10);
      await spend(store, "b", { costUsd: 2 });
      const within = { by: "agent", sinceMs: START_MS, untilMs: START_MS + 10 } as const;
      expect(await store.turns.costs(within)).toMatchObject([{ turns: 1, costUsd: 1 }]);
      expect(await store.turns.costs({ ...within, untilMs: START_MS })).toEqual([]);
    });
  });

  describe("what a persona has spent", () => {
    test("is the cost of its turns since a moment", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      expect(await store.turns.spentUsd(atlas, 0)).toBe(0);
      await spend(store, "a", { costUsd: 1 });
      clock.advance(10);
      await spend(store, "b", { costUsd: 2 });
      await spend(store, "c", { costUsd: null });
      expect(await store.turns.spentUsd(atlas, START_MS)).toBe(3);
      expect(await store.turns.spentUsd(atlas, START_MS + 10)).toBe(2);
      expect(await store.turns.spentUsd(atlas, START_MS + 11)).toBe(0);
      expect(await store.turns.spentUsd("other" as PersonaId, 0)).toBe(0);
    });

    test("includes what a run under way has journalled, and counts it once when it is committed", async () => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      const question: JournalEntry = { kind: "message", place: 0, message: message("q", "user", "?") };
      const entries = [question, spoken(1, 0.5), spoken(2, null)];
      await store.runs.journal(claim.lease, claim.run, entries);
      await store.runs.journal(claim.lease, claim.run, entries); // once more
      await store.runs.journal(claim.lease, claim.run, [spoken(3, 0.25)]);
      expect(await store.turns.spentUsd(atlas, START_MS)).toBe(0.75);
      expect(await store.turns.spentUsd("other" as PersonaId, START_MS)).toBe(0);
      await store.runs.suspend(claim.lease, claim.run, { id: "w", kind: "other", detail: null });
      expect(await store.turns.spentUsd(atlas, START_MS)).toBe(0.75);
      await store.runs.resume(claim.run, "w", []);
      const again = await takeUp(store);
      const rest = { messages: [answer(claim.turn)], facts: { ...facts, costUsd: 1 } };
      await store.turns.commit(turnFor(again, rest));
      expect(await store.turns.spentUsd(atlas, START_MS)).toBe(1);
    });

    test.each(["completed", "aborted"] as const)("counts a turn once that was %s", async (status) => {
      await using opened = await open();
      const { store } = opened;
      const claim = await begin(store, "a");
      await store.runs.journal(claim.lease, claim.run, [spoken(0, 0.5)]);
      const rest = { messages: [answer(claim.turn)], facts: { ...facts, costUsd: 0.5 }, status };
      await store.turns.commit(turnFor(claim, rest));
      expect(await store.turns.spentUsd(atlas, START_MS)).toBe(0.5);
    });

    test("is not forgotten when runs fail, and not counted twice when they are tried again", async () => {
      await using opened = await open();
      const { store, clock } = opened;
      const spent = (): Promise<number> => store.turns.spentUsd(atlas, START_MS);
      const first = await begin(store, "a");
      await store.runs.journal(first.lease, first.run, [spoken(0, 0.5)]);
      const failure = { lease: first.lease, run: first.run, error: "e" };
      await store.runs.fail({ ...failure, outcome: { kind: "retry", atMs: clock() } });
      expect(await spent()).toBe(0.5);
      const second = await takeUp(store);
      expect(await spent()).toBe(0.5);
      await store.runs.journal(second.lease, second.run, [spoken(1, 0.25)]);
      await store.runs.fail({ ...failure, ...second, outcome: { kind: "dead" } });
      expect(await spent()).toBe(0.75);
      await store.queue.retryDead("item-a" as ItemId);
      const third = await takeUp(store);
      expect(await spent()).toBe(0.75);
      await store.runs.fail({ ...failure, ...third, outcome: { kind: "dead" } });
      await store.queue.dropDead("item-a" as ItemId);
      expect(await spent()).toBe(0.75);
      expect(await store.turns.spentUsd(atlas, START_MS + 1)).toBe(0);
    });
  });
});
