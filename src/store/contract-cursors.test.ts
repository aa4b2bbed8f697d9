/** What every store promises about sources that are read with a cursor. */
import { describe, expect, test } from "vitest";

import { dispatch, event, session } from "../../test/support/sample.ts";
import { STORES } from "../../test/support/stores.ts";
import type { TurnId } from "../model/ids.ts";
import type { NewEvent } from "./store.ts";

const SOURCE = "telegram@default";

function message(name: string, more: Partial<NewEvent> = {}): NewEvent {
  return { ...event(name), channel: "telegram", place: "1", messageId: name, ...more };
}

describe.each(Object.entries(STORES))("%s", (_, open) => {
  test("the cursor of a source is the one stored last, and no other source's", async () => {
    await using opened = await open();
    const { cursors } = opened.store;
    expect(await cursors.get(SOURCE)).toBeUndefined();
    await cursors.set({ source: SOURCE, value: { session: "s", seq: 1 } });
    await cursors.set({ source: "other", value: 7 });
    await cursors.set({ source: SOURCE, value: { session: "s", seq: 2 } });
    expect(await cursors.get(SOURCE)).toEqual({ session: "s", seq: 2 });
  });

  test("an event and the cursor of its source are one commit, also where the source is gone", async () => {
    await using opened = await open();
    const { store } = opened;
    await store.events.accept(event("a"), { judge: true, cursor: { source: SOURCE, value: 3 } });
    expect(await store.cursors.get(SOURCE)).toBe(3);
    await store.events.accept(event("a"), { cursor: { source: SOURCE, value: 4 } });
    expect(await store.cursors.get(SOURCE)).toBe(4);

    const nowhere = { kind: "turn", turn: "nowhere" as TurnId, forkAs: session("fork") } as const;
    const refused = { dispatch: dispatch("b", nowhere), cursor: { source: SOURCE, value: 5 } };
    await expect(store.events.accept(event("b"), refused)).rejects.toMatchObject({ code: "turn_unknown" });
    expect(await store.cursors.get(SOURCE)).toBe(4);
    await store.events.accept(event("gone"), { cursor: { source: SOURCE, value: undefined } });
    expect(await store.cursors.get(SOURCE)).toBeUndefined();
  });

  test("cursors are found by how their source begins, a page at a time", async () => {
    await using opened = await open();
    const { cursors } = opened.store;
    const sources = ["in/a", "in/b", "in/c/d", "in/日本", "inner/e", "out/f"];
    await cursors.set(...sources.map((source) => ({ source, value: { of: source } })));
    const found = async (options: Parameters<typeof cursors.list>[0]) =>
      (await cursors.list(options)).map(({ source }) => source);
    expect(await found({ under: "in/" })).toEqual(["in/a", "in/b", "in/c/d", "in/日本"]);
    expect(await found({ under: "in/", limit: 2 })).toEqual(["in/a", "in/b"]);
    expect(await found({ under: "in/", after: "in/b" })).toEqual(["in/c/d", "in/日本"]);
    expect(await found({ under: "out/f" })).toEqual(["out/f"]);
    await cursors.set({ source: "in/a", value: undefined }, { source: "in/b", value: 5 });
    expect(await cursors.list({ under: "in/", limit: 1 })).toEqual([{ source: "in/b", value: 5 }]);
  });

  test("several events and their cursor are one commit", async () => {
    await using opened = await open();
    const { store } = opened;
    const accepted = await store.events.acceptAll([{ event: message("a") }, { event: message("b") }], {
      source: SOURCE,
      value: 3,
    });
    expect(accepted).toEqual([{ fresh: true }, { fresh: true }]);
    expect(await store.cursors.get(SOURCE)).toBe(3);
    expect(await store.events.acceptAll([{ event: message("b") }, { event: message("c") }])).toEqual([
      { fresh: false },
      { fresh: true },
    ]);
    expect(await store.cursors.get(SOURCE)).toBe(3);
  });

  test("an event that is refused leaves nothing of those beside it, nor the cursor", async () => {
    await using opened = await open();
    const { store } = opened;
    const nowhere = { kind: "turn", turn: "nowhere" as TurnId, forkAs: session("fork") } as const;
    const refused = { event: message("b"), options: { dispatch: dispatch("b", nowhere) } };
    const all = store.events.acceptAll([{ event: message("a") }, refused], { source: SOURCE, value: 1 });
    await expect(all).rejects.toMatchObject({ code: "turn_unknown" });
    expect(await store.events.get(message("a").id)).toBeUndefined();
    expect(await store.cursors.get(SOURCE)).toBeUndefined();
  });

  test("a message is found by the platform's id in its own place only", async () => {
    await using opened = await open();
    const { events } = opened.store;
    await events.acceptAll([
      { event: message("m1") },
      { event: message("m1-elsewhere", { messageId: "m1", place: "2" }) },
      { event: message("m1-topic", { messageId: "m1", topic: "9" }) },
    ]);
    const at = (place: string, topic?: string) =>
      events.findMessage({ channel: "telegram", place, ...(topic === undefined ? {} : { topic }) }, "m1");
    expect((await at("1"))?.id).toBe(message("m1").id);
    expect((await at("2"))?.id).toBe(message("m1-elsewhere").id);
    expect((await at("1", "9"))?.id).toBe(message("m1-topic").id);
    expect(await at("3")).toBeUndefined();
  });

  test("the newest received message of each place of an account is known", async () => {
    await using opened = await open();
    const { events } = opened.store;
    await events.acceptAll([
      { event: message("a") },
      { event: message("b") },
      { event: message("c", { place: "2", placeKind: "group" }) },
      { event: message("sent", { direction: "sent" }) },
      { event: message("work", { account: "work" }) },
      { event: message("nameless", { place: "3", messageId: undefined as never }) },
    ]);
    const newest = await events.newestMessages({ channel: "telegram", account: "default" }, 10);
    expect(newest.map(({ place, messageId, kind }) => [place, messageId, kind])).toEqual([
      ["2", "c", "group"],
      ["1", "b", undefined],
    ]);
    expect(await events.newestMessages({ channel: "telegram", account: "default" }, 1)).toHaveLength(1);
  });
});
