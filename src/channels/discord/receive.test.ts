/** What comes in from a played Discord, through everything that connections suffer. */
import { expect, test } from "vitest";

import {
  ADA,
  BOT,
  DM,
  type FakeDiscord,
  GENERAL,
  GUILD,
  startDiscord,
  THREAD,
} from "../../../test/support/fake-discord.ts";
import { openLinked, Stored } from "../../../test/support/linked.ts";
import { channelSettings } from "../../config/channels-schema.ts";
import { DAY_MS, MINUTE_MS } from "../../model/durations.ts";
import type { ChannelPorts } from "../channel.ts";
import { discord as module } from "./discord.ts";

const MESSAGES = 40;
const ROUNDS = 4;
const SOON = { timeout: 60_000 };

function connect(discord: FakeDiscord, stored = new Stored(), settings: object = {}, clock = Date.now) {
  const ports: ChannelPorts = {
    account: "default",
    secret: () => discord.token,
    fetch,
    clock,
    log: () => {},
    readFile: async () => Buffer.from("content"),
  };
  const parsed = channelSettings.discord.parse({ apiUrl: discord.apiUrl, ...settings });
  return Object.assign(openLinked(module, { settings: parsed, ports, stored }), { stored });
}

async function connected(discord: FakeDiscord, stored = new Stored()) {
  const linked = connect(discord, stored);
  await expect.poll(() => linked.link.isLive, SOON).toBe(true);
  return linked;
}

function numbers(stored: Stored): number[] {
  return stored.texts.map(Number).toSorted((a, b) => a - b);
}

const ALL = Array.from({ length: MESSAGES }, (_, n) => n);

const TROUBLES: Readonly<Record<string, (discord: FakeDiscord) => void>> = {
  "Discord asks to reconnect (op 7)": (discord) => discord.askToReconnect(),
  "a session ends and can be resumed (op 9)": (discord) => discord.invalidate(true),
  "a session ends for good (op 9)": (discord) => discord.invalidate(false),
  "the connection is cut": (discord) => discord.cut(),
  "the connection is cut and the session forgotten": (discord) => {
    discord.forgetSessions();
    discord.cut();
  },
  "Discord closes with an unknown error (4000)": (discord) => discord.close(4000),
  "Discord closes because of the sequence (4007)": (discord) => discord.close(4007),
  "Discord closes because the session timed out (4009)": (discord) => {
    discord.forgetSessions();
    discord.close(4009);
  },
  "heartbeats are no longer answered": (discord) => discord.deafen(),
};

test.each(Object.keys(TROUBLES))("each message comes once, though %s", async (trouble) => {
  await using discord = await startDiscord({ heartbeatMs: 40 });
  await using linked = await connected(discord);
  let said = 0;
  const sayUpTo = (end: number): void => {
    for (; said < end; said++) discord.say(`${said}`, { channel: [DM, GENERAL, THREAD][said % 3]! });
  };
  for (let round = 1; round <= ROUNDS; round++) {
    const end = (round * MESSAGES) / ROUNDS;
    sayUpTo(end - 5);
    TROUBLES[trouble]!(discord);
    sayUpTo(end);
    await expect.poll(() => linked.stored.events.length, SOON).toBe(end);
  }
  await expect.poll(() => numbers(linked.stored), SOON).toEqual(ALL);
  for (const chat of Map.groupBy(linked.stored.events, ({ place }) => `${place.id}/${place.topic}`).values())
    expect(chat).toEqual(chat.toSorted((a, b) => Number(a.text) - Number(b.text)));
  await expect.poll(() => linked.link.isLive, SOON).toBe(true);
  await expect.poll(() => discord.unacknowledged, SOON).toBe(0);
  expect(discord.violations).toEqual([]);
});

