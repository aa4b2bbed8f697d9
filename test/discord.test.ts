/** Discord, end to end: a Cortex that talks with a played Discord. */
import { expect, test } from "vitest";

import { ADA, BOT, type FakeDiscord, GENERAL, startDiscord, THREAD } from "./support/fake-discord.ts";
import { openTestServer, PATIENT, type TestServer } from "./support/server.ts";

const HOOKS = {
  "dm.ts": `export default ({ event }) => ({ fire: event.channel === "discord" && event.content_type === "text" });`,
};

async function open(
  discord: FakeDiscord,
  { script, cortex = {} }: { readonly script?: string; readonly cortex?: object } = {},
): Promise<TestServer> {
  const settings = { tokenEnv: "BOT_TOKEN", apiUrl: discord.apiUrl };
  const server = await openTestServer(
    {
      cortex: { ...cortex, channels: { discord: settings } },
      hooks: HOOKS,
      ...(script === undefined ? {} : { script }),
    },
    { environment: { PATH: process.env["PATH"], BOT_TOKEN: discord.token } },
  );
  await server.cortex.store.people.change("owner", { link: ["discord:42" as never] }, { principal: "owner" });
  await expect.poll(() => server.cortex.channels.list()[0]?.state, PATIENT).toBe("live");
  return server;
}

async function received(server: TestServer) {
  const { items } = await server.cortex.store.events.list({ channel: "discord", limit: 100 });
  return items.filter(({ direction }) => direction !== "sent").toReversed();
}

test("a direct message is answered in its place, once", async () => {
  await using discord = await startDiscord();
  await using server = await open(discord);
  discord.say("hello there");
  await expect.poll(() => discord.sent.length, PATIENT).toBe(1);
  expect(discord.sent[0]).toMatchObject({
    channel_id: "600",
    content: expect.stringContaining("offline model"),
  });
  expect(await received(server)).toMatchObject([
    { content: "hello there", placeKind: "dm", sender: "42", metadata: { sender_name: "Ada" } },
  ]);
  expect(discord.violations).toEqual([]);
});

test("in a channel, what does not address the bot is recorded with the reason, and a mention is answered", async () => {
  await using discord = await startDiscord();
  await using server = await open(discord);
  discord.say("nice weather", { channel: GENERAL });
  discord.say(`<@${BOT.id}> say hello to <@42> in <#${GENERAL}>`, {
    channel: GENERAL,
    more: { mentions: [BOT, ADA] },
  });
  await expect.poll(() => discord.sent.length, PATIENT).toBe(1);
  expect(discord.sent[0]).toMatchObject({ channel_id: GENERAL });
  expect(await received(server)).toMatchObject([
    { content: "nice weather", metadata: { admission: { answered: false, reason: "not addressed" } } },
    {
      content: "say hello to @Ada in #general",
      placeKind: "channel",
      place: GENERAL,
      metadata: { admission: { answered: true } },
    },
  ]);
  expect(discord.violations).toEqual([]);
});

test("a thread is a topic of its channel, and is answered inside", async () => {
  await using discord = await startDiscord();
  await using server = await open(discord);
  discord.say(`<@&501> hello`, { channel: THREAD, more: { mention_roles: ["501"] } });
  await expect.poll(() => discord.sent.length, PATIENT).toBe(1);
  expect(discord.sent[0]).toMatchObject({ channel_id: THREAD });
  expect(await received(server)).toMatchObject([{ content: "hello", place: GENERAL, topic: THREAD }]);
  const sessions = await server.send("/api/sessions");
  expect(sessions.json.items.map(({ key }: { key: string }) => key)).toContain(
    `agent:main:discord:channel:${GENERAL}:thread:${THREAD}`,
  );
});

test("a stranger gets a code and no turn", async () => {
  await using discord = await startDiscord();
  await using server = await open(discord);
  discord.say("let me in", { from: { id: "7", username: "eve" } });
  await expect.poll(() => discord.sent.length, PATIENT).toBe(1);
  expect(discord.sent[0].content).toMatch(/^[A-Z2-9]{8}$/m);
  expect((await server.cortex.store.counts()).turns).toBe(0);
});

test("a send that may have arrived is sent again and is there once, and one that is refused is dead", async () => {
  await using discord = await startDiscord();
  await using server = await open(discord);
  const create = "POST /channels/*/messages";
  discord.fail(create, { kind: "accept-then-cut" });
  discord.say("hello");
  const { outbox } = server.cortex.store;
  await expect.poll(async () => (await outbox.list()).items[0]?.state, PATIENT).toBe("sent");
  expect(discord.sent).toHaveLength(1);
  expect((await outbox.list()).items[0]).toMatchObject({
    chunks: [{ isRepeat: false, platformId: discord.sent[0].id }],
  });

  const limited = { message: "You are being rate limited.", retry_after: 0.1, global: false };
  discord.fail(create, { kind: "status", status: 429, body: limited });
  discord.say("again");
  await expect.poll(() => discord.sent.length, PATIENT).toBe(2);

  const forbidden = { message: "Missing Permissions", code: 50_013 };
  discord.fail(create, { kind: "status", status: 403, body: forbidden });
  discord.say("bye");
  await expect
    .poll(async () => (await outbox.list({ state: "dead" })).items, PATIENT)
    .toMatchObject([{ error: expect.stringContaining("Missing Permissions") }]);
});

test("after a cut and a lost session, what was said meanwhile is answered, once", async () => {
  await using discord = await startDiscord();
  await using server = await open(discord, {
    script: `[{ when: ".*", plays: [{ say: "echo {{message}}" }] }]`,
    cortex: { broker: { queue: { mode: "followup" } } },
  });
  discord.say("one");
  await expect.poll(() => discord.sent.length, PATIENT).toBe(1);
  discord.forgetSessions();
  discord.cut();
  discord.say("two");
  await expect
    .poll(() => discord.sent.map(({ content }) => content), PATIENT)
    .toEqual(["echo one", "echo two"]);
  discord.cut();
  discord.say("three");
  await expect
    .poll(() => discord.sent.map(({ content }) => content), PATIENT)
    .toEqual(["echo one", "echo two", "echo three"]);
  expect(await received(server)).toHaveLength(3);
});

test("an edit replaces a message that waits, and a file is kept with its message", async () => {
  await using discord = await startDiscord();
  await using server = await open(discord, {
    script: `
- when: "^slow"
  plays: [{ say: "one moment", delayMs: 2000 }]
- when: ".*"
  plays: [{ say: "answered {{message}}" }]
`,
    cortex: { broker: { queue: { mode: "followup" } } },
  });
  discord.say("slow one");
  const waiting = discord.say("worse");
  await expect.poll(async () => (await received(server)).length, PATIENT).toBe(2);
  await expect.poll(() => server.cortex.store.hooks.unjudged(), PATIENT).toEqual([]);
  discord.edit(waiting, "better");
  await expect
    .poll(() => discord.sent.map(({ content }) => content), PATIENT)
    .toEqual(["one moment", "answered better"]);
  discord.say("", {
    files: [{ name: "plan.txt", contentType: "text/plain", content: Buffer.from("the plan") }],
  });
  await expect
    .poll(async () => (await received(server)).at(-1)?.attachments, PATIENT)
    .toEqual([expect.objectContaining({ name: "plan.txt", state: "stored", bytes: 8 })]);
});
