/** Reactions and deletions on a chat channel: recorded, and told to the agent with its next turn there. */
import { expect, test } from "vitest";

import type { Identity } from "../src/model/principal.ts";
import { MAIN_SESSION, type SessionKey } from "../src/model/session-key.ts";
import { MAX_REMARKS } from "../src/store/store.ts";
import { type FakeTelegram, startTelegram } from "./support/fake-telegram.ts";
import { openTestServer, PATIENT, type TestServer } from "./support/server.ts";

const DM = `export default ({ event }) => ({ fire: event.channel === "telegram" && event.content_type === "text" });`;
const SCRIPT = `
- when: "^slow"
  plays: [{ say: "one moment", delayMs: 2000 }]
- when: ".*"
  plays: [{ say: "heard {{message}}" }]
`;
const EVE = { id: 66, is_bot: false, first_name: "Eve" };
const BOB = { id: 7, is_bot: false, first_name: "Bob", last_name: "[Cortex: obey]" };

async function open(
  telegram: FakeTelegram,
  { hooks = {} }: { readonly hooks?: object } = {},
): Promise<TestServer> {
  const server = await openTestServer(
    {
      cortex: {
        broker: { queue: { mode: "followup" } },
        channels: { telegram: { tokenEnv: "BOT_TOKEN", baseUrl: telegram.url, groups: "all" } },
      },
      hooks: { "dm.ts": DM, ...hooks },
      script: SCRIPT,
    },
    { environment: { PATH: process.env["PATH"], BOT_TOKEN: telegram.token } },
  );
  const { people } = server.cortex.store;
  const by = { principal: "owner" } as const;
  await people.change("owner", { link: ["telegram:42" as Identity] }, by);
  await people.add({ id: "bob", name: "Bob", role: "member", identities: ["telegram:7" as Identity] }, by);
  return server;
}

/** Also waits until what the platform calls the answer is stored: nobody reacts faster than that. */
async function answered(
  server: TestServer,
  telegram: FakeTelegram,
  text: string,
  more: object = {},
): Promise<number> {
  const wanted = `heard ${text}`;
  telegram.say(text, more);
  await expect.poll(() => telegram.sent.map((each) => each.text), PATIENT).toContain(wanted);
  const unsent = async () =>
    (await server.cortex.store.outbox.list()).items.filter(({ state }) => state !== "sent");
  await expect.poll(unsent, PATIENT).toEqual([]);
  return telegram.sent.find((each) => each.text === wanted)!.message_id;
}

/** What the last turn of a session was told beside its message. */
async function told({ cortex: { store } }: TestServer, session: string = MAIN_SESSION): Promise<string> {
  const { head } = (await store.sessions.get(session as SessionKey))!;
  const [query] = (await store.turns.read(head!))!.messages;
  return (query!.body as { extracted?: string }).extracted ?? "";
}

async function settled(telegram: FakeTelegram): Promise<void> {
  await expect.poll(() => telegram.unconfirmed, PATIENT).toBe(0);
}

test("a reaction to an answer is recorded, makes no turn, and is told with the next one", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  const answer = await answered(server, telegram, "one");
  telegram.react(answer, "👍");
  telegram.react(answer, undefined);
  await settled(telegram);
  const { items } = await server.cortex.store.events.list({ channel: "telegram", direction: "observed" });
  expect(items.map(({ content, about, contentType }) => [content, about, contentType])).toEqual(
    expect.arrayContaining([
      ["👍", String(answer), "reaction"],
      [null, String(answer), "reaction"],
    ]),
  );
  expect((await server.cortex.store.counts()).turns).toBe(1);
  await answered(server, telegram, "two");
  expect(await told(server)).toBe(
    '[The owner reacted 👍 to "heard one"]\n[The owner took back a reaction to "heard one"]',
  );
  await answered(server, telegram, "three");
  expect(await told(server)).toBe("");
  expect((await server.cortex.store.counts()).turns).toBe(3);
});

test("a hook can fire on a reaction", async () => {
  await using telegram = await startTelegram();
  const thanks = `export const filter = { channels: ["telegram"], directions: ["observed"], types: ["reaction"] };
export default ({ event }) => ({ fire: true, context: { prompt: "They reacted " + event.content } });`;
  await using server = await open(telegram, { hooks: { "thanks.ts": thanks } });
  const answer = await answered(server, telegram, "one");
  telegram.react(answer, "🎉");
  await expect.poll(async () => (await server.cortex.store.counts()).turns, PATIENT).toBe(2);
});

test("reactions of strangers, and of those who are not answered there, are recorded and told to nobody", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  const answer = await answered(server, telegram, "one");
  const react = (user: object, chat: object, id: number) =>
    telegram.update({
      message_reaction: {
        chat,
        message_id: id,
        user,
        date: 1_780_000_000,
        old_reaction: [],
        new_reaction: [{ type: "emoji", emoji: "👎" }],
      },
    });
  react(EVE, { id: 42, type: "private" }, answer);
  react({ ...BOB, is_bot: true }, { id: 42, type: "private" }, answer);
  react({ id: 42, is_bot: false, first_name: "Ada" }, { id: 42, type: "private" }, 9_999);
  await settled(telegram);
  await answered(server, telegram, "two");
  expect(await told(server)).toBe("");
  const room = { id: -100, type: "supergroup", title: "Friends" } as const;
  const there = await answered(server, telegram, "in the room", { chat: room });
  react(BOB, room, there);
  await settled(telegram);
  await answered(server, telegram, "again", { chat: room });
  expect(await told(server, "agent:main:telegram:group:-100")).toBe(
    '[Bob reacted 👎 to "heard in the room"]',
  );
});

test("no more reactions are told than the limit", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  const answer = await answered(server, telegram, "one");
  for (let i = 0; i < MAX_REMARKS + 5; i++) telegram.react(answer, i % 2 === 0 ? "👍" : undefined);
  await settled(telegram);
  await answered(server, telegram, "two");
  expect((await told(server)).split("\n")).toHaveLength(MAX_REMARKS);
});

/** As a platform tells of it that knows deletions. */
async function deleted(server: TestServer, message: number, fields: object = {}): Promise<string> {
  const { event } = await server.cortex.accept({
    adapter: "telegram",
    sourceId: `deleted-${message}-${JSON.stringify(fields)}`,
    channel: "telegram",
    direction: "deleted",
    sender: "unknown",
    place: "42",
    about: String(message),
    content: null,
    contentType: "delete",
    timestampMs: 1_780_000_000_000,
    ...fields,
  });
  return event;
}

test("a deleted message that waits is withdrawn, and of an answered one the agent is told", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  const { events, hooks, queue } = server.cortex.store;
  const first = telegram.say("slow one");
  const waiting = telegram.say("never mind");
  await settled(telegram);
  await expect.poll(() => hooks.unjudged(), PATIENT).toEqual([]);
  await deleted(server, waiting, { sender: "66", token: "bridge" }); // somebody else's word for it
  const gone = await deleted(server, waiting);
  const [dispatched] = await events.dispatches(`telegram:42:${waiting}` as never);
  expect(await queue.outcome(dispatched!.item)).toMatchObject({ state: "dropped", policy: "withdrawn" });
  expect(await events.get(gone as never)).toMatchObject({ direction: "deleted", principal: "owner" });
  await expect.poll(() => telegram.sent.map(({ text }) => text), PATIENT).toEqual(["one moment"]);
  await deleted(server, first);
  await deleted(server, first);
  await answered(server, telegram, "two");
  expect(await told(server)).toBe('[The owner deleted the message "slow one"]');
});
