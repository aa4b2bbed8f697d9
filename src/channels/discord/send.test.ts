/** What goes out to a played Discord, which checks each request against Discord's own description. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";

import {
  BOT,
  type DiscordFault,
  DM,
  type FakeDiscord,
  GENERAL,
  startDiscord,
} from "../../../test/support/fake-discord.ts";
import { channelSettings } from "../../config/channels-schema.ts";
import { renderRichText } from "../../model/cut-rich-text.ts";
import { HOUR_MS } from "../../model/durations.ts";
import { parseRichText } from "../../model/parse-rich-text.ts";
import { createUlidSource } from "../../model/ulid.ts";
import type { OutgoingMessage } from "../channel.ts";
import { discord as module } from "./discord.ts";

const CREATE = "POST /channels/*/messages";
const signal = AbortSignal.timeout(600_000);

/** An Ogg Opus file, as far as its length is concerned: two seconds. */
const OPUS = Buffer.concat([
  Buffer.from("OggS\0\x02"),
  Buffer.alloc(22),
  Buffer.from("OpusHead"),
  lastPage(96_000),
]);

function lastPage(samples: number): Buffer {
  const page = Buffer.alloc(28);
  page.write("OggS\0\x04", "latin1");
  page.writeBigUInt64LE(BigInt(samples), 6);
  return page;
}

function open(discord: FakeDiscord, clock: () => number = Date.now) {
  const settings = channelSettings.discord.parse({ apiUrl: discord.apiUrl });
  const content: Record<string, Buffer> = { text: Buffer.from("a text"), opus: OPUS };
  const ports = {
    account: "default",
    secret: () => discord.token,
    fetch,
    clock,
    log: () => {},
    readFile: async (sha256: string) => content[sha256]!,
  };
  return { connection: module.open(settings, ports), probe: () => module.probe(settings, ports) };
}

let keys = 0;

function message(more: Partial<OutgoingMessage> = {}, madeAtMs = Date.now()): OutgoingMessage {
  const delivery = createUlidSource(() => madeAtMs)() as OutgoingMessage["delivery"];
  return {
    key: `${delivery}-${keys++}`,
    delivery,
    turn: undefined,
    address: { channel: "discord", place: DM },
    chunk: 0,
    chunks: 1,
    content: "hello",
    replyTo: undefined,
    attempt: 1,
    repeat: false,
    ...more,
  };
}

const file = { kind: "file", name: "a.txt", contentType: "text/plain", sha256: "text", bytes: 6 } as const;

test("each kind of message arrives as it is meant, and is as Discord describes it", async () => {
  await using discord = await startDiscord();
  const { connection } = open(discord);
  const said = discord.say("question", { channel: GENERAL });
  const address = { channel: "discord", place: GENERAL };
  const send = (more: Partial<OutgoingMessage>) => connection.send(message({ address, ...more }), signal);
  const buttons = Array.from({ length: 7 }, (_, n) => ({ label: `Button ${n}`, data: `b${n}` }));
  const { platformId = "" } = await send({
    content: "@everyone <@42>",
    replyTo: said,
    buttons,
    embed: { title: "Title", description: "more" },
  });
  await send({ part: { kind: "poll", question: "When?", options: ["now", "never"] } });
  await send({ part: file });
  await send({
    part: {
      ...file,
      name: "note.ogg",
      contentType: "audio/ogg",
      sha256: "opus",
      bytes: OPUS.length,
      voice: true,
    },
  });
  await send({ part: { ...file, voice: true } });
  const [text, poll, plain, voice, notVoice] = discord.requests
    .filter(({ method }) => method === "POST")
    .map(({ body }) => body);
  expect(text).toMatchObject({
    allowed_mentions: { parse: [], replied_user: false },
    message_reference: { message_id: said, fail_if_not_exists: false },
    enforce_nonce: true,
    components: [
      { components: buttons.slice(0, 5).map(({ data }) => ({ custom_id: data })) },
      { components: [{ custom_id: "b5" }, { custom_id: "b6" }] },
    ],
    embeds: [{ title: "Title", description: "more" }],
  });
  expect(poll.poll).toMatchObject({
    question: { text: "When?" },
    answers: [{ poll_media: { text: "now" } }, { poll_media: { text: "never" } }],
  });
  expect(plain).not.toHaveProperty("flags");
  expect(voice).toMatchObject({ flags: 1 << 13, attachments: [{ filename: "note.ogg", duration_secs: 2 }] });
  expect(notVoice).not.toHaveProperty("flags");
  expect(discord.file(discord.sent[2].attachments[0].url)?.toString()).toBe("a text");

  expect(await send({ content: "better", edits: platformId })).toEqual({ platformId });
  expect(discord.sent[0]).toMatchObject({ content: "better", components: [], embeds: [] });
  const at = { ...address, messageId: platformId };
  await connection.edit!(at, "best", signal);
  await connection.react!(at, "👍", signal);
  await connection.typing!(address, signal);
  await connection.menu!([{ word: "status", about: "What the session does" }], signal);
  expect([discord.sent[0].content, discord.reactions, discord.typing]).toEqual(["best", ["👍"], [GENERAL]]);
  expect(discord.commands).toMatchObject([{ name: "status", description: "What the session does" }]);
  await connection.remove!(at, signal);
  await connection.remove!(at, signal);
  expect(discord.sent.map(({ id }) => id)).not.toContain(platformId);
  expect(discord.violations).toEqual([]);
});

