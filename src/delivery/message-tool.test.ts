import { expect, test } from "vitest";

import { callTool, EVERYTHING, testWorkspace } from "../../test/support/tool-context.ts";
import type { TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { ToolContext } from "../model/tool.ts";
import { isUlid } from "../model/ulid.ts";
import { createMessageTool, MAX_SENT_LENGTH, type SentMessage } from "./message-tool.ts";

const turn = "01JF6QZ2Z8B0H3F2S9Q6W7X4RD" as TurnId;
const hello = { channel: "webhook", place: "shop", content: "Hello" };

/** Makes the calls one after the other, and gives what came into the outbox. */
async function send(calls: readonly Json[], fields: Partial<ToolContext> = {}) {
  using files = testWorkspace({ turn, callKey: `${turn}-0`, ...fields });
  const sent: SentMessage[] = [];
  const tool = createMessageTool({
    add: async (_, delivery) => void sent.push(delivery),
    channels: () => ["webhook", "telegram"],
  });
  const texts: string[] = [];
  for (const params of calls) texts.push((await callTool(tool, params, files.context)).text);
  return { sent, texts };
}

test("a message goes to the outbox, and the agent is told its id", async () => {
  const { sent, texts } = await send([{ ...hello, topic: "orders" }]);
  expect(sent).toEqual([
    {
      id: expect.stringMatching(/^01JF6QZ2Z8/),
      target: { channel: "webhook", place: "shop", topic: "orders" },
      content: "Hello",
    },
  ]);
  expect(texts).toEqual([`Message to "shop" on webhook queued as delivery ${sent[0]!.id}.`]);
});

test("the same call has the same id whenever it is made, and another call another", async () => {
  const { sent: first } = await send([hello, hello]);
  const { sent: other } = await send([hello], { callKey: `${turn}-1` });
  expect(first[0]!.id).toBe(first[1]!.id);
  expect(isUlid(first[0]!.id)).toBe(true);
  expect(other[0]!.id).not.toBe(first[0]!.id);
});

test("places and topics that are numbers are taken", async () => {
  const { sent } = await send([{ channel: "telegram", place: -100123, topic: 5, content: "Hello" }]);
  expect(sent[0]!.target).toEqual({ channel: "telegram", place: "-100123", topic: "5" });
});

test("tags are taken out of the text, and a reply replies", async () => {
  const { sent } = await send([
    { ...hello, content: "[[reply_to:77]] Yes" },
    { ...hello, content: "[[reply_to_current]]Yes" },
  ]);
  expect(sent).toMatchObject([{ replyTo: "77", content: "Yes" }, { content: "Yes" }]);
  expect(sent[1]).not.toHaveProperty("replyTo");
  await expect(send([{ ...hello, content: "NO_REPLY" }])).rejects.toMatchObject({
    code: "tool_input_invalid",
  });
});

test("a channel that the persona may not send to is refused, known or not", async () => {
  const permissions = { ...EVERYTHING, channels: [["*"], ["tele*"]] };
  for (const channel of ["webhook", "discord"]) {
    await expect(send([{ ...hello, channel }], { permissions })).rejects.toMatchObject({
      code: "delivery_refused",
      message: `This agent is not allowed to send to the channel "${channel}"`,
      hint: expect.stringContaining("permissions.channels"),
    });
  }
  expect((await send([{ ...hello, channel: "telegram" }], { permissions })).sent).toHaveLength(1);
});

test("a channel that is not configured is refused with those that are and may be used", async () => {
  await expect(send([{ ...hello, channel: "discord" }])).rejects.toMatchObject({
    code: "delivery_refused",
    message: 'Unknown channel "discord"',
    hint: "Configured channels: webhook, telegram.",
  });
  const permissions = { ...EVERYTHING, channels: [["telegram", "discord"]] };
  await expect(send([{ ...hello, channel: "discord" }], { permissions })).rejects.toMatchObject({
    hint: "Configured channels: telegram.",
  });
});

test.each([
  ["buttons", { buttons: ["Yes", "No"] }],
  ["poll", { poll: { question: "Tea?", options: ["Yes", "No"] } }],
  ["embed", { embed: { title: "News" } }],
  ["voice", { voice: true }],
  ["voice", { content: "[[audio_as_voice]]Hello" }],
])("%s are not dropped silently where the channel cannot show them", async (name, extra) => {
  await expect(send([{ ...hello, ...extra }])).rejects.toMatchObject({
    code: "delivery_refused",
    message: `Not supported on the channel "webhook": ${name}`,
    hint: expect.stringContaining("Nothing was sent"),
  });
  expect((await send([{ ...hello, voice: false }])).sent).toHaveLength(1);
});

test("it has an effect outside, which is had once", () => {
  const tool = createMessageTool({ add: async () => {}, channels: () => [] });
  expect(tool).toMatchObject({ trust: { outward: true }, writes: true, repeatable: true });
});

test.each([
  [{ channel: "webhook", content: "Hello" }, '"place"'],
  [{ ...hello, place: " " }, '"place"'],
  [{ ...hello, content: "" }, '"content"'],
  [{ ...hello, content: "x".repeat(MAX_SENT_LENGTH + 1) }, '"content"'],
  [{ ...hello, poll: { question: "?", options: ["one"] } }, '"poll.options"'],
  [{ ...hello, colour: "red" }, '"colour"'],
])("a call that cannot be made is refused (%#)", async (params, message) => {
  await expect(send([params])).rejects.toMatchObject({
    code: "tool_input_invalid",
    message: expect.stringContaining(message),
  });
});
