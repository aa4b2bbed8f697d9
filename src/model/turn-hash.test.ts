import * as fc from "fast-check";
import { expect, test } from "vitest";

import { type HashedMessage, type HashedToolCall, turnHash } from "./turn-hash.ts";

const messages: readonly HashedMessage[] = [
  { id: "01A", role: "user", content: "Hi", body: null, atMs: 1000 },
  { id: "01B", role: "assistant", content: "Hello", body: '{"thinking":"…"}', atMs: 2000 },
];
const toolCalls: readonly HashedToolCall[] = [
  {
    ordinal: 0,
    callId: "call_1",
    tool: "read",
    params: '{"path":"a"}',
    status: "ok",
    result: '"text"',
    childSession: null,
    startedAtMs: 1100,
    completedAtMs: 1200,
  },
];
const [user, assistant] = messages as [HashedMessage, HashedMessage];
const [call] = toolCalls as [HashedToolCall];
const parent = turnHash(undefined, messages, toolCalls);

// Computed with Python's hashlib. A hash that came out otherwise would make every ledger look forged.
test("the hash of a turn is what it always was", () => {
  expect(parent.toString("hex")).toBe("d39b9abb55570643adc9aaebfe5b66938d077a143045d8d4670eb3d3cafce241");
  expect(turnHash(parent, messages, toolCalls).toString("hex")).toBe(
    "be1a497e3cf9ebc7484d0bba2c7425d0aa059a3bbb67ad0f35d8e044c2cf346f",
  );
  expect(turnHash(undefined, [], []).toString("hex")).toBe(
    "643d5437104296e21d906ecb15b2c96ad278f20cfc4af53b12bb6069bd853726",
  );
});

const changedMessages: Readonly<Record<keyof HashedMessage, HashedMessage>> = {
  id: { ...assistant, id: "01C" },
  role: { ...assistant, role: "system" },
  content: { ...assistant, content: "Hello!" },
  body: { ...assistant, body: null },
  atMs: { ...assistant, atMs: 2001 },
};

test.each(Object.entries(changedMessages))("another %s of a message makes another hash", (_, changed) => {
  expect(turnHash(parent, [user, changed], toolCalls)).not.toEqual(turnHash(parent, messages, toolCalls));
});

const changedCalls: Readonly<Record<keyof HashedToolCall, HashedToolCall>> = {
  ordinal: { ...call, ordinal: 1 },
  callId: { ...call, callId: "call_2" },
  tool: { ...call, tool: "write" },
  params: { ...call, params: '{"path":"b"}' },
  status: { ...call, status: "error" },
  result: { ...call, result: null },
  childSession: { ...call, childSession: "agent:main:subagent:1" },
  startedAtMs: { ...call, startedAtMs: 1101 },
  completedAtMs: { ...call, completedAtMs: null },
};

test.each(Object.entries(changedCalls))("another %s of a tool call makes another hash", (_, changed) => {
  expect(turnHash(parent, messages, [changed])).not.toEqual(turnHash(parent, messages, toolCalls));
});

test.each<[string, Buffer]>([
  ["without its parent", turnHash(undefined, messages, toolCalls)],
  ["with another parent", turnHash(Buffer.alloc(32), messages, toolCalls)],
  ["with its messages in another order", turnHash(parent, [assistant, user], toolCalls)],
  ["without a message", turnHash(parent, [assistant], toolCalls)],
  ["without its tool calls", turnHash(parent, messages, [])],
  ["with a tool call twice", turnHash(parent, messages, [call, call])],
])("a turn %s has another hash", (_, hash) => {
  expect(hash).toHaveLength(32);
  expect(hash).not.toEqual(turnHash(parent, messages, toolCalls));
});

test("text cannot be moved from one field or message to the next without changing the hash", () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 1 }), fc.string(), (a, b, c) => {
      const hashOf = (first: string, second: string): string =>
        turnHash(
          undefined,
          [
            { ...user, content: first },
            { ...assistant, content: second },
          ],
          [],
        ).toString("hex");
      expect(hashOf(a + b, c)).not.toBe(hashOf(a, b + c));
    }),
  );
});

test("what is no part of the form of a row does not change the hash", () => {
  const withMore = { atMs: 1000, body: null, content: "Hi", role: "user", id: "01A", extra: 1 };
  expect(turnHash(parent, [withMore, assistant], toolCalls)).toEqual(turnHash(parent, messages, toolCalls));
});
