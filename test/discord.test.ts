/** Discord, end to end: a Cortex that talks with a played Discord. */
import { expect, test } from "vitest";

import { ADA, BOT, type FakeDiscord, GENERAL, GUILD, startDiscord, THREAD } from "./support/fake-discord.ts";
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
  await server.cortex.store.people.change(
    "owner",
    { link: ["discord:42" as never] },
    { principal: "owner" },
  );
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
      placeName: "general",
      parentPlace: GUILD.id,
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
    `agent:main:discord:channel:${GENERAL}:topic:${THREAD}`,
  );
});
