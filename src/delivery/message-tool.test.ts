import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { callTool, EVERYTHING, testWorkspace } from "../../test/support/tool-context.ts";
import { OutgoingFiles } from "../agents/tools/outgoing-file.ts";
import { type OutletCan, TEXT_ONLY } from "../channels/outlet.ts";
import type { TurnId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { ToolContext } from "../model/tool.ts";
import { isUlid } from "../model/ulid.ts";
import { createMessageTool, MAX_SENT_LENGTH, type SentMessage } from "./message-tool.ts";

const turn = "01JF6QZ2Z8B0H3F2S9Q6W7X4RD" as TurnId;
const hello = { channel: "webhook", place: "shop", content: "Hello" };

const CAN: Readonly<Record<string, OutletCan>> = {
  webhook: TEXT_ONLY,
  telegram: {
    attach: { maxBytes: 1_024 },
    buttons: 8,
    edit: true,
    embeds: false,
    polls: true,
    startThread: true,
    voice: true,
  },
  discord: { ...TEXT_ONLY, attach: { maxBytes: 1_024 }, embeds: true },
};

interface Sending extends Partial<ToolContext> {
  /** The files of the workspace. */
  readonly has?: Readonly<Record<string, string>>;
  readonly isThere?: boolean;
}

/** Makes the calls one after the other, and gives what came into the outbox. */
async function send(calls: readonly Json[], { has = {}, isThere = false, ...fields }: Sending = {}) {
  using workspace = testWorkspace({ turn, callKey: `${turn}-0`, ...fields });
  for (const [name, text] of Object.entries(has))
    writeFileSync(join(workspace.context.workspace, name), text);
  const sent: SentMessage[] = [];
  const kept: string[] = [];
  const tool = createMessageTool({
    add: async (_, delivery) => void sent.push(delivery),
    has: async () => isThere,
    channels: () => Object.keys(CAN),
    can: (channel) => CAN[channel],
    files: new OutgoingFiles(async (content) => {
      kept.push(Buffer.from(content).toString());
      return createHash("sha256").update(content).digest("hex");
    }),
  });
  const texts: string[] = [];
  for (const params of calls) texts.push((await callTool(tool, params, workspace.context)).text);
  return { sent, texts, kept, tool };
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
  for (const channel of ["webhook", "slack"]) {
    await expect(send([{ ...hello, channel }], { permissions })).rejects.toMatchObject({
      code: "delivery_refused",
      message: `This agent is not allowed to send to the channel "${channel}"`,
      hint: expect.stringContaining("permissions.channels"),
    });
  }
  expect((await send([{ ...hello, channel: "telegram" }], { permissions })).sent).toHaveLength(1);
});

test("a channel that is not configured is refused with those that are and may be used", async () => {
  await expect(send([{ ...hello, channel: "slack" }])).rejects.toMatchObject({
    code: "delivery_refused",
    message: 'Unknown channel "slack"',
    hint: "Configured channels: webhook, telegram, discord.",
  });
  const permissions = { ...EVERYTHING, channels: [["telegram", "slack"]] };
  await expect(send([{ ...hello, channel: "slack" }], { permissions })).rejects.toMatchObject({
    hint: "Configured channels: telegram.",
  });
});

const toAda = { channel: "telegram", place: "42", content: "Here" };

test("a file is kept by its hash, and the delivery names it", async () => {
  const has = { "plan.txt": "the plan", "talk.ogg": "OggS…" };
  const { sent, kept } = await send(
    [{ ...toAda, files: ["plan.txt", { path: "talk.ogg", name: "note.ogg" }] }],
    {
      has,
    },
  );
  expect(kept).toEqual(["the plan", "OggS…"]);
  expect(sent[0]!.extras!.files).toEqual([
    {
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      name: "plan.txt",
      contentType: "text/plain",
      bytes: 8,
    },
    expect.objectContaining({ name: "note.ogg", contentType: "audio/ogg" }),
  ]);
});

test("an attachment of the thread is sent by its hash, and any other hash is no file", async () => {
  const content = "%PDF-1.7";
  const sha256 = createHash("sha256").update(content).digest("hex");
  using elsewhere = testWorkspace();
  const path = join(elsewhere.outside, sha256);
  writeFileSync(path, content);
  const files = [{ ...toAda, files: [sha256] }];
  const { sent } = await send(files, { readable: [path] });
  expect(sent[0]!.extras!.files).toMatchObject([
    { sha256, name: "file.pdf", contentType: "application/pdf" },
  ]);
  await expect(send(files)).rejects.toMatchObject({ message: expect.stringContaining("no such file") });
});

test("a file that the agent may not read, is a folder, empty or too large is refused with the reason", async () => {
  const has = { "large.bin": "x".repeat(5_120), "empty.txt": "" };
  const refused = async (path: string) =>
    send([{ ...toAda, files: [path] }], { has }).catch((error) => error);
  expect(await refused("../outside/diary")).toMatchObject({ code: "path_forbidden" });
  expect(await refused("large.bin")).toMatchObject({
    message: '"large.bin" has 5.0 KB',
    hint: expect.stringContaining("Files on telegram have at most 1.0 KB"),
  });
  expect(await refused("empty.txt")).toMatchObject({ message: '"empty.txt" is empty' });
  expect(await refused(".")).toMatchObject({ message: expect.stringContaining("is a folder") });
});

