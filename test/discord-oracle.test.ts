/** The played Discord, proved by the clients that bots are written with: what they understand, ours has to understand. */
import { REST } from "@discordjs/rest";
import { type SessionInfo, WebSocketManager, WebSocketShardEvents } from "@discordjs/ws";
import { expect, test } from "vitest";

import { DM, type FakeDiscord, GENERAL, startDiscord } from "./support/fake-discord.ts";
import { PATIENT } from "./support/server.ts";

const INTENTS = 46_593;

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
  manager.on(WebSocketShardEvents.Dispatch, (dispatch) => {
    const { t: type, d: data } = dispatch as { readonly t: string; readonly d: { readonly content: string } };
    if (type === "MESSAGE_CREATE") heard.add(data.content);
  });
  manager.on(WebSocketShardEvents.Error, () => {});
  await manager.connect();
  return { rest, manager, heard, [Symbol.asyncDispose]: async () => manager.destroy() };
}

test("Discord's client for the gateway connects, resumes after a cut, and misses nothing", async () => {
  await using discord = await startDiscord({ heartbeatMs: 60 });
  await using client = await connect(discord);
  const troubles = [
    () => discord.askToReconnect(),
    () => discord.close(4000),
    () => discord.invalidate(true),
  ];
  for (const [round, cause] of troubles.entries()) {
    const say = (from: number): void => {
      for (let n = from; n < from + 5; n++) discord.say(`${n}`, { channel: n % 2 === 0 ? DM : GENERAL });
    };
    say(round * 10);
    cause();
    say(round * 10 + 5);
    const state = (): number[] => [client.heard.size, discord.resumes];
    await expect.poll(state, PATIENT).toEqual([(round + 1) * 10, round + 1]);
  }
  expect([...client.heard]).toEqual(Array.from({ length: 30 }, (_, n) => `${n}`));
  expect(discord.identifies).toBe(1);
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
