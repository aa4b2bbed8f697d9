import { expect, test } from "vitest";

import { openTestStore } from "../../test/support/open-store.ts";
import { event, START_MS } from "../../test/support/sample.ts";
import { searchLedger } from "./search-ledger.ts";

test("events that hold most of the words come first, then the newest", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  const contents = [
    "The invoice of Ada",
    "An INVOICE",
    "nothing of note",
    null,
    "invoice again",
    "100% of it",
  ];
  for (const [i, content] of contents.entries()) {
    await store.events.accept(event(String(i), { content, atMs: START_MS + i }));
  }
  const search = async (text: string, limit = 10): Promise<string[]> =>
    (await searchLedger(store, text, limit)).map(({ id }) => id);

  expect(await search("invoice for Ada?")).toEqual(["test:0", "test:4", "test:1"]);
  expect(await search("invoice", 1)).toEqual(["test:4"]);
  expect(await search("the' or 1=1 -- invoice")).toHaveLength(3);
  expect(await search("a of %")).toEqual([]);
  expect(await search("")).toEqual([]);
  expect(await searchLedger(store, "note", 1)).toEqual([
    { id: "test:2", text: "nothing of note", atMs: START_MS + 2 },
  ]);
});