test("a thread is opened, by itself or below a message, and what follows is sent inside", async () => {
  await using discord = await startDiscord();
  const { connection } = open(discord);
  const address = { channel: "discord", place: GENERAL };
  const part = { kind: "thread", name: "x".repeat(200) } as const;
  const { platformId: topic = "" } = await connection.send(message({ address, part }), signal);
  await connection.send(message({ address: { ...address, topic } }), signal);
  expect(discord.sent[0]).toMatchObject({ channel_id: topic });
  const said = discord.say("question", { channel: GENERAL });
  const below = message({ address, part, replyTo: said });
  expect(await connection.send(below, signal)).toEqual({ platformId: said });
  expect(discord.violations).toEqual([]);

  // Another process, which does not know whether they were opened.
  const { connection: other } = open(discord);
  expect(await other.find!(below, signal)).toEqual({ platformId: said });
  expect(await other.find!(message({ address, part }), signal)).toEqual({ platformId: topic });
  expect(
    await other.find!(message({ address, part: { kind: "thread", name: "another" } }), signal),
  ).toBeUndefined();
});

test("a message that may have arrived is not there twice: soon by its nonce, later by its content", async () => {
  await using discord = await startDiscord();
  discord.fail(CREATE, { kind: "accept-then-cut" });
  const doubtful = message();
  const { connection } = open(discord);
  await expect(connection.send(doubtful, signal)).rejects.toMatchObject({ code: "delivery_uncertain" });
  const arrived = { platformId: discord.sent[0].id as string };
  expect(await connection.find!(doubtful, signal)).toBeUndefined();
  expect(await connection.send(doubtful, signal)).toEqual(arrived);
  expect(discord.sent).toHaveLength(1);

  discord.forgetNonces();
  const { connection: later } = open(discord, () => Date.now() + HOUR_MS / 2);
  expect(await later.find!(doubtful, signal)).toEqual(arrived);
  expect(await later.find!(message({ content: "something else" }), signal)).toBeUndefined();
  // What was said before this delivery was made is another message.
  expect(await later.find!(message({}, Date.now() + HOUR_MS / 4), signal)).toBeUndefined();
});

test("files and polls are found again by what they are, and no other message of the process is taken for one", async () => {
  await using discord = await startDiscord();
  const poll = { kind: "poll", question: "When?", options: ["now"] } as const;
  const { connection } = open(discord, () => Date.now() + HOUR_MS / 2);
  for (const more of [{ part: file }, { part: poll }, {}]) {
    const first = message(more);
    const receipt = await connection.send(first, signal);
    expect(await connection.find!(first, signal)).toEqual(receipt);
    expect(await connection.find!(message(more), signal)).toBeUndefined();
    const { connection: other } = open(discord, () => Date.now() + HOUR_MS / 2);
    expect(await other.find!(message(more), signal)).toEqual(receipt);
  }
});

test("a message is left in doubt where its channel cannot be read back", async () => {
  await using discord = await startDiscord();
  const later = () => Date.now() + HOUR_MS / 2;
  const { connection } = open(discord, later);
  const inDoubt = { code: "delivery_uncertain", hint: expect.stringContaining("history") };
  await expect(connection.find!(message(), signal)).rejects.toMatchObject(inDoubt); // no permission: Discord shows nothing
  for (let n = 0; n < 1_001; n++) discord.say(`${n}`);
  await expect(connection.find!(message(), signal)).rejects.toMatchObject(inDoubt);
});

const REFUSED: readonly (readonly [string, DiscordFault, object])[] = [
  [
    "a rate limit",
    {
      kind: "status",
      status: 429,
      body: { message: "You are being rate limited.", retry_after: 1.5, global: false },
    },
    { code: "delivery_failed", retryAfterMs: 1_500 },
  ],
  [
    "a rate limit of a proxy",
    { kind: "status", status: 429, headers: { "retry-after": "7" } },
    { code: "delivery_failed", retryAfterMs: 7_000 },
  ],
  [
    "a wrong token",
    { kind: "status", status: 401, body: { message: "401: Unauthorized", code: 0 } },
    { code: "credentials_refused" },
  ],
  [
    "a missing permission",
    { kind: "status", status: 403, body: { message: "Missing Permissions", code: 50_013 } },
    { code: "delivery_refused", message: expect.stringContaining("Missing Permissions (50013)") },
  ],
  ["an error of Discord's", { kind: "status", status: 503 }, { code: "delivery_uncertain" }],
  ["a cut", { kind: "cut" }, { code: "delivery_uncertain" }],
];

