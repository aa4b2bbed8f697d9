/** What every store promises about search: what was said is found, and how far the index has come is no matter. */
import { describe, expect, test } from "vitest";

import {
  alice,
  dispatch,
  event,
  message,
  session,
  START_MS,
  toSession,
  turnFor,
} from "../../test/support/sample.ts";
import { begin, STORES } from "../../test/support/stores.ts";
import { DAY_MS } from "../model/durations.ts";
import { OWNER_PRINCIPAL, type Principal } from "../model/principal.ts";
import { ALL_FOUND } from "../model/relevance.ts";
import { NO_LABEL } from "../model/trust.ts";
import {
  DEFAULT_HIT_LENGTH,
  type EventStore,
  type Ledger,
  MAX_HITS,
  MAX_SEARCHED_CHARACTERS,
  type SearchOptions,
  SEARCHED_TAIL,
  type Store,
} from "./store.ts";

const refusal = (code: string) =>
  expect.objectContaining({ name: "CortexError", code, hint: expect.any(String) });

/** Takes texts in, in this order, under their places in it. */
async function say(store: Store, ...texts: readonly (string | null)[]): Promise<void> {
  for (const [i, content] of texts.entries()) await store.events.accept(event(String(i), { content }));
}

async function found(
  ledger: Pick<Ledger, "events">,
  text: string,
  options?: SearchOptions,
): Promise<string[]> {
  return (await ledger.events.search(text, options)).map((hit) => hit.event.slice("test:".length));
}

/** How far the index may have come. */
const PROGRESS: Readonly<Record<string, (events: EventStore) => Promise<unknown>>> = {
  indexed: (events) => events.index(100),
  "not indexed": async () => {},
  "indexed in part": (events) => events.index(2),
};

