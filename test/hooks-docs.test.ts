/** The hooks that docs/hooks.md shows, dropped into a home as they are. */
import { expect, test } from "vitest";

import { POOL_LIMITS } from "../src/hooks/run/pool.ts";
import { parseHeader } from "../src/hooks/folder/parse-header.ts";
import { CIRCUIT_ERRORS, CIRCUIT_REST_MS, MAX_HOOK_RESULT_BYTES } from "../src/store/store.ts";
import type { Cortex } from "../src/runtime/cortex.ts";
import { blocksOf, readPage } from "./support/docs.ts";
import { openTestCortex } from "./support/home.ts";
import { judge } from "./support/judged.ts";
import { PATIENT } from "./support/server.ts";

const page = readPage("docs/hooks.md");
const examples = new Map(blocksOf(page, "ts").map((source) => [parseHeader(source).title!, source]));

const PAIRED = [
  { channel: "email", sender: "billing@shop.example" },
  { channel: "email", sender: "boss@work.example" },
];

async function open(title: string, script = "[]"): Promise<Cortex> {
  const cortex = await openTestCortex(
    {
      cortex: { timezone: "UTC", channels: { paired: PAIRED } },
      script,
      hooks: { "example.ts": examples.get(title)! },
    },
    { clock: () => Date.UTC(2026, 2, 1, 3, 7) },
  );
  await expect.poll(() => cortex.store.hooks.get("example"), PATIENT).toMatchObject({ state: "active" });
  return cortex;
}

test("the page has the examples that are tried here", () => {
  expect([...examples.keys()]).toEqual(["Invoices", "Urgent emails", "Plants"]);
});

test("invoices go to the bookkeeping, with their amount", async () => {
  await using cortex = await open("Invoices");
  const mail = { channel: "email", sender: "billing@shop.example" };
  const { runs, dispatches } = await judge(cortex, {
    ...mail,
    content: "Your Invoice: 20,50 €, due on Friday",
  });
  expect(runs).toMatchObject([{ fired: true, result: { context: { extracted: { amount: "20,50" } } } }]);
  expect(dispatches).toMatchObject([{ session: "bookkeeping" }]);
  expect((await judge(cortex, { ...mail, content: "An invoice without a price" })).runs).toMatchObject([
    { fired: false },
  ]);
  expect((await judge(cortex, { ...mail, content: "20 € for nothing" })).runs).toEqual([]);
});

test("a model says which emails from work are urgent, and what belongs to them is looked up", async () => {
  const script = `
- { when: server is down, plays: [{ say: '{"urgent": true, "why": "nobody can work"}' }] }
- { when: lunch, plays: [{ say: '{"urgent": false, "why": "it is lunch"}' }] }`;
  await using cortex = await open("Urgent emails", script);
  const mail = { channel: "email", sender: "boss@work.example" };
  const { runs, dispatches } = await judge(cortex, { ...mail, content: "The server is down" });
  expect(runs).toMatchObject([
    { fired: true, llmCalls: 1, result: { context: { extracted: { why: "nobody can work" } } } },
  ]);
  expect(dispatches).toMatchObject([{ session: "agent:main:main" }]);
  expect((await judge(cortex, { ...mail, content: "What is for lunch?" })).dispatches).toEqual([]);
});

test("the plants are remembered on every other day, unless somebody has watered them", async () => {
  await using cortex = await open("Plants");
  const tick = (time: string) =>
    judge(cortex, { channel: "timer", sourceId: time, timestampMs: Date.parse(`${time}:00Z`) });
  expect((await tick("2026-03-01T09:00")).dispatches).toMatchObject([{ session: "agent:main:cron:plants" }]);
  expect((await tick("2026-03-02T09:00")).runs).toEqual([]);
  await judge(cortex, { content: "I watered the plants", timestampMs: Date.UTC(2026, 2, 3, 8) });
  expect((await tick("2026-03-03T09:00")).runs).toMatchObject([{ fired: false }]);
});

test("the page tells the limits as they are", () => {
  const minutes = CIRCUIT_REST_MS / 60_000;
  for (const limit of [
    `${POOL_LIMITS.deadlineMs / 1_000} seconds, ${POOL_LIMITS.llmDeadlineMs / 1_000} once it has asked a model`,
    `${CIRCUIT_ERRORS}; then it is paused (\`open\`) for ${minutes} minutes`,
    `${MAX_HOOK_RESULT_BYTES / 1_024} KiB`,
    `${POOL_LIMITS.memoryMb} MB`,
  ])
    expect(page).toContain(limit);
});