test.each(REFUSED)("%s is told apart, and nothing is tried again", async (_, fault, told) => {
  await using discord = await startDiscord();
  const { connection } = open(discord);
  discord.fail(CREATE, fault);
  await expect(connection.send(message(), signal)).rejects.toMatchObject(told);
  expect(discord.requests).toHaveLength(1);
});

test("an abort leaves a send in doubt, and no server means that nothing was sent", async () => {
  await using discord = await startDiscord();
  const { connection } = open(discord);
  discord.fail(CREATE, { kind: "hang" });
  const aborted = new AbortController();
  const sending = connection.send(message(), aborted.signal);
  await expect.poll(() => discord.requests.length).toBe(1);
  aborted.abort();
  await expect(sending).rejects.toMatchObject({ code: "delivery_uncertain" });
  await discord[Symbol.asyncDispose]();
  await expect(connection.send(message(), signal)).rejects.toMatchObject({ code: "delivery_failed" });
});

test("what is too long or nowhere is refused in Discord's words", async () => {
  await using discord = await startDiscord();
  const { connection } = open(discord);
  await expect(connection.send(message({ content: "x".repeat(2_001) }), signal)).rejects.toMatchObject({
    code: "delivery_refused",
    message: expect.stringContaining("content: Must be 2000 or fewer in length."),
  });
  const nowhere = { channel: "discord", place: "404" };
  await expect(connection.send(message({ address: nowhere }), signal)).rejects.toThrow("Unknown Channel");
  const path = { channel: "discord", place: "../users/@me" };
  await expect(connection.send(message({ address: path }), signal)).rejects.toMatchObject({
    code: "delivery_refused",
  });
  expect(discord.requests).toHaveLength(2);
});

test("100 KB of Markdown arrive in messages that Discord takes, with nothing lost", async () => {
  await using discord = await startDiscord();
  const { connection } = open(discord);
  const words = Array.from({ length: 12_000 }, (_, n) => `word${n}${n % 40 === 39 ? ".\n\n" : ""}`).join(" ");
  for (const wire of renderRichText(await rich(words), module.format))
    if (wire !== undefined) await connection.send(message({ content: wire }), signal);
  const arrived = discord.sent.map(({ content }) => content).join(" ");
  expect(arrived.match(/word\d+/g)).toHaveLength(12_000);
  expect(discord.sent.length).toBeGreaterThan(50);
  expect(discord.violations).toEqual([]);
});

async function rich(markdown: string) {
  const parsing = parseRichText(markdown);
  for (;;) {
    const { done, value } = parsing.next();
    if (done === true) return value;
  }
}

test("messages keep to the limits that Discord tells", async () => {
  await using discord = await startDiscord();
  let nowMs = Date.now();
  const { connection } = open(discord, () => nowMs);
  const to = { channel: "discord", place: DM };
  const other = { channel: "discord", place: GENERAL };
  const limits = { "x-ratelimit-remaining": "1", "x-ratelimit-reset-after": "4.5" };
  discord.fail(CREATE, { kind: "status", status: 403, headers: limits });
  expect(connection.paceMs!(to)).toBe(0);
  await expect(connection.send(message(), signal)).rejects.toThrow("Fault");
  nowMs += 1_000;
  expect(connection.paceMs!(to)).toBe(0);
  nowMs += 1_000;
  expect([connection.paceMs!(to), connection.paceMs!(other)]).toEqual([2_500, 0]);
  nowMs += 2_500;
  expect(connection.paceMs!(to)).toBe(0);

  const everywhere = { "x-ratelimit-global": "true", "retry-after": "9" };
  discord.fail(CREATE, { kind: "status", status: 429, headers: everywhere });
  await expect(connection.send(message(), signal)).rejects.toThrow("Fault");
  expect([connection.paceMs!(to), connection.paceMs!(other)]).toEqual([9_000, 9_000]);
});

test("a probe tells whether the token, the intent and the invitation are there", async () => {
  await using discord = await startDiscord();
  const { probe } = open(discord);
  expect((await probe()).map(({ name, state }) => [name, state])).toEqual([
    ["token", "ok"],
    ["message content intent", "ok"],
    ["servers", "ok"],
  ]);
  discord.switchIntentOff();
  expect((await probe()).find(({ state }) => state === "fail")).toMatchObject({
    name: "message content intent",
  });
  discord.revoke();
  await expect(probe()).rejects.toMatchObject({ code: "credentials_refused" });
});

test("the nonce is of the message, and as long as Discord takes it", async () => {
  await using discord = await startDiscord();
  const { connection } = open(discord);
  const first = message();
  await connection.send(first, signal);
  const nonce = createHash("sha256").update(first.key).digest("base64url").slice(0, 25);
  expect(discord.requests[0]!.body.nonce).toBe(nonce);
  expect(discord.sent[0].author.id).toBe(BOT.id);
});
