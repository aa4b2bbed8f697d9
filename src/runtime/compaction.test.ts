/** What happens to a conversation that is longer than its model takes. The model here counts as real ones do. */
import { expect, test } from "vitest";

import { openTestCortex, testTool, writeHome } from "../../test/support/home.ts";
import {
  ask,
  compactions,
  COMPACTED_ONCE,
  continueThread,
  homeOf,
  isSummary,
  size,
  startCountingServer,
} from "../../test/support/long-conversation.ts";
import { startModelServer } from "../../test/support/model-server.ts";
import { memoryParent, temporaryFolder } from "../../test/support/temporary.ts";
import { testClock } from "../../test/support/sample.ts";
import { MAIN_SESSION } from "../model/session-key.ts";
import { openSqliteStore, type SqliteStore } from "../store/sqlite/sqlite-store.ts";
import { databasePath } from "../config/home.ts";

/** 625 tokens. */
const LONG = "word ".repeat(500);

test("a thread of 1,000 turns goes on in a small window, and is compacted once", async () => {
  expect(await continueThread(1_000)).toEqual(COMPACTED_ONCE);
});

test("a thread that goes on for long is compacted again and again, and never refused", async () => {
  const long = "It is a long story. ".repeat(100);
  await using server = await startCountingServer(4_000, () => ({ text: long }));
  await using cortex = await openTestCortex(homeOf(server, 4_000));

  for (let i = 0; i < 30; i++) expect((await ask(cortex, `go on ${i}`)).text).toBe(long);
  const { length } = await compactions(cortex.store);
  expect(length).toBeGreaterThan(2);
  expect(length).toBeLessThan(15);
  expect(server.summaries().at(-1)!.messages[1]!.text).toContain("SUMMARY: the code word is heron.");
  expect(server.turns()).toHaveLength(30);
  expect(server.problems).toEqual([]);
});

test("a session is compacting while its thread is summed up, and the compaction has taken that long", async () => {
  const summing = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  await using server = await startCountingServer(
    2_000,
    () => ({ text: LONG }),
    () => {
      summing.resolve();
      return gate.promise;
    },
  );
  const clock = testClock();
  await using cortex = await openTestCortex(homeOf(server, 2_000), { clock });
  const before = await cortex.store.changes.last();
  for (const content of ["one", "two", "three"]) await ask(cortex, content);
  const asking = ask(cortex, "four");
  await summing.promise;
  expect((await cortex.store.sessions.get(MAIN_SESSION))!.state).toBe("compacting");
  const [run] = await cortex.store.runs.active();
  expect(run).toMatchObject({ state: "running", isCompacting: true });

  clock.advance(2_500);
  gate.resolve();
  const { turn } = await asking;
  const { startedAtMs, completedAtMs } = (await cortex.store.turns.get(turn!.turn.parent!))!;
  expect(completedAtMs - startedAtMs).toBe(2_500);
  expect((await cortex.store.sessions.get(MAIN_SESSION))!.state).toBe("idle");
  const { changes } = await cortex.store.changes.since(before, { limit: 200 });
  const told = changes.flatMap((change) =>
    change.kind === "compacting" ? [[change.run, change.isBegun]] : [],
  );
  expect(told).toEqual([
    [run!.id, true],
    [run!.id, false],
  ]);
});

test("a run that was cut off while it summed its thread up compacts no more until it does so again", async () => {
  const summing = Promise.withResolvers<void>();
  await using server = await startCountingServer(
    2_000,
    () => ({ text: LONG }),
    () => {
      summing.resolve();
      return new Promise(() => {});
    },
  );
  using folder = temporaryFolder(memoryParent());
  const home = folder.path;
  writeHome(home, homeOf(server, 2_000));
  const cortex = await openTestCortex({}, { home });
  for (const content of ["one", "two", "three"]) await ask(cortex, content);
  await cortex.send({ content: "four" });
  await summing.promise;
  await (cortex.store as SqliteStore).crash();
  await using store = await openSqliteStore({ path: databasePath(home), clock: Date.now });
  expect((await store.sessions.get(MAIN_SESSION))!.state).toBe("queued");
  const [claim] = await store.queue.lease({ holder: "next", ttlMs: 60_000 }, 1);
  expect((await store.sessions.get(MAIN_SESSION))!.state).toBe("streaming");
  expect(await store.runs.get(claim!.run)).toMatchObject({ isCompacting: false });
  await cortex.stop().catch(() => {}); // its store is gone
});