test("buttons, a poll, a thread and a voice note are sent where the channel has them", async () => {
  const has = { "a.ogg": "OggS" };
  const poll = { question: "Tea?", options: ["Yes", "No"] };
  const more = { buttons: ["Yes", "x".repeat(70)], poll, startThread: "Tea", files: ["a.ogg"], voice: true };
  const { sent, texts } = await send([{ ...toAda, ...more }], { has });
  expect(sent[0]!.content).toBe("Here");
  expect(sent[0]!.extras).toEqual({
    thread: { name: "Tea" },
    buttons: [
      { label: "Yes", data: "say:Yes" },
      { label: "x".repeat(70), data: `say:${"x".repeat(60)}` },
    ],
    poll,
    files: [expect.objectContaining({ voice: true })],
  });
  expect(texts[0]).toMatch(/queued as delivery \w+\.$/);
});

test("what a channel lacks becomes text, and the agent is told", async () => {
  const more = {
    embed: { title: "News", description: "one\ntwo" },
    poll: { question: "Tea?", options: ["Yes", "No"] },
    buttons: ["Go", "Stop"],
  };
  const { sent, texts } = await send([{ ...hello, ...more }]);
  expect(sent[0]).not.toHaveProperty("extras");
  expect(sent[0]!.content).toBe(
    "Hello\n\n**News**\n\n> one\n> two\n\n**Tea?**\n\n1. Yes\n2. No\n\n1. Go\n2. Stop",
  );
  expect(texts[0]).toContain("The embed is shown as text. webhook has no polls:");
  expect(texts[0]).toContain("webhook has no buttons:");
});

test("an embed stays one where the channel shows it below a text", async () => {
  const embed = { title: "News" };
  const { sent } = await send([
    { ...hello, channel: "discord", embed },
    { channel: "discord", place: "1", embed },
  ]);
  expect(sent.map(({ content, extras }) => [content, extras])).toEqual([
    ["Hello", { embed }],
    ["**News**", undefined],
  ]);
});

test("a voice note is a file where the channel has none", async () => {
  const has = { "a.ogg": "OggS" };
  const { sent, texts } = await send([{ ...hello, channel: "discord", files: ["a.ogg"], voice: true }], {
    has,
  });
  expect(sent[0]!.extras!.files![0]).not.toHaveProperty("voice");
  expect(texts[0]).toContain("discord has no voice notes: audio is sent as a file.");
});

test.each([
  [{ files: ["a.txt"] }, "cannot send files"],
  [{ startThread: "Tea" }, "cannot start threads"],
])("what has no likeness in text is refused, and nothing is sent (%#)", async (more, message) => {
  await expect(send([{ ...hello, ...more }], { has: { "a.txt": "a" } })).rejects.toMatchObject({
    code: "delivery_refused",
    message: expect.stringContaining(message),
    hint: expect.stringContaining("Nothing was sent"),
  });
});

test("a call that is made again after a crash does not need its files any more", async () => {
  const { sent, texts } = await send([{ ...toAda, files: ["gone.txt"] }], { isThere: true });
  expect(sent).toEqual([]);
  expect(texts[0]).toContain("queued as delivery");
});

test("a call with files says more than its parameters, is bound to them, and is sent as it was judged", async () => {
  const { tool } = await send([]);
  expect(tool.says!(hello)).toEqual({ kind: "text" });
  expect(tool.says!({ ...toAda, files: ["a.txt"] })).toBeUndefined();

  using workspace = testWorkspace();
  mkdirSync(join(workspace.context.workspace, "out"));
  const path = join(workspace.context.workspace, "out", "a.txt");
  writeFileSync(path, "a");
  const ofFile = async () => ({ untrusted: [], private: ["person:bob"], denied: [] });
  const labels = { ofFile } as unknown as ToolContext["labels"];
  const call = { ...toAda, files: ["out/a.txt"] };
  expect(await tool.sends!(call, { ...workspace.context, labels })).toMatchObject({
    private: ["person:bob"],
  });
  expect(await tool.sends!(hello, workspace.context)).toBeUndefined();
  const digest = { path, sha256: createHash("sha256").update("a").digest("hex") };
  expect(await tool.proposal!(call, workspace.context)).toEqual({ files: [digest] });
  expect(await tool.proposal!(hello, workspace.context)).toBeUndefined();

  const judged = { ...workspace.context, labels, sends: { untrusted: [], private: [], denied: [] } };
  await expect(tool.run(call, judged)).rejects.toMatchObject({
    message: '"out/a.txt" changed during the call',
  });
  const agreed = [{ path, sha256: "0".repeat(64) }];
  await expect(tool.run(call, { ...workspace.context, agreed })).rejects.toMatchObject({
    code: "tool_failed",
  });
});

test("it has an effect outside, which is had once", async () => {
  const { tool } = await send([]);
  expect(tool).toMatchObject({ trust: { outward: true }, writes: true, repeatable: true });
});

test.each([
  [{ channel: "webhook", content: "Hello" }, '"place"'],
  [{ ...hello, place: " " }, '"place"'],
  [{ ...hello, content: "" }, "The message is empty"],
  [{ ...hello, content: "[[audio_as_voice]]", embed: {} }, "The embed is empty"],
  [{ ...hello, buttons: ["/approve"] }, '"buttons[0]"'],
  [
    { ...hello, content: "", poll: { question: "?", options: ["a", "b"] }, buttons: ["Go"] },
    "Buttons need a text",
  ],
  [{ ...hello, voice: true }, "no audio"],
  [{ ...hello, topic: 5, startThread: "Tea" }, "not to both"],
  [{ ...hello, files: [{ path: "a", name: "../b" }] }, '"files'],
  [{ ...hello, content: "x".repeat(MAX_SENT_LENGTH + 1) }, '"content"'],
  [{ ...hello, poll: { question: "?", options: ["one"] } }, '"poll.options"'],
  [{ ...hello, colour: "red" }, '"colour"'],
])("a call that cannot be made is refused (%#)", async (params, message) => {
  await expect(send([params])).rejects.toMatchObject({
    code: "tool_input_invalid",
    message: expect.stringContaining(message),
  });
});
