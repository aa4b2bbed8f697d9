/** Who answers where: settings of channels, sessions over several channels, and what becomes of messages nobody answers. */
import { expect, test } from "vitest";

import { explain } from "../src/insight/why.ts";
import type { EventId } from "../src/model/ids.ts";
import { MAIN_SESSION, type SessionKey } from "../src/model/session-key.ts";
import type { Identity } from "../src/model/principal.ts";
import type { StoredEvent } from "../src/store/store.ts";
import { type FakeTelegram, startTelegram } from "./support/fake-telegram.ts";
import { judge } from "./support/judged.ts";
import { openTestServer, PATIENT, type TestServer } from "./support/server.ts";

const DM = `export default ({ event }) => ({ fire: ["telegram", "discord"].includes(event.channel) && event.content_type === "text" && event.metadata.admission?.answered !== false });`;
const SCRIPT = `
- when: "^slow"
  plays: [{ say: "slow", delayMs: 1500 }]
- when: ".*"
  plays: [{ say: "heard {{message}}" }]
`;
const BOB = { id: 7, is_bot: false, first_name: "Bob" };
const ROOM = { id: -100, type: "supergroup", title: "Friends" } as const;

async function open(
  telegram: FakeTelegram,
  {
    channel = {},
    cortex = {},
    ...options
  }: { readonly channel?: object; readonly cortex?: object; readonly clock?: () => number } = {},
): Promise<TestServer> {
  const server = await openTestServer(
    {
      cortex: {
        ...cortex,
        channels: { telegram: { tokenEnv: "BOT_TOKEN", baseUrl: telegram.url, ...channel } },
      },
      hooks: { "dm.ts": DM },
      script: SCRIPT,
    },
    { environment: { PATH: process.env["PATH"], BOT_TOKEN: telegram.token }, ...options },
  );
  const { people } = server.cortex.store;
  const by = { principal: "owner" } as const;
  await people.change("owner", { link: ["telegram:42" as Identity, "discord:99" as Identity] }, by);
  const identities = ["telegram:7", "discord:8"] as Identity[];
  await people.add({ id: "bob", name: "Bob", role: "member", identities }, by);
  return server;
}

async function answered(telegram: FakeTelegram, count: number): Promise<void> {
  await expect.poll(() => telegram.sent.length, PATIENT).toBe(count);
}

const sessionOf = ({ cortex }: TestServer, key: string) => cortex.store.sessions.get(key as SessionKey);

test("a channel's persona answers there, and what was said to another one stays apart", async () => {
  await using telegram = await startTelegram();
  const personas = { atlas: {}, helpdesk: { permissions: { tools: { allow: [] } } } };
  await using server = await open(telegram, { channel: { persona: "helpdesk" }, cortex: { personas } });
  await server.cortex.say({ content: "from the terminal" });
  telegram.say("hi");
  telegram.say("hello", { from: BOB });
  await answered(telegram, 2);
  expect(await sessionOf(server, MAIN_SESSION)).toMatchObject({ persona: "atlas", turnCount: 1 });
  expect(await sessionOf(server, "agent:main:telegram:dm:7")).toMatchObject({ persona: "helpdesk" });
  const { items } = await server.cortex.store.sessions.list();
  expect(items.filter(({ key }) => key.startsWith("agent:main:talk:"))).toMatchObject([
    { persona: "helpdesk", agent: "main", turnCount: 1 },
  ]);
});

test("a channel's persona is answered for by the agent that has it", async () => {
  await using telegram = await startTelegram();
  const cortex = { personas: { atlas: {}, desk: {} }, agents: { main: {}, helper: { persona: "desk" } } };
  await using server = await open(telegram, { channel: { persona: "desk" }, cortex });
  telegram.say("hi");
  telegram.say("hello", { from: BOB });
  await answered(telegram, 2);
  expect(await sessionOf(server, "agent:helper:main")).toMatchObject({ agent: "helper", persona: "desk" });
  expect(await sessionOf(server, "agent:helper:telegram:dm:7")).toMatchObject({ persona: "desk" });
});

test("a channel's queue mode is that of its messages, unless the session has its own", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram, { channel: { queueMode: "followup" } });
  telegram.say("/queue");
  await answered(telegram, 1);
  expect(telegram.sent[0]!.text).toContain("mode: followup (channels.telegram)");
  telegram.say("slow");
  telegram.say("two");
  await answered(telegram, 3);
  expect(telegram.sent.slice(1).map(({ text }) => text)).toEqual(["slow", "heard two"]);
  const [dispatch] = await server.cortex.store.events.dispatches("telegram:42:3" as EventId);
  expect(dispatch).toBeDefined();
  telegram.say("/queue collect");
  await answered(telegram, 4);
  expect(telegram.sent[3]!.text).toContain("mode: collect (this session)");
});

