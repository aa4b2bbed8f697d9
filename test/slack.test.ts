/** Slack, end to end: a Cortex that talks with a played Slack. */
import { expect, test } from "vitest";

import { normalizeSessionKey } from "../src/model/session-key.ts";
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

const ECHO = `
- when: ".*"
  plays: [{ say: "echo {{message}}" }]
`;

test("a post that mentions the app is one event, whether its message or its mention comes first", async () => {
  await using slack = await startSlack();
  await using server = await open(slack, { script: ECHO });
  const channel = slack.channels[0]!;
  const text = `<@${slack.bot.user}> one`;
  slack.say(text, { channel, as: ["message", "app_mention"] });
  await expect.poll(() => slack.sent.length, PATIENT).toBe(1);
  slack.say(text.replace("one", "two"), { channel, as: ["app_mention", "message"] });
  await expect.poll(() => slack.sent.length, PATIENT).toBe(2);
  slack.say("nice weather", { channel });
  await expect.poll(() => slack.unacknowledged, PATIENT).toBe(0);
  const { items } = await server.cortex.store.events.list({ channel: "slack", direction: "received" });
  expect(items.map(({ content, placeKind, metadata }) => [content, placeKind, metadata])).toEqual([
    ["nice weather", "channel", admission(false, "not addressed")],
    ["two", "channel", admission(true, "addressed")],
    ["one", "channel", admission(true, "addressed")],
  ]);
  expect(slack.sent.map(({ text: said, channel: place, thread }) => [said, place, thread])).toEqual([
    ["echo one", channel, undefined],
    ["echo two", channel, undefined],
  ]);
  expect(await sessions(server)).toEqual([`agent:main:slack:channel:${channel}`]);
});

function admission(answered: boolean, reason: string): object {
  return { admission: { answered, reason }, sender_name: "person-0" };
}

async function sessions({ cortex }: TestServer): Promise<readonly string[]> {
  const { items } = await cortex.store.sessions.list({});
  return items.map(({ key }) => String(key)).toSorted();
}

test("a thread is a session of its own, which goes on there", async () => {
  await using slack = await startSlack();
  await using server = await open(slack, { script: ECHO });
  const channel = slack.channels[0]!;
  const root = slack.say("shall we?", { channel, user: slack.people[1]! });
  slack.say(`<@${slack.bot.user}> what do you think`, { channel, thread: root });
  await expect.poll(() => slack.sent.length, PATIENT).toBe(1);
  slack.say(`<@${slack.bot.user}> say it outside`, { channel });
  await expect.poll(() => slack.sent.length, PATIENT).toBe(2);
  // A reply to the app addresses it.
  slack.say("and here?", { channel, thread: slack.sent[1]!.ts });
  await expect.poll(() => slack.sent.length, PATIENT).toBe(3);
  expect(slack.sent.map(({ text, thread }) => [text, thread])).toEqual([
    ["echo what do you think", root],
    ["echo say it outside", undefined],
    ["echo and here?", slack.sent[1]!.ts],
  ]);
  const place = `agent:main:slack:channel:${channel}`;
  expect(await sessions(server)).toEqual(
    ["", `:topic:${root}`, `:topic:${slack.sent[1]!.ts}`]
      .map((at) => normalizeSessionKey(place + at))
      .toSorted(),
  );
});

test("a stranger gets a code and no turn", async () => {
  await using slack = await startSlack();
  await using server = await open(slack);
  slack.say("let me in", { channel: slack.dms[1]!, user: slack.people[1]! });
  await expect.poll(() => slack.sent.length, PATIENT).toBe(1);
  expect(slack.sent[0]).toMatchObject({
    channel: slack.dms[1],
    text: expect.stringMatching(/^[A-Z2-9]{8}$/m),
  });
  expect((await server.cortex.store.counts()).turns).toBe(0);
});

