import * as fc from "fast-check";
import { expect, test } from "vitest";

import type { MessageId } from "./ids.ts";
import { assistantBody, assistantMessage, type Block, callsOf, type Message, promptText } from "./message.ts";
import { NO_USAGE } from "./usage.ts";

const block = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text: fc.string() }),
  fc.record({ type: fc.constant("text" as const), text: fc.string(), textSignature: fc.string() }),
  fc.record({ type: fc.constant("thinking" as const), thinking: fc.string() }),
  fc.record({
    type: fc.constant("toolCall" as const),
    id: fc.string(),
    name: fc.string(),
    arguments: fc.constant({ a: 1 }),
  }),
);

function body(blocks: readonly Block[]) {
  return { blocks, stop: "stop", provider: "p", model: "m", usage: NO_USAGE, costUsd: null } as const;
}

test("an assistant message gives its body back, and its text is what the blocks say", () => {
  fc.assert(
    fc.property(fc.array(block), (blocks) => {
      const message = assistantMessage("id", body(blocks), 1);
      const stored = JSON.parse(JSON.stringify(message)) as Message;
      expect(assistantBody(stored)).toEqual(body(blocks));
      expect(stored.content).toBe(blocks.map((one) => ("text" in one ? one.text : "")).join(""));
    }),
  );
});

test("the text of an answer is kept once", () => {
  const message = assistantMessage("id", body([{ type: "text", text: "only once" }]), 1);
  expect(JSON.stringify(message).split("only once")).toHaveLength(2);
});

test("a message without a body says what its text says", () => {
  const message = { id: "id" as MessageId, role: "assistant", content: "hello", atMs: 1 } as const;
  expect(assistantBody(message).blocks).toEqual([{ type: "text", text: "hello" }]);
  expect(assistantBody({ ...message, content: "" }).blocks).toEqual([]);
});

test("only assistant messages make calls", () => {
  const call = { type: "toolCall", id: "1", name: "Read", arguments: {} } as const;
  const message = assistantMessage("id", body([call]), 1);
  expect(callsOf(message)).toEqual([call]);
  expect(callsOf({ ...message, role: "user" })).toEqual([]);
});

test("the model reads the envelope, what a hook added, and then the words", () => {
  const message = { id: "id" as MessageId, role: "user", content: "the words", atMs: 1 } as const;
  expect(promptText(message)).toBe("the words");
  expect(promptText({ ...message, body: { envelope: "[now]", extracted: "it is urgent" } })).toBe(
    "[now]\nit is urgent\nthe words",
  );
});
