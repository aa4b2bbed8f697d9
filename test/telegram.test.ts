/** Telegram, end to end: a Cortex that talks with a played Telegram. */
import { expect, test } from "vitest";

import { type FakeTelegram, startTelegram } from "./support/fake-telegram.ts";
import { openTestCortex, writeHome } from "./support/home.ts";
import { openTestServer, PATIENT, type TestServer } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

const HOOKS = {
  "dm.ts": `export default ({ event }) => ({ fire: event.channel === "telegram" && event.content_type === "text" });`,
};

async function open(
  telegram: FakeTelegram,
  { script, cortex = {} }: { readonly script?: string; readonly cortex?: object } = {},
): Promise<TestServer> {
  const server = await openTestServer(
    {
      cortex: { ...cortex, channels: { telegram: { tokenEnv: "BOT_TOKEN", baseUrl: telegram.url } } },
      hooks: HOOKS,
      ...(script === undefined ? {} : { script }),
    },
    { environment: { PATH: process.env["PATH"], BOT_TOKEN: telegram.token } },
  );
  await server.cortex.store.people.change(
    "owner",
    { link: ["telegram:42" as never] },
    { principal: "owner" },
  );
  return server;
}

test("a message is answered in its chat, once, and its update is confirmed", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  telegram.say("hello there");
  await expect.poll(() => telegram.sent.length, PATIENT).toBe(1);
  expect(telegram.sent[0]).toMatchObject({ chat_id: "42", text: expect.stringContaining("offline model") });
  await expect.poll(() => telegram.unconfirmed, PATIENT).toBe(0);
  expect(server.cortex.channels.list()).toMatchObject([
    { channel: "telegram", account: "default", state: "live" },
  ]);
  expect(telegram.violations).toEqual([]);
});

test("a stranger gets a code and no turn, and is answered once the owner has let them in", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  const eve = { id: 7, is_bot: false, first_name: "Eve" };
  telegram.say("let me in", { from: eve });
  await expect.poll(() => telegram.sent.length, PATIENT).toBe(1);
  const { text, chat_id: chat } = telegram.sent[0]!;
  const code = /^[A-Z2-9]{8}$/m.exec(text)?.[0];
  expect([chat, code]).toEqual(["7", expect.any(String)]);
  telegram.say("please", { from: eve });
  await expect.poll(() => telegram.unconfirmed, PATIENT).toBe(0);
  expect((await server.cortex.store.counts()).turns).toBe(0);

  const pairing = {
    method: "POST",
    path: "/api/channels/pair",
    json: { code: code!.toLowerCase(), person: "eve" },
  };
  expect((await server.send(pairing)).json).toMatchObject({
    id: "eve",
    role: "member",
    identities: ["telegram:7"],
  });
  expect((await server.send(pairing)).json).toMatchObject({ error: { code: "pairing_unknown" } });
  telegram.say("hello", { from: eve });
  await expect
    .poll(() => telegram.sent.map((each) => each.text), PATIENT)
    .toEqual([text, "You can talk to me now.", expect.stringContaining("offline model")]);
});

test("in a group, what does not address the agent is recorded with the reason, and has no turn", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  const chat = { id: -100, type: "supergroup", title: "Friends" } as const;
  telegram.say("nice weather", { chat });
  telegram.say("@cortex_bot hello", { chat, entities: [{ type: "mention", offset: 0, length: 11 }] });
  await expect.poll(() => telegram.sent.length, PATIENT).toBe(1);
  const { items } = await server.cortex.store.events.list({ channel: "telegram", direction: "received" });
  expect(
    items.map(({ content, metadata }) => [content, (metadata as { admission: unknown }).admission]),
  ).toEqual([
    ["hello", { answered: true, reason: "addressed" }],
    ["nice weather", { answered: false, reason: "not addressed" }],
  ]);
  expect(telegram.sent[0]).toMatchObject({ chat_id: "-100" });
});

test("a file that comes with a message is kept, and one that cannot be had is told", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  telegram.files.set("doc", Buffer.from("the plan"));
  telegram.say("", {
    caption: "see",
    document: { file_id: "doc", file_name: "plan.txt", mime_type: "text/plain" },
  });
  telegram.say("", { caption: "and", document: { file_id: "gone", file_name: "lost.txt" } });
  await expect.poll(() => telegram.unconfirmed, PATIENT).toBe(0);
  const { items } = await server.cortex.store.events.list({ channel: "telegram", direction: "received" });
  expect(items.map(({ attachments }) => attachments)).toEqual([
    [expect.objectContaining({ name: "lost.txt", state: "failed", error: expect.stringContaining("404") })],
    [expect.objectContaining({ name: "plan.txt", state: "stored", bytes: 8 })],
  ]);
});