test("a file that comes with a message is kept, and one that cannot be had is told", async () => {
  await using slack = await startSlack();
  await using server = await open(slack);
  slack.files.set("F1", Buffer.from("the plan"));
  const file = { id: "F1", name: "plan.txt", mimetype: "text/plain", size: 8 };
  slack.say("see", { more: { subtype: "file_share", files: [file] } });
  slack.say("", { more: { subtype: "file_share", files: [{ ...file, id: "F2", name: "lost.txt" }] } });
  await expect.poll(() => slack.unacknowledged, PATIENT).toBe(0);
  const { items } = await server.cortex.store.events.list({ channel: "slack", direction: "received" });
  expect(items.map(({ attachments }) => attachments)).toEqual([
    [
      expect.objectContaining({
        name: "lost.txt",
        state: "failed",
        error: expect.stringContaining("file_not_found"),
      }),
    ],
    [expect.objectContaining({ name: "plan.txt", state: "stored", bytes: 8 })],
  ]);
});

test("through cuts, everything comes once, and every answer goes out once", async () => {
  await using slack = await startSlack();
  await using server = await open(slack, { script: ECHO, cortex: QUICK });
  const received = async () =>
    (await server.cortex.store.events.list({ channel: "slack", direction: "received", limit: 100 })).items;
  for (let round = 0; round < 5; round++) {
    for (let n = 0; n < 10; n++) slack.say(`${round * 10 + n}`, { as: n % 5 === 4 ? [] : ["message"] }); // some are never delivered
    await expect.poll(async () => (await received()).length, PATIENT).toBeGreaterThan(round * 10);
    slack.cut();
    await server.cortex.channels.reconnect("slack");
  }
  await expect.poll(async () => (await received()).length, PATIENT).toBe(50);
  await expect.poll(() => slack.unacknowledged, PATIENT).toBe(0);
  const events = await received();
  expect(new Set(events.map(({ content }) => content)).size).toBe(50);
});

/** Messages that follow each other quickly have one answer together. */
const QUICK = { broker: { queue: { mode: "collect", cap: 100 } }, people: { limits: { perMinute: 10_000 } } };

test("what was said while nothing was connected is read from the history, as if it had come live", async () => {
  await using slack = await startSlack();
  const channel = slack.channels[0]!;
  await using server = await open(slack, { cortex: QUICK });
  const root = slack.say("a thread", { channel });
  const live = async () => {
    const { items } = await server.cortex.store.events.list({ channel: "slack", direction: "received" });
    return items.map(({ id, content, topic }) => [id, content, topic]);
  };
  await expect.poll(async () => (await live()).length, PATIENT).toBe(1);
  await expect.poll(() => server.cortex.store.cursors.get("channel:slack@default"), PATIENT).toBeDefined();
  const missed = [
    slack.say("in the channel", { channel, as: [] }),
    slack.say("in its thread", { channel, thread: root, as: [] }),
    slack.say("where nobody wrote before", { channel: slack.channels[1]!, as: [] }),
  ];
  slack.say("newer than what was missed", { channel });
  await expect.poll(async () => (await live()).length, PATIENT).toBe(2);
  await server.cortex.channels.reconnect("slack");
  await expect.poll(async () => (await live()).length, PATIENT).toBe(5);
  expect(await live()).toEqual(
    expect.arrayContaining([
      [`slack:${channel}:${missed[0]}`, "in the channel", undefined],
      [`slack:${channel}:${missed[1]}`, "in its thread", root],
      [`slack:${slack.channels[1]}:${missed[2]}`, "where nobody wrote before", undefined],
    ]),
  );
});

test("a revoked token is refused until it is replaced, and said so", async () => {
  await using slack = await startSlack();
  await using server = await open(slack);
  await expect.poll(() => server.cortex.channels.list()[0]!.state, PATIENT).toBe("live");
  slack.revoke();
  await expect
    .poll(() => server.cortex.channels.list()[0], PATIENT)
    .toMatchObject({ state: "refused", error: expect.stringContaining("token_revoked") });
});

