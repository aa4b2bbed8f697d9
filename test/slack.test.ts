/** Slack, end to end: a Cortex that talks with a played Slack. */
import { expect, test } from "vitest";

import { type FakeSlack, startSlack } from "./support/fake-slack.ts";
import { openTestServer, PATIENT, type TestServer } from "./support/server.ts";

const HOOKS = {
  "all.ts": `export default ({ event }) => ({ fire: event.channel === "slack" && event.content_type === "text" });`,
};

async function open(
  slack: FakeSlack,
  {
    script,
    cortex = {},
    settings = {},
  }: { readonly script?: string; readonly cortex?: object; readonly settings?: object } = {},
): Promise<TestServer> {
  const account = { botTokenEnv: "BOT_TOKEN", appTokenEnv: "APP_TOKEN", apiUrl: slack.url, ...settings };
  const server = await openTestServer(
    {
      cortex: { ...cortex, channels: { slack: account } },
      hooks: HOOKS,
      ...(script === undefined ? {} : { script }),
    },
    { environment: { PATH: process.env["PATH"], BOT_TOKEN: slack.botToken, APP_TOKEN: slack.appToken } },
  );
  await server.cortex.store.people.change(
    "owner",
    { link: [`slack:${slack.people[0]}` as never] },
    { principal: "owner" },
  );
  return server;
}

test("a message is answered in its direct messages, once, and its envelope is acknowledged", async () => {
  await using slack = await startSlack();
  await using server = await open(slack);
  slack.say("hello there");
  await expect.poll(() => slack.sent.length, PATIENT).toBe(1);
  expect(slack.sent[0]).toMatchObject({
    channel: slack.dms[0],
    text: expect.stringContaining("offline model"),
  });
  await expect.poll(() => slack.unacknowledged, PATIENT).toBe(0);
  expect(server.cortex.channels.list()).toMatchObject([
    { channel: "slack", account: "default", state: "live" },
  ]);
  expect(slack.violations).toEqual([]);
});