describe.each(Object.entries(STORES))("%s", (_, open) => {
  describe.each(Object.entries(PROGRESS))("what was said and is %s", (_state, index) => {
    test("is found by its words, whatever their case, accents and signs", async () => {
      await using opened = await open();
      const { store } = opened;
      await say(store, "The Café bill, 42 €", null, "ΟΔΟΣ und Straße", "mail ada@example.com (now!)");
      await index(store.events);
      for (const text of ["café", "CAFE", "cafe\u0301", "  bill!! ", "42", '"bill"']) {
        expect([text, await found(store, text)]).toEqual([text, ["0"]]);
      }
      expect(await found(store, "οδός")).toEqual(["2"]);
      expect(await found(store, "ada@example.com")).toEqual(["3"]);
      expect(await found(store, "example")).toEqual(["3"]);
      for (const text of ["", " ", "€ — *", "absent"]) expect(await found(store, text)).toEqual([]);
    });

    test("is found in scripts without spaces, by any part of a sentence", async () => {
      await using opened = await open();
      const { store } = opened;
      await say(store, "明日の東京の天気は晴れです", "東の京", "학교에서 만나요", "พรุ่งนี้ฝนตก", "done 🎉");
      await index(store.events);
      expect(await found(store, "東京")).toEqual(["0"]);
      expect(await found(store, "晴")).toEqual(["0"]);
      expect((await found(store, "東京の天気はどうですか"))[0]).toBe("0");
      expect(await found(store, "학교")).toEqual(["2"]);
      expect(await found(store, "ฝนตก")).toEqual(["3"]);
      expect(await found(store, "🎉")).toEqual(["4"]);
    });

    test("comes with all words first, then with some, then with longer words", async () => {
      await using opened = await open();
      const { store } = opened;
      await say(store, "unpaid invoices", "an invoice of Ada", "the weather", "invoice", "Ada was here");
      await index(store.events);
      const hits = await store.events.search("invoice Ada");
      expect(hits[0]).toMatchObject({ event: "test:1" });
      expect(hits.map((hit) => hit.event).toSorted()).toEqual(["test:0", "test:1", "test:3", "test:4"]);
      expect(hits.at(-1)).toMatchObject({ event: "test:0" });
      const scores = hits.map((hit) => hit.score);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      expect(scores.filter((score) => score > ALL_FOUND && score <= 1)).toHaveLength(1);
      expect(scores.every((score) => score > 0)).toBe(true);
    });

    test("comes newest first where it is as good, and rare words count for more than newness", async () => {
      await using opened = await open();
      const { events } = opened.store;
      for (const n of [1, 2, 3]) {
        await events.accept(event(`n${n}`, { content: "build is green", atMs: START_MS - (4 - n) * DAY_MS }));
      }
      await events.accept(event("rare", { content: "build is haunted", atMs: START_MS - 4 * DAY_MS }));
      await index(events);
      expect(await found(opened.store, "build")).toEqual(["n3", "n2", "n1", "rare"]);
      expect((await found(opened.store, "haunted build"))[0]).toBe("rare");
    });

    test("is narrowed down by channels and time", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.events.accept(event("a", { content: "ship it", channel: "email" }));
      await store.events.accept(event("b", { content: "ship it", channel: "my chat", atMs: START_MS + 1 }));
      await store.events.accept(event("c", { content: "ship it", channel: "cli", atMs: START_MS + 2 }));
      await index(store.events);
      expect(await found(store, "ship", { channels: ["my chat", "email"] })).toEqual(["b", "a"]);
      expect(await found(store, "ship", { channels: ['"quoted"'] })).toEqual([]);
      expect(await found(store, "ship", { channels: [] })).toEqual([]);
      expect(await found(store, "ship", { sinceMs: START_MS + 1 })).toEqual(["c", "b"]);
      expect(await found(store, "ship", { untilMs: START_MS + 1 })).toEqual(["a"]);
      expect(await found(store, "ship", { sinceMs: START_MS + 1, untilMs: START_MS + 2 })).toEqual(["b"]);
      expect(await found(store, "ship", { sinceMs: START_MS + 3 })).toEqual([]);
      expect(await found(store, "ship", { limit: 1 })).toEqual(["c"]);
    });

    test("tells who said it, where and when; an answer also tells its turn", async () => {
      await using opened = await open();
      const { store } = opened;
      const asked = event("q", { content: "how tall is it?", sender: "ada", place: "dm-7", topic: "t" });
      await store.events.accept(asked);
      const claim = await begin(store, "work");
      const said = message(claim.turn, "assistant", "The tower is tall: 300 metres.");
      await store.turns.commit(
        turnFor(claim, {
          messages: [message("m", "user", "how tall?"), said],
          answer: event("answer", { direction: "sent", content: null }),
        }),
      );
      await index(store.events);
      const [tower] = await store.events.search("tower");
      expect(tower).toEqual({
        event: "test:answer",
        turn: claim.turn,
        channel: "test",
        direction: "sent",
        sender: tower!.sender,
        place: tower!.place,
        atMs: START_MS,
        principal: "guest:test:tyler",
        label: { untrusted: ["room:test:dm-1"], private: ["room:test:dm-1"], denied: [] },
        text: "The tower is tall: 300 metres.",
        score: expect.any(Number),
      });
      expect((await store.events.search("tall")).find((hit) => hit.event === "test:q")).toMatchObject({
        sender: "ada",
        place: "dm-7",
        direction: "received",
        turn: undefined,
      });
    });

    test("is found for those who have heard it, and by who wrote it", async () => {
      await using opened = await open();
      const { store } = opened;
      const ada = "person:ada" as Principal;
      const dm = { sender: "7", place: "7", placeKind: "dm", principal: ada } as const;
      const room = { place: "-1", placeKind: "group" } as const;
      const secret = { ...NO_LABEL, private: ["owner"] };
      const events: Parameters<typeof event>[] = [
        ["of-ada", { ...dm, content: "the plan of Ada" }],
        ["ada-in-room", { ...dm, ...room, content: "the plan in the room" }],
        ["bob-in-room", { ...room, principal: "person:bob" as Principal, content: "the plan in the room" }],
        [
          "of-bob",
          { ...dm, sender: "8", place: "8", principal: "person:bob" as Principal, content: "the plan" },
        ],
        ["owners", { channel: "http", sender: "owner", principal: OWNER_PRINCIPAL, content: "the plan" }],
        ["told-ada", { ...dm, label: secret, content: "the plan that is the owner's" }],
      ];
      for (const [name, { place, ...fields } = {}] of events)
        await store.events.accept(event(name, { ...fields, place: place as string }));
      await index(store.events);
      const heard = async (options: SearchOptions) => (await found(store, "plan", options)).toSorted();
      expect(await heard({ audience: ada })).toEqual(["of-ada"]);
      expect(await heard({ audience: "room:test:-1" })).toEqual(["ada-in-room", "bob-in-room"]);
      expect(await heard({ audience: "person:eve" })).toEqual([]);
      expect(await heard({ audience: "owner" })).toEqual(["owners"]);
      expect(await heard({ writtenBy: OWNER_PRINCIPAL })).toEqual(["owners"]);
      expect(await heard({ writtenBy: ada })).toEqual(["ada-in-room", "of-ada", "told-ada"]);
      const [hit] = await store.events.search("plan of Ada", { audience: ada });
      expect(hit!.label).toEqual({ untrusted: [ada], private: [ada], denied: [] });
    });

    test("what was said in a direct chat stays private when it becomes a group", async () => {
      await using opened = await open();
      const { store } = opened;
      const ada = "person:ada" as Principal;
      const [dm, room] = [
        { sender: "7", place: "p", placeKind: "dm", principal: ada },
        { sender: "7", place: "p", placeKind: "group", principal: ada },
      ] as const;
      await store.events.accept(event("alone", { ...dm, content: "the plan of Ada" }));
      await store.events.accept(event("together", { ...room, content: "the plan in the room" }));
      await index(store.events);
      expect(await found(store, "plan", { audience: "room:test:p" })).toEqual(["together"]);
      expect(await found(store, "plan", { audience: ada })).toEqual(["alone"]);
      const [hit] = await store.events.search("plan of Ada");
      expect(hit!.label.private).toEqual([ada]);
    });

    test("an event with a time in the future does not make others look old", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.events.accept(event("now", { content: "light" }));
      await index(store.events);
      const [before] = await store.events.search("light");
      await store.events.accept(event("later", { content: "x", atMs: Date.UTC(9999, 0, 1) }));
      await index(store.events);
      expect((await store.events.search("light"))[0]!.score).toBeCloseTo(before!.score, 5);
    });

    test("an answer is found for its reader, if its turn held nothing that is private to others", async () => {
      await using opened = await open();
      const { store } = opened;
      const ada = "person:ada" as Principal;
      const dm = { sender: "7", place: "7", placeKind: "dm", principal: ada, content: "?" } as const;
      for (const [name, trust] of [
        ["hers", { untrusted: { [ada]: true }, private: { [ada]: true } }],
        ["not-hers", { private: { owner: true } }],
        ["before-names", { private: true }],
      ] as const) {
        await store.events.accept(event(name, dm), { dispatch: dispatch(name, toSession(name)) });
        const [claim] = await store.queue.lease(alice, 1);
        await store.sessions.configure(session(name), { trust });
        const said = message(claim!.turn, "assistant", `The plan for ${name}.`);
        const answer = event(`answer-${name}`, {
          direction: "sent",
          content: null,
          sender: "main",
          place: "7",
          principal: ada,
        });
        await store.turns.commit(turnFor(claim!, { messages: [message("m", "user", "?"), said], answer }));
      }
      await index(store.events);
      expect(await found(store, "plan", { audience: ada })).toEqual(["answer-hers"]);
    });

    test("is found for the audience of what it comes from, unless agents wrote it to each other", async () => {
      await using opened = await open();
      const { store } = opened;
      const audience = "room:test:-1";
      const task = event("task", {
        id: "agent:task" as never,
        channel: "subagent",
        content: "the plan",
        audience,
      });
      await store.events.accept(task, { dispatch: dispatch("task", toSession("worker")) });
      await store.events.accept(
        event("caused", { cause: task.id, principal: OWNER_PRINCIPAL, content: "the plan" }),
      );
      expect((await store.events.get(event("caused").id))!.audience).toBe(audience);
      const [claim] = await store.queue.lease(alice, 1);
      const said = message(claim!.turn, "assistant", "The plan of the worker.");
      const answer = event("answer", { id: "cortex:answer" as never, direction: "sent", content: null });
      await store.turns.commit(turnFor(claim!, { messages: [message("m", "user", "?"), said], answer }));
      await index(store.events);
      const hits = await store.events.search("plan", { audience });
      expect(hits.map(({ event: id }) => id).toSorted()).toEqual(["cortex:answer", "test:caused"]);
      expect(hits[0]!.label.private).toEqual([audience]);
      expect(await found(store, "plan", { audience: "owner" })).toEqual([]);
    });

    test("is shown where the words are, and as long as is wanted", async () => {
      await using opened = await open();
      const { store } = opened;
      await say(store, `${"before ".repeat(500)}needle ${"after ".repeat(500)}`);
      await index(store.events);
      const [hit] = await store.events.search("the needle");
      expect(hit!.text).toMatch(/^….*needle.*…$/);
      expect(hit!.text.length).toBeLessThanOrEqual(DEFAULT_HIT_LENGTH);
      const [long] = await store.events.search("needle", { textLength: 10_000 });
      expect(long!.text).toMatch(/^before .*after $/);
    });

    test("is searched up to a length", async () => {
      await using opened = await open();
      const { store } = opened;
      await say(store, `${"x".repeat(MAX_SEARCHED_CHARACTERS - 7)} inside outside`);
      await index(store.events);
      expect(await found(store, "inside")).toEqual(["0"]);
      expect(await found(store, "outside")).toEqual([]);
    });
  });

  test("the index takes events in a step at a time, and none twice", async () => {
    await using opened = await open();
    const { store } = opened;
    await say(store, "one word", null, "two words", "three words");
    expect(await store.events.index(3)).toEqual({ indexed: 3, waiting: 1 });
    expect(await store.events.index(3)).toEqual({ indexed: 1, waiting: 0 });
    expect(await store.events.index(3)).toEqual({ indexed: 0, waiting: 0 });
    expect((await found(store, "words")).toSorted()).toEqual(["2", "3"]);
    await expect(store.events.index(0)).rejects.toEqual(refusal("limit_invalid"));
  });

  test("a step of the index is short also where texts are long", async () => {
    await using opened = await open();
    const { store } = opened;
    await say(store, ..."abcd".split("").map((letter) => `${letter} `.repeat(40_000)));
    expect(await store.events.index(100)).toEqual({ indexed: 2, waiting: 2 });
  });

  test("of what waits to be indexed, the newest is searched, and how much is not is told", async () => {
    await using opened = await open();
    const { store } = opened;
    const said = ["oldest", ...Array.from({ length: SEARCHED_TAIL - 1 }, () => "more"), "newest"];
    await Promise.all(said.map((content, i) => store.events.accept(event(String(i), { content }))));
    expect(await store.events.unsearched()).toBe(1);
    expect(await found(store, "oldest")).toEqual([]);
    expect(await found(store, "newest")).toEqual([String(SEARCHED_TAIL)]);
    await store.events.index(1);
    expect(await store.events.unsearched()).toBe(0);
    expect(await found(store, "oldest")).toEqual(["0"]);
    expect(await found(store, "newest")).toEqual([String(SEARCHED_TAIL)]);
    expect(await found(store, "more", { limit: MAX_HITS })).toHaveLength(MAX_HITS);
  });

  test("a search finds what a ledger beside the store finds", async () => {
    await using opened = await open();
    await say(opened.store, "first light", "second light");
    await opened.store.events.index(1);
    await using ledger = await opened.openLedger();
    expect(await found(ledger, "light")).toEqual(await found(opened.store, "light"));
    expect(await found(ledger, "light")).toHaveLength(2);
  });

  test("a search that asks for too much or for no moment is refused", async () => {
    await using opened = await open();
    const { events } = opened.store;
    for (const options of [{ limit: 0 }, { limit: MAX_HITS + 1 }, { textLength: 0 }, { limit: 1.5 }]) {
      await expect(events.search("x", options)).rejects.toEqual(refusal("limit_invalid"));
    }
    for (const options of [{ sinceMs: Number.NaN }, { untilMs: 0.5 }]) {
      await expect(events.search("x", options)).rejects.toEqual(refusal("request_invalid"));
    }
  });

  test("writing the index tells nobody that something has changed", async () => {
    await using opened = await open();
    const { store } = opened;
    await say(store, "words");
    const before = await store.changes.last();
    await store.events.index(10);
    expect(await store.changes.last()).toBe(before);
    expect(await store.queue.lease(alice, 1)).toEqual([]);
  });
});
