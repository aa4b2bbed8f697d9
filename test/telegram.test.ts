/** Telegram, end to end: a Cortex that talks with a played Telegram. */
import { expect, test } from "vitest";

import { type FakeTelegram, startTelegram } from "./support/fake-telegram.ts";
import { openTestServer, PATIENT, type TestServer } from "./support/server.ts";

const HOOKS = {
  "dm.ts": `export default ({ event }) => ({ fire: event.channel === "telegram" && event.content_type === "text" });`,
};

async function open(telegram: FakeTelegram): Promise<TestServer> {
  const server = await openTestServer(
    {
      cortex: { channels: { telegram: { tokenEnv: "BOT_TOKEN", baseUrl: telegram.url } } },
      hooks: HOOKS,
    },
    { environment: { PATH: process.env["PATH"], BOT_TOKEN: telegram.token } },
  );
  await server.cortex.store.people.change("owner", { link: ["telegram:42" as never] }, { principal: "owner" as never });
  return server;
}

test("a message is answered in its chat, once, and its update is confirmed", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  telegram.say("hello there");
  await expect.poll(() => telegram.sent.length, PATIENT).toBe(1);
  expect(telegram.sent[0]).toMatchObject({ chat_id: "42", text: expect.stringContaining("offline model") });
  await expect.poll(() => telegram.unconfirmed, PATIENT).toBe(0);
  expect(server.cortex.channels.list()).toMatchObject([{ channel: "telegram", account: "default", state: "live" }]);
  expect(telegram.violations).toEqual([]);
});
