import * as fc from "fast-check";
import { expect, test } from "vitest";

import { calls, says, spoken } from "../../test/support/scripted-model.ts";
import { message } from "../../test/support/sample.ts";
import { compactionTurn, spokenTurn, turnContent } from "../../test/support/thread.ts";
import { explainContext, type Given } from "./context.ts";
import { measure } from "./thread.ts";
import { withMemory } from "./memory.ts";

const tool = { name: "Read", description: "Reads.", parameters: { type: "object" } };
const NOTHING: Given = {
  system: { text: "", parts: [] },
  tools: [],
  thread: { compaction: undefined, turns: [] },
  current: { messages: [], toolCalls: [] },
};

const words = fc.string({ maxLength: 40 });
const given: fc.Arbitrary<Given> = fc.record({
  system: fc.array(words).map((texts) => ({
    text: texts.filter((text) => text !== "").join("\n\n"),
    parts: texts.map((text, at) => ({ name: `part ${at}`, text })),
  })),
  tools: fc.array(words.map((description) => ({ ...tool, description }))),
  thread: fc.record({
    compaction: fc.option(
      words.map((summary) => compactionTurn(5, summary)),
      { nil: undefined },
    ),
    turns: fc.array(fc.tuple(words, words).map(([query, answer]) => spokenTurn(6, query, answer))),
  }),
  current: fc.record({
    messages: fc.array(
      fc
        .tuple(words, fc.option(words, { nil: undefined }))
        .map(([text, memory]) => withMemory(message("q", "user", text), memory)),
    ),
    toolCalls: fc.constant([]),
  }),
});

test("the parts add up to what a run measures, to the token", () => {
  fc.assert(
    fc.property(given, (all) => {
      const sum = explainContext(all).reduce((total, { tokens }) => total + tokens, 0);
      expect(sum).toBe(measure({ ...all, system: all.system.text }).estimated);
    }),
  );
});

test("each part is told of by its name and its words", () => {
  const query = withMemory(message("q", "user", "what now?"), "From the ledger");
  const parts = explainContext({
    system: {
      text: "# A",
      parts: [
        { name: "AGENTS.md", text: "# A", note: "it is cut" },
        { name: "SOUL.md", text: "" },
      ],
    },
    tools: [tool],
    thread: { compaction: compactionTurn(1, "long ago"), turns: [spokenTurn(2, "hi", "hello")] },
    current: { messages: [query], toolCalls: [] },
  });
  expect(parts.map(({ kind, name, turn, note, text }) => [kind, name, turn, note, text()])).toEqual([
    ["system", "AGENTS.md", undefined, "it is cut", "# A"],
    ["system", "SOUL.md", undefined, undefined, ""],
    ["tools", "Read", undefined, undefined, 'Read: Reads.\n{"type":"object"}'],
    ["history", "compaction", "turn-1", undefined, expect.stringMatching(/so far\?\nlong ago$/)],
    ["history", "hi", "turn-2", undefined, "hi\nhello"],
    ["memory", "from the ledger", undefined, undefined, "From the ledger"],
    ["message", "what now?", undefined, undefined, "what now?"],
  ]);
});

test("what a turn under way has done so far is a part of its own", () => {
  const messages = [message("q", "user", "go"), spoken("a", calls("Read"))];
  const toolCalls = turnContent(1, [], {
    toolCalls: [
      {
        ordinal: 0,
        callId: "c",
        tool: "Read",
        params: {},
        status: "ok",
        result: { text: "x".repeat(400) },
        startedAtMs: 0,
      },
    ],
  }).toolCalls;
  const parts = explainContext({ ...NOTHING, current: { messages, toolCalls } });
  expect(parts.map(({ kind, name }) => [kind, name])).toEqual([
    ["message", "go"],
    ["message", "done so far"],
  ]);
  expect(parts[1]!.tokens).toBeGreaterThan(100);
  expect(
    explainContext({ ...NOTHING, current: { messages: [spoken("a", says("ok"))], toolCalls: [] } }),
  ).toHaveLength(1);
});
