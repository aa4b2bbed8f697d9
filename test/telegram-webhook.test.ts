/** Telegram's webhook, end to end, and what any platform may send to `/in/…`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { MAX_PLATFORM_BODY_BYTES } from "../src/channels/hub/requests.ts";
import { type FakeTelegram, startTelegram } from "./support/fake-telegram.ts";
import { openTestServer, PATIENT, type TestServer } from "./support/server.ts";

const HOOKS = {
  "dm.ts": `export default ({ event }) => ({ fire: event.channel === "telegram" && event.content_type === "text" });`,
};

async function open(telegram: FakeTelegram, mode = "webhook"): Promise<TestServer> {
  const server = await openTestServer(
    { cortex: configOf(telegram, mode), hooks: HOOKS },
    { environment: { PATH: process.env["PATH"], BOT_TOKEN: telegram.token } },
  );
  await server.cortex.store.people.change(
    "owner",
    { link: ["telegram:42" as never] },
    { principal: "owner" },
  );
  return server;
}

function configOf(telegram: FakeTelegram, mode: string, publicUrl?: string): object {
  return {
    channels: { telegram: { tokenEnv: "BOT_TOKEN", baseUrl: telegram.url, mode } },
    ...(publicUrl === undefined ? {} : { server: { publicUrl } }),
  };
}

function configure({ cortex }: TestServer, config: object): void {
  writeFileSync(join(cortex.home, "config", "cortex.json"), JSON.stringify(config));
}

const stateOf = ({ cortex }: TestServer): string => cortex.channels.list()[0]!.state;

async function openWithWebhook(telegram: FakeTelegram): Promise<TestServer> {
  const server = await open(telegram);
  configure(server, configOf(telegram, "webhook", server.server.url));
  await expect.poll(() => stateOf(server), PATIENT).toBe("live");
  return server;
}

test("without a public address, the channel says so, and connects once there is one", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  expect(server.cortex.channels.list()[0]).toMatchObject({
    state: "refused",
    error: expect.stringContaining("Set `server.publicUrl`"),
  });
  const [found] = await server.cortex.channels.test("telegram");
  expect(found?.findings).toContainEqual(expect.objectContaining({ name: "webhook", state: "fail" }));
  configure(server, configOf(telegram, "webhook", `${server.server.url}/`));
  await expect.poll(() => stateOf(server), PATIENT).toBe("live");
  expect(telegram.webhook).toMatchObject({ url: `${server.server.url}/in/telegram`, max_connections: 1 });
  expect(telegram.webhook?.secret_token).toMatch(/^[\w-]{1,256}$/);
  expect(telegram.violations).toEqual([]);
});

test("messages that Telegram sends are answered, in order and once, also if they are sent again", async () => {
  await using telegram = await startTelegram();
  await using server = await openWithWebhook(telegram);
  telegram.say("one");
  telegram.say("two");
  await expect.poll(() => telegram.unconfirmed, PATIENT).toBe(0);
  const update = {
    update_id: 1,
    message: {
      message_id: 1,
      date: 1,
      chat: { id: 42, type: "private" },
      from: { id: 42, is_bot: false, first_name: "Ada" },
      text: "one",
    },
  };
  const again = await server.send({
    method: "POST",
    path: "/in/telegram",
    json: update,
    headers: { "X-Telegram-Bot-Api-Secret-Token": telegram.webhook!.secret_token, authorization: undefined },
  });
  expect(again.status).toBe(200);
  const { items } = await server.cortex.store.events.list({ channel: "telegram", direction: "received" });
  expect(items.map(({ content }) => content)).toEqual(["two", "one"]);
  await expect.poll(() => telegram.sent.length, PATIENT).toBeGreaterThan(0);
  expect(telegram.polls).toBe(0);
});

test("back to polling, the webhook is removed, and nothing is read twice", async () => {
  await using telegram = await startTelegram();
  await using server = await openWithWebhook(telegram);
  telegram.say("by webhook");
  await expect.poll(() => telegram.unconfirmed, PATIENT).toBe(0);
  configure(server, configOf(telegram, "poll", server.server.url));
  await expect.poll(() => telegram.webhook, PATIENT).toBeUndefined();
  telegram.say("by poll");
  await expect.poll(() => telegram.unconfirmed, PATIENT).toBe(0);
  await expect.poll(() => stateOf(server), PATIENT).toBe("live");
  const { items } = await server.cortex.store.events.list({ channel: "telegram", direction: "received" });
  expect(items.map(({ content }) => content)).toEqual(["by poll", "by webhook"]);
});

test("what does not come from Telegram is refused", async () => {
  await using telegram = await startTelegram();
  await using server = await openWithWebhook(telegram);
  const send = (more: object) =>
    server.send({ method: "POST", path: "/in/telegram", json: { update_id: 9 }, ...more });
  expect((await send({})).json).toMatchObject({ error: { code: "signature_invalid" } });
  const wrong = await send({ headers: { "X-Telegram-Bot-Api-Secret-Token": "guess" } });
  expect(wrong.status).toBe(401);
  const large = await send({ json: undefined, body: Buffer.alloc(MAX_PLATFORM_BODY_BYTES + 1) });
  expect([large.status, large.json.error.code]).toEqual([413, "body_too_large"]);
  expect((await send({ path: "/in/telegram/work" })).status).toBe(404);
  expect((await send({ path: "/in/pigeon" })).status).toBe(404);
  expect((await send({ method: "PUT" })).status).toBe(405);
  expect((await server.cortex.store.events.list({ channel: "telegram" })).items).toEqual([]);
});

test("a channel that polls takes no requests", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram, "poll");
  await expect.poll(() => stateOf(server), PATIENT).toBe("live");
  const { status, json } = await server.send({ method: "POST", path: "/in/telegram", json: {} });
  expect([status, json.error.code]).toEqual([404, "channel_unknown"]);
});

test("while it is not connected, the platform is asked to try again later", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram); // no public address
  const { status, headers, json } = await server.send({ method: "POST", path: "/in/telegram", json: {} });
  expect([status, json.error.code, headers["retry-after"]]).toEqual([503, "channel_unavailable", "5"]);
});

test("a request through a proxy at the public address is accepted by its Host", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram, "poll");
  const health = (host: string) => server.send({ path: "/api/health", headers: { host } });
  expect((await health("cortex.example.com")).status).toBe(403);
  configure(server, configOf(telegram, "poll", "https://cortex.example.com/base"));
  await expect.poll(async () => (await health("cortex.example.com")).status, PATIENT).toBe(200);
  expect((await health("other.example.com")).status).toBe(403);
});