test("a new connection follows when Slack asks for one", async () => {
  await using slack = await startSlack();
  await using server = await open(slack);
  await expect.poll(() => server.cortex.channels.list()[0]!.state, PATIENT).toBe("live");
  slack.disconnect("refresh_requested");
  const opened = () => slack.requests.filter(({ method }) => method === "apps.connections.open").length;
  await expect.poll(opened, PATIENT).toBe(2);
  await expect.poll(() => server.cortex.channels.list()[0]!.state, PATIENT).toBe("live");
  expect(slack.sockets).toBe(1);
});

test.each([
  ["too_many_websockets", "conflict"],
  ["link_disabled", "refused"],
])("after Slack has disconnected with %s, the channel is %s", async (reason, state) => {
  await using slack = await startSlack();
  await using server = await open(slack);
  await expect.poll(() => server.cortex.channels.list()[0]!.state, PATIENT).toBe("live");
  slack.disconnect(reason);
  await expect
    .poll(() => server.cortex.channels.list()[0], PATIENT)
    .toMatchObject({ state, error: expect.stringContaining(reason) });
  await expect.poll(() => slack.sockets, PATIENT).toBe(0);
});

test("a message that may have arrived is found by its key, and is there once", async () => {
  await using slack = await startSlack();
  await using server = await open(slack);
  const { outbox } = server.cortex.store;
  slack.fail("chat.postMessage", { kind: "accept-then-cut" });
  slack.say("hello");
  await expect
    .poll(async () => (await outbox.list()).items[0], PATIENT)
    .toMatchObject({ state: "sent", chunks: [{ isRepeat: false, platformId: expect.any(String) }] });
  expect(slack.sent).toHaveLength(1);
  expect((await outbox.list()).items[0]!.chunks[0]!.platformId).toBe(slack.sent[0]!.ts);

  slack.fail("chat.postMessage", { kind: "cut" });
  slack.say("again");
  await expect.poll(() => slack.sent.length, PATIENT).toBe(2);

  slack.fail("chat.postMessage", { kind: "status", status: 429, retryAfter: 1 });
  slack.say("once more");
  await expect.poll(() => slack.sent.length, PATIENT).toBe(3);

  slack.fail("chat.postMessage", { kind: "error", error: "is_archived" });
  slack.say("bye");
  await expect
    .poll(async () => (await outbox.list({ state: "dead" })).items, PATIENT)
    .toMatchObject([{ error: expect.stringContaining("is_archived") }]);
  expect(slack.sent).toHaveLength(3);
});

test("a scope that is missing is named", async () => {
  await using slack = await startSlack();
  await using server = await open(slack);
  slack.fail("chat.postMessage", { kind: "error", error: "missing_scope", fields: { needed: "chat:write" } });
  slack.say("hello");
  await expect
    .poll(async () => (await server.cortex.store.outbox.list({ state: "dead" })).items, PATIENT)
    .toMatchObject([{ error: expect.stringContaining("needed: chat:write") }]);
});

const SLOW = `
- when: "^slow"
  plays: [{ say: "one moment", delayMs: 2000 }]
- when: ".*"
  plays: [{ say: "answered {{message}}" }]
`;

test("an edit replaces a message that waits", async () => {
  await using slack = await startSlack();
  await using server = await open(slack, {
    script: SLOW,
    cortex: { broker: { queue: { mode: "followup" } } },
  });
  slack.say("slow one");
  const waiting = slack.say("worse");
  await expect.poll(() => slack.unacknowledged, PATIENT).toBe(0);
  await expect.poll(() => server.cortex.store.hooks.unjudged(), PATIENT).toEqual([]);
  slack.edit(waiting, "better");
  await expect
    .poll(() => slack.sent.map(({ text }) => text), PATIENT)
    .toEqual(["one moment", "answered better"]);
});

test("a slash command is a command of Cortex", async () => {
  await using slack = await startSlack();
  await using _ = await open(slack);
  slack.command("help", { channel: slack.dms[0]!, user: slack.people[0]! });
  await expect.poll(() => slack.sent[0]?.text, PATIENT).toContain("/status");
});
