import { expect, test } from "vitest";

import { event, message, START_MS, turnFor } from "../../test/support/sample.ts";
import { openTestStore } from "../../test/support/open-store.ts";
import { begin } from "../../test/support/stores.ts";
import { ALL_FOUND } from "../model/relevance.ts";
import { searchLedger } from "./search.ts";

test("an answer is cited as its turn, all else as its event", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  await store.events.accept(event("q", { content: "where is the key?", sender: "ada" }));
  const claim = await begin(store, "work");
  const said = message(claim.turn, "assistant", "The key is under the mat.");
  const answer = event("a", { direction: "sent", content: null, channel: "cli" });
  await store.turns.commit(turnFor(claim, { messages: [message("m", "user", "?"), said], answer }));

  expect(await searchLedger(store, "key mat")).toEqual([
    {
      id: claim.turn,
      kind: "turn",
      event: "test:a",
      atMs: START_MS,
      channel: "cli",
      sender: expect.anything(),
      text: "The key is under the mat.",
      label: { untrusted: ["guest:test:tyler"], private: ["guest:test:tyler"], denied: [] },
      score: expect.any(Number),
    },
    expect.objectContaining({ id: "test:q", kind: "event", event: "test:q", channel: "test", sender: "ada" }),
  ]);
});

test("what is worse than wanted is left out", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  for (const content of ["the red door", "the blue door", "a red herring"]) {
    await store.events.accept(event(content, { content }));
  }
  const texts = async (minScore?: number): Promise<string[]> =>
    (await searchLedger(store, "red door", minScore === undefined ? {} : { minScore })).map(
      ({ text }) => text,
    );
  expect(await texts()).toHaveLength(3);
  expect(await texts(ALL_FOUND)).toEqual(["the red door"]);
  expect(await texts(1)).toEqual([]);
});
