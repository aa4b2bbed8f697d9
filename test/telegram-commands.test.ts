/** Chat commands on Telegram: what the owner, members and rooms may use, and where a talk goes by them. */
import { expect, test } from "vitest";

import { MAIN_SESSION, type SessionKey } from "../src/model/session-key.ts";
import type { Identity } from "../src/model/principal.ts";
import { type FakeTelegram, startTelegram } from "./support/fake-telegram.ts";
import { openTestServer, PATIENT, type TestServer } from "./support/server.ts";

const HOOKS = {
  "dm.ts": `export default ({ event }) => ({ fire: event.channel === "telegram" && event.content_type === "text" });`,
};
const SCRIPT = `
- when: "^wait"
  plays:
    - calls: [{ tool: AskUser, args: { question: "How long?" } }]
    - { say: "waited" }
- when: ".*"
  plays: [{ say: "heard {{message}}" }]
`;
const BOB = { id: 7, is_bot: false, first_name: "Bob" };
const ROOM = { id: -100, type: "supergroup", title: "Friends" } as const;
const TALK = /agent:main:talk:[0-9a-f]{26}/;

async function open(telegram: FakeTelegram): Promise<TestServer> {
  const server = await openTestServer(
    {
      cortex: { channels: { telegram: { tokenEnv: "BOT_TOKEN", baseUrl: telegram.url, groups: "all" } } },
      hooks: HOOKS,
      script: SCRIPT,
    },
    { environment: { PATH: process.env["PATH"], BOT_TOKEN: telegram.token } },
  );
  const { people } = server.cortex.store;
  await people.change("owner", { link: ["telegram:42" as Identity] }, { principal: "owner" });
  await people.add(
    { id: "bob", name: "Bob", role: "member", identities: ["telegram:7" as Identity] },
    { principal: "owner" },
  );
  return server;
}

/** What came back for a message: everything that was sent after it. */
async function reply(telegram: FakeTelegram, text: string, more: object = {}): Promise<string> {
  const before = telegram.sent.length;
  telegram.say(text, more);
  await expect.poll(() => telegram.sent.length, PATIENT).toBe(before + 1);
  return telegram.sent.at(-1)!.text;
}

const turnsIn = async ({ cortex: { store } }: TestServer, session: string) => {
  const { head } = (await store.sessions.get(session as SessionKey)) ?? {};
  const turns = head === undefined ? [] : await store.turns.thread(head, { limit: 20 });
  return Promise.all(
    turns.toReversed().map(async ({ id }) => (await store.turns.read(id))?.messages.at(-1)?.content),
  );
};

test("/new moves the chat to a session of its own, once, and the earlier one stays as it was", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  await reply(telegram, "one");
  const said = await reply(telegram, "/new");
  const [talk] = TALK.exec(said)!;
  expect(said).toContain(`${MAIN_SESSION} is kept`);
  const { id, ...command } = (await server.cortex.store.events.list({ channel: "telegram" })).items.find(
    ({ content }) => content === "/new",
  )!;
  expect(command.metadata).toMatchObject({ reply: said });
  telegram.update({ message: { ...JSON.parse(JSON.stringify(redelivered("/new", id))) } });
  await reply(telegram, "two");
  expect(await turnsIn(server, MAIN_SESSION)).toEqual(["heard one"]);
  expect(await turnsIn(server, talk)).toEqual(["heard two"]);
  expect(await reply(telegram, "/status")).toContain(talk);
  expect(telegram.violations).toEqual([]);
});

/** The message of an event, as Telegram delivers it again. */
function redelivered(text: string, event: string): object {
  const id = Number(event.split(":").at(-1));
  const from = { id: 42, is_bot: false, first_name: "Ada" };
  return { message_id: id, date: 1_780_000_000 + id, text, from, chat: { id: 42, type: "private" } };
}

test("messages before and after /new that arrive together go to the session that each was meant for", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  await reply(telegram, "zero");
  telegram.say("one");
  telegram.say("/new");
  telegram.say("two");
  await expect.poll(() => telegram.sent.length, PATIENT).toBe(4);
  const [talk] = TALK.exec(telegram.sent.map(({ text }) => text).join("\n"))!;
  expect(await turnsIn(server, MAIN_SESSION)).toEqual(["heard zero", "heard one"]);
  expect(await turnsIn(server, talk)).toEqual(["heard two"]);
});