test("a session is resumed by another process, and nothing is confirmed that is not stored", async () => {
  await using discord = await startDiscord({ heartbeatMs: 20 });
  const stored = new Stored();
  {
    await using linked = await connected(discord, stored);
    discord.say("stored");
    await expect.poll(() => stored.texts, SOON).toEqual(["stored"]);
    await expect.poll(() => discord.unacknowledged, SOON).toBe(0);
    const hanging = Promise.withResolvers<void>();
    stored.before = () => hanging.promise;
    discord.say("lost with the process");
    const beats = discord.heartbeats.length;
    await expect.poll(() => discord.heartbeats.length, SOON).toBeGreaterThan(beats + 3);
    expect(discord.unacknowledged).toBe(1);
    stored.before = () => {
      throw new Error("killed");
    };
    linked.link.reconnect();
    hanging.reject(new Error("killed"));
  }
  stored.before = () => {};
  await using _ = await connected(discord, stored);
  await expect.poll(() => stored.texts, SOON).toEqual(["stored", "lost with the process"]);
  expect(discord.identifies).toBe(1);
});

test("a gap is filled, also in channels never seen, and by a later process if the first one dies", async () => {
  await using discord = await startDiscord();
  const stored = new Stored();
  {
    await using _ = await connected(discord, stored);
    discord.say("before");
    await expect.poll(() => stored.texts, SOON).toEqual(["before"]);
  }
  discord.forgetSessions();
  discord.say("in a known place");
  discord.say("in a channel", { channel: GENERAL });
  discord.say("in a thread", { channel: THREAD });
  {
    const failures = Array.from({ length: 1_000 }, () => ({ kind: "status", status: 500 }) as const);
    discord.fail("GET /users/@me/guilds", ...failures);
    await using _ = await connected(discord, stored);
    discord.say("live");
    await expect.poll(() => stored.texts, SOON).toEqual(["before", "live"]);
  }
  // This session is resumed, and the gap is still there.
  discord.clearFaults();
  await using _ = await connected(discord, stored);
  await expect
    .poll(() => new Set(stored.texts), SOON)
    .toEqual(new Set(["before", "live", "in a known place", "in a channel", "in a thread"]));
  expect(discord.identifies).toBe(2);
  expect(stored.events.map(({ id }) => id)).toEqual([...new Set(stored.events.map(({ id }) => id))]);
});

test("the first connection reads nothing that was said before", async () => {
  await using discord = await startDiscord();
  discord.say("old", { channel: GENERAL });
  await using linked = await connected(discord);
  discord.say("new", { channel: GENERAL });
  await expect.poll(() => linked.stored.texts, SOON).toEqual(["new"]);
});

test("frames and dispatches that cannot be read hold up nothing", async () => {
  await using discord = await startDiscord();
  await using linked = await connected(discord);
  for (const data of [null, {}, { id: 1 }, { id: "x", type: 0, author: null }, "text"])
    for (const type of [
      "MESSAGE_CREATE",
      "MESSAGE_UPDATE",
      "MESSAGE_REACTION_ADD",
      "INTERACTION_CREATE",
      "GUILD_UPDATE",
    ])
      discord.dispatch(type, data);
  discord.say("one");
  await expect.poll(() => linked.stored.texts, SOON).toEqual(["one"]);
  expect(linked.log.join("\n")).toContain("Left out a MESSAGE_CREATE");
  for (const frame of [
    "",
    "{",
    "null",
    "[]",
    '{"op":10,"d":null}',
    '{"op":10,"d":{"heartbeat_interval":0}}',
    '{"op":0}',
    '{"op":99}',
  ]) {
    discord.raw(frame);
    discord.say(`after${frame}`);
    await expect.poll(() => linked.stored.texts.at(-1), SOON).toBe(`after${frame}`);
  }
});

test("a gateway that says nothing is given up, and a new connection works", async () => {
  await using discord = await startDiscord();
  discord.isMute = true;
  await using linked = connect(discord);
  await expect.poll(() => linked.states.map(({ state }) => state), SOON).toContain("stale");
  discord.isMute = false;
  await expect.poll(() => linked.link.isLive, SOON).toBe(true);
});

test("an address for resuming that nobody answers at is not used again", async () => {
  await using discord = await startDiscord();
  const stored = new Stored();
  {
    await using _ = await connected(discord, stored);
    discord.say("one");
    await expect.poll(() => stored.texts, SOON).toEqual(["one"]);
  }
  const cursor = stored.cursor as { session: object };
  stored.cursor = { ...cursor, session: { ...cursor.session, url: "ws://127.0.0.1:1" } };
  discord.say("two");
  await using _ = await connected(discord, stored);
  await expect.poll(() => stored.texts, SOON).toEqual(["one", "two"]);
  expect([discord.identifies, discord.resumes]).toEqual([1, 1]);
});

