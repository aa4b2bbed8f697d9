/** Whoever floods a channel: what is stored and said is bounded, they are told once, and nobody else notices. */
import { expect, test } from "vitest";

import type { Identity } from "../../src/model/principal.ts";
import { MAX_PAIRINGS } from "../../src/store/limits.ts";
import { type FakeTelegram, startTelegram } from "../support/fake-telegram.ts";
import { openTestServer, PATIENT, type TestServer } from "../support/server.ts";

const OWNER = 1;
const HOOKS = {
  "dm.ts": `export default ({ event }) => ({ fire: event.channel === "telegram" && event.content_type === "text" });`,
};

async function open(telegram: FakeTelegram, people: object = {}): Promise<TestServer> {
  const channels = { telegram: { tokenEnv: "BOT_TOKEN", baseUrl: telegram.url, groups: "all" } };
  const script = `[{ when: ".*", plays: [{ say: "answered {{message}}" }] }]`;
  const environment = { PATH: process.env["PATH"], BOT_TOKEN: telegram.token };
  const server = await openTestServer(
    { cortex: { channels, people, broker: { queue: { mode: "followup" } } }, hooks: HOOKS, script },
    { environment },
  );
  const { people: known } = server.cortex.store;
  const by = { principal: "owner" };
  await known.change("owner", { link: [`telegram:${OWNER}` as Identity] }, by);
  await known.add({ id: "ada", name: "Ada", role: "member", identities: ["telegram:7" as Identity] }, by);
  await expect.poll(async () => (await server.cortex.store.hooks.list()).length, PATIENT).toBeGreaterThan(0);
  return server;
}

function from(id: number) {
  return { from: { id, is_bot: false, first_name: `Person ${id}` } };
}

function told({ sent }: FakeTelegram, chat: number): string[] {
  return sent.filter(({ chat_id }) => chat_id === String(chat)).map(({ text }) => text);
}

async function count({ cortex }: TestServer, table: string): Promise<number> {
  const [row] = await cortex.store.query(`select count(*) as rows from ${table}`);
  return Number(row!["rows"]);
}

async function isRead(telegram: FakeTelegram): Promise<void> {
  await expect.poll(() => telegram.unconfirmed, PATIENT).toBe(0);
}

test("a member who floods gets so many turns, is told once, and the owner is answered meanwhile", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram, { limits: { perMinute: 5 } });
  for (let n = 0; n < 300; n++) telegram.say(`flood ${n}`, from(7));
  telegram.say("hello", from(OWNER));
  await expect.poll(() => told(telegram, OWNER), PATIENT).toEqual(["answered hello"]);
  await isRead(telegram);
  await expect.poll(() => server.cortex.store.hooks.unjudged(), PATIENT).toEqual([]);
  const left = async (): Promise<number> => {
    const { queued, running } = await server.cortex.store.counts();
    return queued + running;
  };
  await expect.poll(left, PATIENT).toBe(0);
  const { turns } = await server.cortex.store.counts();
  expect(turns).toBeGreaterThanOrEqual(1 + 5);
  expect(turns).toBeLessThan(1 + 20); // what a minute gives back while the test runs
  const { items } = await server.cortex.store.outbox.list({ limit: 1_000 });
  const notices = items.filter(({ target, turn }) => target.place === "7" && turn === undefined);
  expect(notices).toHaveLength(1);
});

test("a member's flood of commands gets no more replies than messages would", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram, { limits: { perMinute: 3 } });
  for (let n = 0; n < 200; n++) telegram.say("/status", from(7));
  await isRead(telegram);
  const { items } = await server.cortex.store.outbox.list({ limit: 1_000 });
  expect(items.length).toBeGreaterThanOrEqual(3);
  expect(items.length).toBeLessThan(15);
});

test("a stranger who floods gets one code, and a day's worth of their messages is stored", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram, { guests: { eventsPerDay: 10 } });
  for (let n = 0; n < 300; n++) telegram.say(`let me in ${n}`, from(66));
  telegram.say("hello", from(OWNER));
  await expect.poll(() => told(telegram, OWNER), PATIENT).toEqual(["answered hello"]);
  await isRead(telegram);
  await expect.poll(() => told(telegram, 66).length, PATIENT).toBe(1);
  const { items } = await server.cortex.store.events.list({ channel: "telegram", limit: 1_000 });
  expect(items.filter(({ sender }) => sender === "66")).toHaveLength(10);
});

test("ten thousand strangers get a hundred codes an hour, and cost the ledger no more than a day may", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram, { guests: { eventsPerDay: 2, allEventsPerDay: 500 } });
  for (let id = 100_000; id < 110_000; id++) telegram.say("let me in", from(id));
  telegram.say("hello", from(OWNER));
  await isRead(telegram);
  await expect.poll(() => told(telegram, OWNER), PATIENT).toEqual(["answered hello"]);
  expect(await count(server, "pairing")).toBe(MAX_PAIRINGS);
  expect(await count(server, "event where direction = 'received' and channel = 'telegram'")).toBe(501);
  expect(await count(server, "guest_day")).toBe(501);
  expect(await count(server, "delivery")).toBe(MAX_PAIRINGS + 1);
}, 180_000);

test("no code is found by trying: whoever has the token, and nobody in a chat, can use one", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  telegram.say("hello", from(66));
  await expect.poll(() => told(telegram, 66).length, PATIENT).toBe(1);
  const [code] = /^[A-Z2-9]{8}$/m.exec(told(telegram, 66)[0]!)!;
  for (const text of [code, `/pair ${code}`, `pair ${code}`]) {
    telegram.say(text, from(66));
    telegram.say(text, from(67));
    telegram.say(text, from(7));
  }
  await isRead(telegram);
  expect(await server.cortex.store.people.find("telegram:66" as Identity)).toBeUndefined();
  expect(await server.cortex.store.people.find("telegram:67" as Identity)).toBeUndefined();

  const guess = { method: "POST", path: "/api/channels/pair", json: { code } };
  const refused = await server.send({ ...guess, headers: { authorization: "Bearer none" } });
  expect(refused.status).toBe(401);
  const token = { name: "phone", can: ["read", "send"] };
  const made = await server.send({ method: "POST", path: "/api/tokens", json: token });
  const scoped = { authorization: `Bearer ${made.json.secret ?? made.json.token}` };
  expect((await server.send({ ...guess, headers: scoped })).status).toBe(403);
  expect(34 ** code.length / (MAX_PAIRINGS * 1_000)).toBeGreaterThan(10_000_000); // hours of a thousand guesses each
});