test("after a crash between commit and confirmation, nothing comes twice", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  for (let i = 0; i < 30; i++) telegram.say(`message ${i}`, { from: { id: 42, first_name: "Ada" } });
  await expect.poll(() => telegram.unconfirmed, PATIENT).toBe(0);
  const { items } = await server.cortex.store.events.list({
    channel: "telegram",
    direction: "received",
    limit: 100,
  });
  expect(items).toHaveLength(30);
});

test("after the token of another bot was set, its messages are read from their own beginning", async () => {
  await using telegram = await startTelegram();
  telegram.say("hello"); // update 1
  using folder = temporaryFolder();
  {
    await using apart = await openTestCortex({}, { home: folder.path });
    const cursor = { offset: 500, atMs: Date.now(), bot: 7 };
    await apart.store.cursors.set({ source: "channel:telegram@default", value: cursor });
  }
  const channel = { tokenEnv: "BOT_TOKEN", baseUrl: telegram.url };
  writeHome(folder.path, { cortex: { channels: { telegram: channel } } });
  const environment = { PATH: process.env["PATH"], BOT_TOKEN: telegram.token };
  await using server = await openTestServer({}, { home: folder.path, environment });
  const received = () => server.cortex.store.events.list({ channel: "telegram", direction: "received" });
  await expect
    .poll(async () => (await received()).items.map(({ content }) => content), PATIENT)
    .toEqual(["hello"]);
});

test("a revoked token is refused until it is replaced, and said so", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  await expect.poll(() => server.cortex.channels.list()[0]!.state, PATIENT).toBe("live");
  telegram.revoke();
  await expect
    .poll(() => server.cortex.channels.list()[0], PATIENT)
    .toMatchObject({
      state: "refused",
      error: expect.stringContaining("Unauthorized"),
    });
});

const SLOW = `
- when: "^slow"
  plays: [{ say: "one moment", delayMs: 2000 }]
- when: "Edited"
  plays: [{ say: "I see the change" }]
- when: "better"
  plays: [{ say: "answered the better one" }]
- when: ".*"
  plays: [{ say: "answered {{message}}" }]
`;

test("an edit replaces a message that waits, and is told to the agent where it was answered", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram, {
    script: SLOW,
    cortex: { broker: { queue: { mode: "followup" } } },
  });
  telegram.say("slow one");
  const waiting = telegram.say("worse");
  await expect.poll(() => telegram.unconfirmed, PATIENT).toBe(0);
  await expect.poll(() => server.cortex.store.hooks.unjudged(), PATIENT).toEqual([]);
  telegram.edit(waiting, "better");
  await expect
    .poll(() => telegram.sent.map(({ text }) => text), PATIENT)
    .toEqual(["one moment", "answered the better one"]);
  telegram.edit(waiting, "best");
  await expect
    .poll(() => telegram.sent.map(({ text }) => text), PATIENT)
    .toEqual(["one moment", "answered the better one", "I see the change"]);
});

test("a send that may have arrived is repeated once and marked, and one that is refused is dead", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  telegram.fail("sendMessage", { kind: "accept-then-cut" });
  telegram.say("hello");
  await expect.poll(() => telegram.sent.length, PATIENT).toBe(2);
  const { outbox } = server.cortex.store;
  await expect
    .poll(async () => (await outbox.list()).items[0], PATIENT)
    .toMatchObject({
      state: "sent",
      chunks: [{ isRepeat: true }],
    });

  telegram.fail("sendMessage", {
    kind: "status",
    status: 429,
    description: "Too Many Requests",
    retryAfter: 1,
  });
  telegram.say("again");
  await expect.poll(() => telegram.sent.length, PATIENT).toBe(3);

  telegram.fail("sendMessage", {
    kind: "status",
    status: 403,
    description: "Forbidden: bot was blocked by the user",
  });
  telegram.say("bye");
  await expect
    .poll(async () => (await outbox.list({ state: "dead" })).items, PATIENT)
    .toMatchObject([{ error: expect.stringContaining("bot was blocked by the user") }]);
});

test("Markdown of a model is formatted, and addresses nobody by name", async () => {
  await using telegram = await startTelegram();
  const script = `
- when: "list"
  plays: [{ say: "**Two** things:\\n\\n- \`one\`\\n- [two](https://example.test/) for @somebody" }]
`;
  await using _ = await open(telegram, { script });
  telegram.say("list");
  await expect.poll(() => telegram.sent.length, PATIENT).toBe(1);
  const { text, params } = telegram.sent[0]!;
  expect(text).toBe("Two things:\n\n• one\n• two for @\u2060somebody");
  const shown = (params["entities"] as { type: string; offset: number; length: number }[]).map(
    ({ type, offset, length }) => [type, text.slice(offset, offset + length)],
  );
  expect(shown).toEqual([
    ["bold", "Two"],
    ["code", "one"],
    ["text_link", "two"],
  ]);
});
