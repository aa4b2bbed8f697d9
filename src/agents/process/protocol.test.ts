import * as fc from "fast-check";
import { expect, test } from "vitest";

import { CortexError } from "../../model/errors.ts";
import { parseChildLine, parseParentLine } from "./protocol.ts";

test.each([
  [{ type: "ready" }, { type: "ready", version: 1 }],
  [
    { type: "ready", version: 2 },
    { type: "ready", version: 2 },
  ],
  [
    { type: "chunk", delta: "x" },
    { type: "chunk", delta: "x" },
  ],
  [
    { type: "tool_request", id: "a", name: "Read" },
    { type: "tool_request", id: "a", name: "Read", arguments: {} },
  ],
  [
    { type: "done", result: { response: "x", costUsd: null } },
    { type: "done", result: { success: true, response: "x", costUsd: null } },
  ],
  [
    { type: "error", error: "x", transient: true, retryAfterMs: 5, tokensIn: 1 },
    { type: "error", error: "x", transient: true, retryAfterMs: 5, tokensIn: 1 },
  ],
])("the line %j of a child is understood", (line, expected) => {
  expect(parseChildLine(JSON.stringify(line))).toMatchObject(expected);
});

test.each([
  [{}, '"type" is not a string'],
  [{ type: "exit" }, 'unknown type "exit"'],
  [{ type: "init" }, 'unknown type "init"'],
  [{ type: "ready", version: "2" }, '"version" is not a non-negative number'],
  [{ type: "ready", version: 1.5 }, '"version" is not an integer'],
  [{ type: "ready", id: 4 }, '"id" is not a string'],
  [{ type: "chunk" }, '"delta" is not a string'],
  [{ type: "tool_request", name: "Read" }, '"id" is not a string'],
  [{ type: "tool_request", id: "a", name: "Read", arguments: [] }, '"arguments" is not an object'],
  [{ type: "message", message: "Hello" }, '"message" is not an object'],
  [{ type: "message", message: { body: { blocks: [{ type: "image" }] } } }, "expected a block of type text"],
  [{ type: "message", message: { body: { blocks: {} } } }, '"blocks" is not a list of objects'],
  [
    { type: "message", message: { body: { blocks: [], usage: { input: -1 } } } },
    '"input" is not a non-negative number',
  ],
  [{ type: "done" }, '"result" is not an object'],
  [{ type: "done", result: { response: 4 } }, '"response" is not a string'],
  [{ type: "done", result: { response: "x", costUsd: -1 } }, '"costUsd" is not a non-negative number'],
  [{ type: "error" }, '"error" is not a string'],
])("the line %j of a child is refused", (line, message) => {
  expect(() => parseChildLine(JSON.stringify(line))).toThrow(message);
});

test("a number that is beyond all numbers is refused", () => {
  const line = '{"type":"done","result":{"response":"x","tokensIn":1e999}}';
  expect(() => parseChildLine(line)).toThrow('"tokensIn" is not a non-negative number');
});

test("an assistant message keeps the signatures of its blocks, and nothing that nobody knows", () => {
  const blocks = [
    { type: "thinking", thinking: "hm", thinkingSignature: "s1", redacted: true, other: 1 },
    { type: "text", textSignature: "s2" },
    { type: "toolCall", id: "a", name: "Read", arguments: { path: "a" }, thoughtSignature: "s3" },
  ];
  const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 5 };
  const body = { blocks, stop: "tools", provider: "p", model: "m", api: "a", usage, costUsd: null };
  const line = parseChildLine(JSON.stringify({ type: "message", message: { content: "Hello", body } }));
  expect(line).toEqual({
    type: "message",
    id: undefined,
    message: {
      ...body,
      blocks: [
        { type: "thinking", thinking: "hm", thinkingSignature: "s1", redacted: true },
        { type: "text", text: "Hello", textSignature: "s2" },
        blocks[2],
      ],
    },
  });
});

test("whatever a line holds, it is understood or refused with a reason", () => {
  const value = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...NAMES), fc.jsonValue()));
  const line = fc.oneof(
    fc.string(),
    value.map((each) => JSON.stringify(each)),
    fc
      .tuple(fc.constantFrom(...TYPES), value)
      .map(([type, each]) => JSON.stringify({ ...(each as object), type })),
  );
  fc.assert(
    fc.property(line, fc.constantFrom(parseChildLine, parseParentLine), (text, parse) => {
      expect(["sub_agent_failed", undefined]).toContain(problemOf(() => parse(text)));
    }),
  );
});

function problemOf(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    return error instanceof CortexError ? error.code : String(error);
  }
}

const TYPES = ["ready", "chunk", "message", "tool_request", "done", "error", "pong", "init", "tool_result"];
const NAMES = [
  "id",
  "message",
  "result",
  "config",
  "agentConfig",
  "conversation",
  "delta",
  "body",
  "blocks",
  "tools",
];