test("/fork continues from an earlier answer, and the lines below it are the first message there", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  for (const text of ["one", "two"]) await reply(telegram, text);
  telegram.say("/fork 2\nthree");
  await expect.poll(() => telegram.sent.length, PATIENT).toBe(4);
  const [talk] = TALK.exec(telegram.sent.map(({ text }) => text).join("\n"))!;
  expect(await turnsIn(server, MAIN_SESSION)).toEqual(["heard one", "heard two"]);
  expect(await turnsIn(server, talk)).toEqual(["heard one", "heard three"]);
});

test("a member starts over in their own direct message, and sees no turn of anybody else", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  await reply(telegram, "secret");
  const { head } = (await server.cortex.store.sessions.get(MAIN_SESSION))!;
  await reply(telegram, "hi", { from: BOB });
  expect(await reply(telegram, `/fork ${head}`, { from: BOB })).toContain("has no turn");
  expect(await reply(telegram, "/fork 1 mine", { from: BOB })).toContain("Only the owner can name");
  expect(await reply(telegram, "/new", { from: BOB })).toMatch(TALK);
  await reply(telegram, "again", { from: BOB });
  await reply(telegram, "more");
  expect(await turnsIn(server, MAIN_SESSION)).toEqual(["heard secret", "heard more"]);
  expect(await turnsIn(server, "agent:main:telegram:dm:7")).toEqual(["heard hi"]);
});

test("in a room, the owner gets what is the room's own, and a member neither moves nor configures it", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  await reply(telegram, "hello", { chat: ROOM });
  expect(await reply(telegram, "/team", { chat: ROOM })).toMatch(/^Others would read the reply here/);
  expect(await reply(telegram, "!thread list --running", { chat: ROOM })).toMatch(/^Others would read/);
  expect(await reply(telegram, "/queue collect", { chat: ROOM })).toContain("mode: collect (this session)");
  for (const text of ["/new", "/fork", "/queue", "/approve"])
    expect(await reply(telegram, text, { chat: ROOM, from: BOB })).toMatch(/^Only the owner may/);
  expect(await reply(telegram, "/new", { chat: ROOM })).toMatch(TALK);
  expect(await reply(telegram, "/status", { chat: ROOM, from: BOB })).toMatch(TALK);
  expect((await server.cortex.store.sessions.get(MAIN_SESSION))?.head).toBeUndefined();
});

test("!cancel stops a turn: the owner's any, a member's only their own", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  const state = async () =>
    (await server.cortex.store.sessions.get("agent:main:telegram:group:-100" as SessionKey))?.state;
  await reply(telegram, "wait", { chat: ROOM });
  expect(await reply(telegram, "!cancel", { chat: ROOM, from: BOB })).toBe("Nothing running to cancel.");
  expect(await state()).toBe("suspended");
  expect(await reply(telegram, "/cancel", { chat: ROOM })).toBe("Stopped the current turn.");
  await expect.poll(state, PATIENT).toBe("idle");
  await reply(telegram, "wait", { chat: ROOM, from: BOB });
  expect(await reply(telegram, "!cancel", { chat: ROOM, from: BOB })).toBe("Stopped the current turn.");
});

test("/help lists what the person may use where they are", async () => {
  await using telegram = await startTelegram();
  await using _ = await open(telegram);
  expect(await reply(telegram, "/help")).toMatch(/\/queue[^]*\/fork \[<turn>[^]*!thread agents[^]*!team/);
  const inRoom = await reply(telegram, "/help", { chat: ROOM });
  expect(inRoom).toContain("/fork [<number>]");
  expect(inRoom).not.toMatch(/!team|--running/);
  expect(await reply(telegram, "/help", { from: BOB })).toBe(
    "/answer [<id>] <text>\n/new\n/fork [<number>]\n/status\n/help\n!cancel [id]: stop what you have started",
  );
});

test("the menu of commands is set once", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  const menus = () => telegram.requests.filter(({ method }) => method === "setMyCommands");
  await expect.poll(() => menus().length, PATIENT).toBe(1);
  await server.cortex.channels.reconnect("telegram");
  await expect.poll(() => server.cortex.channels.list()[0]?.state, PATIENT).toBe("live");
  await reply(telegram, "hello");
  expect(menus()).toHaveLength(1);
  const words = menus()[0]!.params["commands"].map(({ command }: { command: string }) => command);
  expect(words).toEqual(expect.arrayContaining(["new", "fork", "status", "help", "cancel", "team"]));
  expect(telegram.violations).toEqual([]);
});
