/** What is true of search whatever was said, asked for, and cut off in between. */
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { openTestStore } from "../../../test/support/open-store.ts";
import { event } from "../../../test/support/sample.ts";
import { memoryParent, temporaryFolder } from "../../../test/support/temporary.ts";
import { MAX_HITS } from "../store.ts";
import { openForWriting } from "./connection.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./schema.ts";
import { words } from "../../model/words.ts";
import { SEARCHED_IN_PLACE } from "./sqlite-ledger.ts";
import { openSqliteStore } from "./sqlite-store.ts";

/** Few words, so that texts share them; and whatever people may write. */
const word = fc.constantFrom("red", "Rédish", "door", "東京", "東", "a", "NOT", "c++", "x@y.z", "🎉", "42");
const said = fc.oneof(
  fc.array(word, { maxLength: 8 }).map((all) => all.join(" ")),
  fc.string({ unit: "grapheme", maxLength: 8 }),
);

/** Signs that mean something to SQLite's own query language. */
const operator = fc.constantFrom(
  '"',
  "'",
  "*",
  "^",
  "(",
  ")",
  ":",
  "+",
  "-",
  "{",
  "}",
  "AND",
  "OR",
  "NOT",
  "NEAR(",
  "\0",
);

test("whatever is asked for is taken as words: nothing raises", async () => {
  await using opened = await openTestStore();
  const { events } = opened.store;
  for (const [i, content] of ['red AND "door"', "content : x", "NEAR(a b)"].entries()) {
    await events.accept(event(String(i), { content }));
  }
  await events.index(2);
  const asked = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: "grapheme" }),
    fc.array(fc.oneof(word, operator), { maxLength: 10 }).map((parts) => parts.join(" ")),
    fc.array(fc.oneof(word, operator), { maxLength: 10 }).map((parts) => parts.join("")),
  );
  await fc.assert(
    fc.asyncProperty(asked, fc.string({ unit: "binary" }), async (text, channel) => {
      expect(await events.search(text)).toBeInstanceOf(Array);
      expect(await events.search(text, { channels: [channel] })).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test("everything that was accepted is found by each of its words, through crashes between steps of the index", async () => {
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .array(said, { minLength: 1, maxLength: 5 })
        .map((texts) => ({ kind: "say", texts }) as const),
    },
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 6 }).map((max) => ({ kind: "index", max }) as const) },
    { weight: 1, arbitrary: fc.constant({ kind: "crash" } as const) },
    {
      weight: 1,
      arbitrary: fc
        .integer({ min: 1, max: 6 })
        .map((max) => ({ kind: "crash while indexing", max }) as const),
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      await using opened = await openTestStore();
      const texts: string[] = [];
      for (const now of steps) {
        if (now.kind === "say") {
          for (const content of now.texts) {
            await opened.store.events.accept(event(String(texts.length), { content }));
            texts.push(content);
          }
        } else if (now.kind === "index") {
          await opened.store.events.index(now.max);
        } else if (now.kind === "crash") {
          await opened.crash();
        } else {
          const cut = opened.store.events.index(now.max).catch(() => {}); // it may have happened, or not
          await opened.crash();
          await cut;
        }
      }
      for (const wanted of new Set(texts.flatMap((text) => words(text).map((each) => each.text)))) {
        const hits = await opened.store.events.search(wanted, { limit: MAX_HITS });
        const found = hits.map((hit) => hit.event as string);
        const holding = texts.flatMap((text, i) =>
          words(text).some((each) => each.text === wanted) ? [`test:${i}`] : [],
        );
        expect(found).toEqual(expect.arrayContaining(holding));
        expect(new Set(found).size).toBe(found.length);
      }
    }),
    { numRuns: 10 },
  );
});

test("what is found, and in which order, does not depend on how far the index has come", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(said, { maxLength: 20 }), said, async (texts, asked) => {
      await using opened = await openTestStore();
      const { events } = opened.store;
      for (const [i, content] of texts.entries()) await events.accept(event(String(i), { content }));
      const before = await events.search(asked, { limit: MAX_HITS });
      await events.index(Math.ceil(texts.length / 2) + 1);
      expect(await events.search(asked, { limit: MAX_HITS })).toEqual(before);
      await events.index(100);
      expect(await events.search(asked, { limit: MAX_HITS })).toEqual(before);
    }),
    { numRuns: 10 },
  );
});

test("a larger ledger is searched by a process of its own, with the same hits", async () => {
  await using opened = await openTestStore();
  const { events } = opened.store;
  const contents = Array.from({ length: SEARCHED_IN_PLACE }, (_, i) => `number ${i} of many`);
  await Promise.all(contents.map((content, i) => events.accept(event(String(i), { content }))));
  await events.index(150);
  const inPlace = await events.search("number 17", { limit: 5 });
  expect(inPlace[0]).toMatchObject({ event: "test:17" });
  await events.accept(event("more", { content: null }));
  const beside = await events.search("number 17", { limit: 5 });
  expect(beside.map((hit) => hit.event)).toEqual(inPlace.map((hit) => hit.event));
  expect(await Promise.all([events.search("number"), events.search("nothing")])).toMatchObject([
    { length: 20 },
    [],
  ]);
});

test("a few long texts are not searched where others wait for it", async () => {
  await using opened = await openTestStore();
  const { events } = opened.store;
  const content = "中文 ".repeat(20_000);
  for (const i of [1, 2, 3]) await events.accept(event(String(i), { content }));
  await events.search("中文"); // starts the process
  const before = process.threadCpuUsage();
  expect(await events.search("中文")).toHaveLength(3);
  const own = process.threadCpuUsage(before).user / 1_000;
  const { user } = process.threadCpuUsage();
  for (const _ of [1, 2, 3]) words(content);
  expect(own).toBeLessThan(process.threadCpuUsage({ user, system: 0 }).user / 1_000);
});

test("a ledger from before there was search is opened without being indexed, and indexed later", async () => {
  using folder = temporaryFolder(memoryParent());
  const path = `${folder.path}/cortex.db`;
  const before = openForWriting(path);
  migrate(before, MIGRATIONS.slice(0, 5));
  const insert = before.prepare(
    `insert into event (id, at_ms, received_ms, channel, direction, content, content_type)
     values (?, 1, 1, 'test', 'received', ?, 'text')`,
  );
  for (let i = 0; i < 10; i++) insert.run(`test:${i}`, `old words, number ${i}`);
  before.close();

  await using store = await openSqliteStore({ path, clock: () => 0 });
  expect(await store.events.search("number 3")).toMatchObject({ length: 10, 0: { event: "test:3" } });
  expect(await store.events.index(4)).toEqual({ indexed: 4, waiting: 6 });
  expect((await store.events.search("number 3"))[0]).toMatchObject({ event: "test:3" });
});