test("a token that is not taken, and an intent that is off, are refused in words", async () => {
  await using discord = await startDiscord();
  await using linked = await connected(discord);
  discord.revoke();
  await expect
    .poll(() => linked.link.status, SOON)
    .toMatchObject({ state: "refused", error: expect.stringContaining("token") });

  await using other = await startDiscord();
  other.switchIntentOff();
  await using refused = connect(other);
  await expect
    .poll(() => refused.link.status, SOON)
    .toMatchObject({ state: "refused", error: expect.stringContaining("Message Content intent") });
});

test("no session is begun when Discord allows none any more", async () => {
  await using discord = await startDiscord();
  discord.sessionsLeft = 0;
  await using linked = connect(discord);
  await expect
    .poll(() => linked.link.status, SOON)
    .toMatchObject({ state: "backoff", error: expect.stringContaining("as many sessions") });
  expect(discord.identifies).toBe(0);
});

test("a configured gateway is used for resuming, too", async () => {
  await using discord = await startDiscord();
  await using linked = connect(discord, new Stored(), { gatewayUrl: discord.gatewayUrl });
  await expect.poll(() => linked.link.isLive, SOON).toBe(true);
  expect(discord.requests.map(({ path }) => path)).not.toContain("/gateway/bot");
});

test("what people do is told apart, and what the bot does is not told", async () => {
  await using discord = await startDiscord();
  await using linked = await connected(discord);
  const { stored, connection } = linked;
  const signal = AbortSignal.timeout(60_000);
  const at = { channel: "discord", place: DM };
  const message = {
    key: "k",
    delivery: "01M7TVH294WDRWRQ88A0HNJ8EF" as never,
    turn: undefined,
    address: at,
    chunk: 0,
    chunks: 1,
    content: "mine",
    replyTo: undefined,
    attempt: 1,
    repeat: false,
  };
  const { platformId: mine = "" } = await connection.send(message, signal);
  await connection.edit!({ ...at, messageId: mine }, "mine, better", signal);
  const reply = discord.say("a reply", { channel: DM, replyTo: mine });
  discord.embed(reply);
  discord.edit(reply, "a better reply");
  discord.embed(reply);
  discord.react(reply, "👍");
  discord.react(reply, "👍", ADA, "MESSAGE_REACTION_REMOVE");
  discord.press(mine, "approve:1");
  discord.command("answer", [{ type: 3, name: "text", value: "01ABC yes" }]);
  discord.say("webhook", { more: { webhook_id: "9" } });
  discord.say("bot", { from: { id: "77", username: "other", bot: true } });
  discord.say("joined", { more: { type: 7 } });
  discord.remove(reply);
  await connection.remove!({ ...at, messageId: mine }, signal);
  discord.say("/status");
  await expect.poll(() => stored.texts.at(-1), SOON).toBe("/status");
  expect(
    stored.events.map(({ kind, text, messageId, mentionsMe, sender, replyTo }) => [
      kind,
      text,
      messageId === reply,
      mentionsMe,
      sender.bot,
      replyTo === mine,
    ]),
  ).toEqual([
    ["message", "a reply", true, true, false, true],
    ["edit", "a better reply", true, true, false, true],
    ["reaction", "👍", true, false, false, false],
    ["reaction", null, true, false, false, false],
    ["button", "approve:1", false, true, false, false],
    ["command", "/answer 01ABC yes", false, true, false, false],
    ["message", "webhook", false, false, true, false],
    ["message", "bot", false, false, true, false],
    ["delete", null, true, false, false, false],
    ["command", "/status", false, false, false, false],
  ]);
  expect(stored.events.find(({ kind }) => kind === "delete")?.sender).toMatchObject({
    id: "42",
    name: "Ada",
  });
  await expect.poll(() => discord.callbacks.map(({ type }) => type), SOON).toEqual([6, 4]);
  expect(discord.violations).toEqual([]);
});