test("a compaction is a turn of its own, which says what it has cost and what it has kept", async () => {
  await using server = await startCountingServer(2_000, () => ({ text: LONG }));
  await using cortex = await openTestCortex(homeOf(server, 2_000));
  const before = [await ask(cortex, "one"), await ask(cortex, "two"), await ask(cortex, "three")];
  const { turn } = await ask(cortex, "four");

  const compaction = (await cortex.store.turns.read(turn!.turn.parent!))!;
  expect(compaction.turn).toMatchObject({ type: "compaction", facts: { profile: "own", model: "m" } });
  expect(compaction.turn.facts.usage.input).toBeGreaterThan(100);
  expect(compaction.messages.map(({ content }) => content)).toEqual(["SUMMARY: the code word is heron."]);
  expect(compaction.turn.parent).toBe(before[2]!.turn!.turn.id);
  const kept = server
    .turns()
    .at(-1)!
    .messages.map(({ text }) => text.split("\n").at(-1));
  expect(kept).toContain("three");
  expect(kept).not.toContain("one");
});

test("a model that takes less than its profile says has its thread compacted when it refuses", async () => {
  await using server = await startCountingServer(2_000, () => ({ text: LONG }));
  await using cortex = await openTestCortex(homeOf(server, 100_000));

  for (const content of ["one", "two", "three", "four", "five", "six", "seven"])
    expect((await ask(cortex, content)).outcome.kind).toBe("turn");
  expect((await compactions(cortex.store)).length).toBeGreaterThan(0);
  expect((await cortex.store.queue.dead()).items).toEqual([]);
  expect(server.problems).toEqual([]);
});

test.each([
  ["refuses to", { fault: { status: 400, body: { error: { message: "No." } } } }, "none"],
  ["is too busy to", { fault: { status: 529 } }, "none"],
  ["writes far too much when it is to", { text: "word ".repeat(10_000) }, "m"],
  ["says nothing when it is to", { text: "" }, "m"],
])("where the model %s sum up, each turn becomes a line", async (_, reply, model) => {
  await using server = await startModelServer({
    strict: true,
    answer: (request) =>
      isSummary(request) ? reply : { text: LONG, usage: { input: size(request), output: 625 } },
  });
  await using cortex = await openTestCortex(homeOf(server, 2_000));
  for (const content of ["one", "two", "three"]) await ask(cortex, content);
  const { turn, text } = await ask(cortex, "four");

  expect(text).toContain("word");
  const compaction = (await cortex.store.turns.read(turn!.turn.parent!))!;
  expect(compaction.turn).toMatchObject({ type: "compaction", facts: { model } });
  expect(compaction.messages[0]!.content).toMatch(
    /^\(The earlier conversation was shortened without a model.*\n- one → word/s,
  );
  expect(compaction.messages[0]!.content.length).toBeLessThan(2_000 * 0.15 * 4 + 10);
  expect(server.problems).toEqual([]);
});

test("where the system prompt alone nearly fills the window, there is no compaction with every turn", async () => {
  await using server = await startCountingServer(100_000);
  const home = homeOf(server, 2_000);
  const agents = { main: { tools: [], systemPrompt: "word ".repeat(1_400) } };
  await using cortex = await openTestCortex({ ...home, cortex: { agents } });

  for (const content of ["one", "two", "three", "four"]) await ask(cortex, content);
  expect(size(server.turns().at(-1)!)).toBeGreaterThan(2_000 * 0.85);
  expect(await compactions(cortex.store)).toEqual([]);
});

test("a turn whose tools say too much goes on with less of it, and the ledger keeps all", async () => {
  const big = testTool("Big", async () => ({ kind: "done", result: { text: "x".repeat(6_000) } }));
  const calls = [1, 2, 3, 4, 5].map((n) => ({ calls: [{ name: "Big", arguments: { n } }] }));
  const rest = [...calls];
  await using server = await startCountingServer(4_000, () => rest.shift() ?? { text: "Read it all." });
  await using cortex = await openTestCortex(homeOf(server, 4_000), { tools: [big] });

  const { text, turn } = await ask(cortex, "read");
  expect(text).toBe("Read it all.");
  expect(big.calls).toHaveLength(5);
  expect(turn!.toolCalls.map(({ result }) => (result as { text: string }).text.length)).toEqual(
    Array.from({ length: 5 }, () => 6_000),
  );
  expect((await ask(cortex, "and now?")).text).toBe("Read it all.");
  expect((await cortex.store.runs.list({ state: "failed" })).items).toEqual([]);
  expect(server.problems).toEqual([]);
});

test("a message that is longer than the model takes is answered with that, once, and the session goes on", async () => {
  await using server = await startCountingServer(2_000);
  await using cortex = await openTestCortex(homeOf(server, 2_000));
  await ask(cortex, "hello");

  const { text, turn } = await ask(cortex, "word ".repeat(10_000));
  expect(text).toContain("exceed my context window");
  expect(turn!.turn.status).toBe("completed");
  expect(server.turns().length).toBeLessThan(5);
  expect((await ask(cortex, "and now?")).text).toBe("Yes.");
  expect(server.problems).toEqual([]);
});
