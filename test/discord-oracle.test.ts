/** The played Discord, proved by the clients that bots are written with: what they understand, ours has to understand. */
import { REST } from "@discordjs/rest";
import { type SessionInfo, WebSocketManager, WebSocketShardEvents } from "@discordjs/ws";
import { expect, test } from "vitest";

import { DM, type FakeDiscord, GENERAL, startDiscord } from "./support/fake-discord.ts";
import { PATIENT } from "./support/server.ts";

const INTENTS = 46_593;
const MESSAGES = 40;

async function connect(discord: FakeDiscord) {
  const rest = new REST({ version: "10", api: `http://${discord.host}/api`, retries: 0 }).setToken(
    discord.token,
  );
  let session: SessionInfo | null = null;
  /** It may resume behind what it has just told: then Discord sends that again. */
  const heard = new Set<string>();
  const manager = new WebSocketManager({
    token: discord.token,
    intents: INTENTS as number,
    rest,
    compression: null,
    initialPresence: null,
    retrieveSessionInfo: () => session,
    updateSessionInfo: (_, info) => void (session = info),
  });
  manager.on(WebSocketShardEvents.Dispatch, ({ t: type, d: data }) => {
    if (type === "MESSAGE_CREATE") heard.add(data.content);
  });
  manager.on(WebSocketShardEvents.Error, () => {});
  await manager.connect();
  return { rest, manager, heard, [Symbol.asyncDispose]: async () => manager.destroy() };
}

test("Discord's client for the gateway connects, resumes after a cut, and misses nothing", async () => {
  await using discord = await startDiscord({ heartbeatMs: 60 });
  await using client = await connect(discord);
  for (let n = 0; n < MESSAGES; n++) {
    discord.say(`${n}`, { channel: n % 2 === 0 ? DM : GENERAL });
    if (n === 10) discord.askToReconnect();
    if (n === 20) discord.close(4000);
    if (n === 30) discord.invalidate(true);
    if (n % 10 === 5) await expect.poll(() => client.heard.size, PATIENT).toBe(n + 1);
  }
  await expect
    .poll(() => [...client.heard], PATIENT)
    .toEqual(Array.from({ length: MESSAGES }, (_, n) => `${n}`));
  expect(discord.identifies).toBe(1);
  expect(discord.resumes).toBe(3);
  expect(discord.violations).toEqual([]);
});

test("Discord's client for the REST API is understood, and understands refusals and rate limits", async () => {
  await using discord = await startDiscord();
  const rest = new REST({ version: "10", api: `http://${discord.host}/api`, retries: 0 }).setToken(
    discord.token,
  );
  const create = `/channels/${DM}/messages` as const;
  const body = { content: "hello", nonce: "n1", enforce_nonce: true };
  const sent = (await rest.post(create, { body })) as { id: string };
  expect(await rest.post(create, { body })).toMatchObject({ id: sent.id });
  await rest.post(create, {
    body: { content: "with a file" },
    files: [{ name: "a.txt", data: Buffer.from("text") }],
  });
  expect(discord.file(discord.sent[1].attachments[0].url)?.toString()).toBe("text");
  expect(await rest.get(create)).toMatchObject([{ content: "with a file" }, { content: "hello" }]);
  await expect(rest.post(create, { body: { content: "x".repeat(2_001) } })).rejects.toMatchObject({
    code: 50_035,
    status: 400,
  });
  await expect(rest.get("/channels/404")).rejects.toMatchObject({ code: 10_003, status: 404 });
  expect(discord.violations.filter((each) => !each.includes("too long"))).toEqual([]);
});