test("names stand for ids, and what is no text is told in brackets", async () => {
  await using discord = await startDiscord();
  await using linked = await connected(discord);
  const say = (text: string, more: object = {}): void => void discord.say(text, { channel: GENERAL, more });
  say(`hey <@${BOT.id}>, ask <@!42> and <@&502> about <#${GENERAL}> <:party:1> </status:3> <#999>`, {
    mentions: [BOT, ADA],
    mention_roles: ["502"],
  });
  say(`<@${BOT.id}>`, { mentions: [BOT] });
  say("", { sticker_items: [{ id: "1", name: "Wave" }] });
  say("", {
    poll: {
      question: { text: "When?" },
      answers: [{ poll_media: { text: "now" } }, { poll_media: { text: "never" } }],
    },
  });
  say("", { embeds: [{ title: "Build", description: "failed" }], webhook_id: "3" });
  say("", { message_snapshots: [{ message: { content: "their words", attachments: [], embeds: [] } }] });
  say("");
  say("end");
  await expect
    .poll(() => linked.stored.texts, SOON)
    .toEqual([
      "hey ask @Ada and @makers about #general :party: /status <#999>",
      "",
      "[Sticker: Wave]",
      "[Poll: When? (now, never)]",
      "[Embed: Build: failed]",
      "[Forwarded: their words]",
      "end",
    ]);
  const forwarded = linked.stored.events.filter((event) => event.forwarded === true);
  expect(forwarded.map(({ text }) => text)).toEqual(["[Forwarded: their words]"]);
  expect(linked.stored.events[0]?.place).toEqual({
    id: GENERAL,
    kind: "channel",
    name: "general",
    parent: GUILD.id,
  });
});

test("files are loaded from Discord only, and again from their message when their address has ended", async () => {
  await using discord = await startDiscord();
  await using linked = await connected(discord);
  discord.say("", {
    files: [{ name: "plan.txt", contentType: "text/plain", content: Buffer.from("the plan") }],
  });
  discord.say("", {
    files: [{ name: "voice.ogg", contentType: "audio/ogg", content: Buffer.from("hum") }],
    more: { flags: 1 << 13 },
  });
  discord.say("", { files: [{ name: "gone.png", contentType: "image/png", content: undefined }] });
  const foreign = { id: "1", filename: "x", size: 1, url: "https://cdn.discordapp.com.evil.test/x" };
  discord.say("", { more: { attachments: [foreign] } });
  await expect.poll(() => linked.stored.events.length, SOON).toBe(4);
  const files = linked.stored.events.flatMap((each) => each.files ?? []);
  expect(files.map(({ name, kind, bytes }) => [name, kind, bytes])).toEqual([
    ["plan.txt", "file", 8],
    ["voice.ogg", "voice", 3],
    ["gone.png", "image", 0],
    ["x", "file", 1],
  ]);
  const load = async (index: number): Promise<string> =>
    new Response(await linked.connection.download!(files[index]!, AbortSignal.timeout(60_000))).text();
  expect(await load(0)).toBe("the plan");
  discord.expireFiles();
  expect([await load(0), await load(1)]).toEqual(["the plan", "hum"]);
  await expect(load(2)).rejects.toThrow("404");
  await expect(load(3)).rejects.toThrow("not Discord's");
});

test("messages older than a day are not read after a gap", async () => {
  await using discord = await startDiscord();
  const stored = new Stored();
  {
    await using _ = await connected(discord, stored);
    discord.say("before");
    await expect.poll(() => stored.texts, SOON).toEqual(["before"]);
  }
  discord.forgetSessions();
  discord.say("meanwhile");
  await using _ = connect(discord, stored, {}, () => Date.now() + DAY_MS + MINUTE_MS);
  await expect.poll(() => discord.requests.map(({ path }) => path), SOON).toContain("/users/@me/guilds");
  await expect.poll(() => (stored.cursor as { gap?: string }).gap, SOON).toBeUndefined();
  expect(stored.texts).toEqual(["before"]);
});

test("what comes faster than it can be stored is bounded in memory, and comes again", async () => {
  await using discord = await startDiscord();
  await using linked = await connected(discord);
  const held = Promise.withResolvers<void>();
  linked.stored.before = () => held.promise;
  const many = 10_200;
  for (let n = 0; n < many; n++) discord.say(`${n}`);
  await expect.poll(() => discord.receivers, SOON).toBe(0);
  linked.stored.before = () => {};
  held.resolve();
  await expect.poll(() => linked.stored.events.length, SOON).toBe(many);
  expect(linked.stored.texts).toEqual(Array.from({ length: many }, (_, n) => `${n}`));
});