const DISCORD = { channel: "discord", placeKind: "dm" } as const;

test("the owner's session goes on across channels, and each answer goes where its message came from", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram, { channel: { dmScope: "main" } });
  const { store } = server.cortex;
  telegram.say("one");
  await answered(telegram, 1);
  await judge(server.cortex, { ...DISCORD, sender: "99", place: "dm-99", content: "two" });
  await judge(server.cortex, { ...DISCORD, sender: "8", place: "dm-8", content: "private" });
  telegram.say("three", { from: BOB });
  const turns = async (key: string) => (await sessionOf(server, key))?.turnCount;
  await expect.poll(() => turns(MAIN_SESSION), PATIENT).toBe(2);
  await expect.poll(() => turns("agent:main:discord:dm:8"), PATIENT).toBe(1);
  await expect.poll(() => turns("agent:main:telegram:dm:7"), PATIENT).toBe(1);
  const targets = (await store.outbox.list()).items.map(
    ({ content, target: { channel, place } }) => `${content} → ${channel} ${place}`,
  );
  expect(new Set(targets)).toEqual(
    new Set([
      "heard one → telegram 42",
      "heard private → discord dm-8",
      "heard three → telegram 7",
      "heard two → discord dm-99",
    ]),
  );
});

test("a message that is not answered says why, and so does `cortex why`", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram, { channel: { allow: ["42", "-100"] } });
  const other = { id: -200, type: "supergroup", title: "Others" } as const;
  const addressed = { entities: [{ type: "mention", offset: 0, length: 11 }] };
  telegram.say("nice weather", { chat: ROOM });
  telegram.say("@cortex_bot hi", { chat: other, from: { ...BOB, id: 66 }, ...addressed });
  telegram.say("@cortex_bot beep", { chat: ROOM, from: { ...BOB, is_bot: true }, ...addressed });
  telegram.say("@cortex_bot yes", { chat: ROOM, ...addressed });
  await expect.poll(() => telegram.unconfirmed, PATIENT).toBe(0);
  const { events } = server.cortex.store;
  const { items } = await events.list({ channel: "telegram", direction: "received" });
  const verdict = ({ metadata }: StoredEvent) =>
    (metadata as { admission?: { answered: boolean; reason: string } } | undefined)?.admission;
  const reasons = Object.fromEntries(items.map((event) => [event.content, verdict(event)?.reason]));
  expect(reasons).toEqual({
    "nice weather": "not addressed",
    hi: undefined, // of a stranger, nothing but the beginning of the text is kept
    beep: "sent by a bot", // that its room is listed does not make two bots talk
    yes: "addressed",
  });
  const { event, dispatches } = await explain(server.cortex.store, items.at(-1)!.id);
  expect([event?.metadata, dispatches]).toMatchObject([{ admission: { answered: false } }, []]);
});

test("a flood by one member is bounded and told once, and nothing of others is lost", async () => {
  await using telegram = await startTelegram();
  const people = { limits: { perMinute: 3, pending: 10 } };
  const startMs = Date.now();
  const clock = () => Date.UTC(2026, 5, 1, 12) + Date.now() - startMs; // people are told once in ten minutes
  await using server = await open(telegram, { cortex: { people }, clock });
  for (let i = 0; i < 40; i++) telegram.say(`spam ${i}`, { from: BOB });
  telegram.say("mine");
  await expect.poll(() => telegram.sent.map(({ text }) => text), PATIENT).toContain("heard mine");
  await expect.poll(() => telegram.unconfirmed, PATIENT).toBe(0);
  await expect.poll(() => server.cortex.store.hooks.unjudged(), PATIENT).toEqual([]);
  const { store } = server.cortex;
  await expect.poll(async () => (await store.counts()).queued, PATIENT).toBe(0);
  const { items } = await store.events.list({ channel: "telegram", direction: "received", limit: 100 });
  expect(items).toHaveLength(41);
  const inDm = () => telegram.sent.flatMap(({ chat_id: chat, text }) => (chat === "7" ? [text] : []));
  await expect.poll(() => inDm().some((text) => text.startsWith("heard")), PATIENT).toBe(true);
  expect(inDm().filter((text) => text.startsWith("Not taken: "))).toHaveLength(1);
  const spam = items.find(({ content }) => content === "spam 39")!;
  const explained = await explain(store, spam.id);
  expect(explained.items).toMatchObject([{ state: "dropped", policy: expect.any(String) }]);
});
