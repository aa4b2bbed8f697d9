import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { callTool, testWorkspace } from "../../../test/support/tool-context.ts";
import type { Json } from "../../model/json.ts";
import { OWNERS } from "../../model/trust.ts";
import {
  createMemorySearchTool,
  MAX_CHANNELS,
  MAX_HIT_SHOWN,
  MAX_MEMORY_HITS,
  MAX_SEARCH_LENGTH,
  type MemoryHit,
  type MemoryQuery,
} from "./memory-search.ts";

const hit: MemoryHit = {
  id: "telegram:5",
  kind: "event",
  atMs: Date.UTC(2026, 0, 31, 9, 30),
  channel: "telegram",
  sender: "Ada",
  text: "The tea\nis green.",
  label: { ...OWNERS, untrusted: ["person:ada"] },
  score: 2,
};

async function remember(hits: readonly MemoryHit[], params: Json) {
  using files = testWorkspace();
  const asked: { text: string; query: MemoryQuery }[] = [];
  const tool = createMemorySearchTool({
    search: async (text, query) => {
      asked.push({ text, query });
      return hits;
    },
  });
  return { ...(await callTool(tool, params, files.context)), asked };
}

test("hits come in order, with the ids to cite them by", async () => {
  const turn: MemoryHit = {
    id: "01JF6QZ2Z8B0H3F2S9Q6W7X4RD",
    kind: "turn",
    atMs: 0,
    text: "Green.",
    label: OWNERS,
    score: 1,
  };
  const { text, label, details } = await remember([hit, turn], { query: "tea" });
  expect(label).toEqual({ ...OWNERS, untrusted: ["person:ada"] });
  expect(text).toBe(
    "1. [telegram:5] event, 2026-01-31T09:30:00.000Z, telegram, Ada\nThe tea\nis green.\n\n" +
      "2. [01JF6QZ2Z8B0H3F2S9Q6W7X4RD] turn, 1970-01-01T00:00:00.000Z\nGreen.",
  );
  expect(details).toEqual([
    { id: "telegram:5", kind: "event", score: 2 },
    { id: "01JF6QZ2Z8B0H3F2S9Q6W7X4RD", kind: "turn", score: 1 },
  ]);
});

test("what is asked for is passed on", async () => {
  const all = {
    query: " tea ",
    limit: 3,
    channels: ["telegram"],
    since: "2026-01-31",
    until: "2026-02-01T00:00:00+01:00",
  };
  expect((await remember([], all)).asked).toEqual([
    {
      text: "tea",
      query: {
        limit: 3,
        channels: ["telegram"],
        sinceMs: Date.UTC(2026, 0, 31),
        untilMs: Date.UTC(2026, 0, 31, 23),
      },
    },
  ]);
  expect((await remember([], { query: "tea" })).asked).toEqual([{ text: "tea", query: { limit: 10 } }]);
});

test("nothing found is said", async () => {
  expect((await remember([], { query: "tea" })).text).toBe('No results for "tea".');
});

test("neither many nor long hits are more than the model is to get", async () => {
  const long = { ...hit, text: "x".repeat(MAX_HIT_SHOWN + 1) };
  const { text, details } = await remember(
    Array.from({ length: 20 }, () => long),
    { query: "tea", limit: 2 },
  );
  expect(details).toHaveLength(2);
  expect(text).toContain(`${"x".repeat(MAX_HIT_SHOWN)}…`);

  using files = testWorkspace();
  const wide = { ...hit, text: "€".repeat(MAX_HIT_SHOWN) };
  const tool = createMemorySearchTool({
    search: async () => Array.from({ length: MAX_MEMORY_HITS }, () => wide),
  });
  const most = await callTool(tool, { query: "tea", limit: MAX_MEMORY_HITS }, files.context);
  expect(most.text).toContain("[Truncated.");
  const kept = readFileSync(join(files.context.outputFolder, "turn-1-0.txt"), "utf8");
  expect(kept).toContain(`${MAX_MEMORY_HITS}. [telegram:5]`);
});

test("what it brings is private", () => {
  expect(createMemorySearchTool({ search: async () => [] })).toMatchObject({
    trust: { untrusted: true, private: true },
    writes: false,
    repeatable: true,
  });
});

test.each([
  [{}, '"query"'],
  [{ query: " " }, '"query"'],
  [{ query: "x".repeat(MAX_SEARCH_LENGTH + 1) }, '"query"'],
  [{ query: "x", limit: 0 }, '"limit"'],
  [{ query: "x", limit: MAX_MEMORY_HITS + 1 }, '"limit"'],
  [{ query: "x", channels: [] }, '"channels"'],
  [{ query: "x", channels: Array.from({ length: MAX_CHANNELS + 1 }, String) }, '"channels"'],
  [{ query: "x", since: "yesterday" }, '"since"'],
  [{ query: "x", until: "2026-02-30" }, '"until"'],
])("a call that cannot be made is refused (%#)", async (params, message) => {
  await expect(remember([], params)).rejects.toMatchObject({
    code: "tool_input_invalid",
    message: expect.stringContaining(message),
  });
});
