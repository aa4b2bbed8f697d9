/** Approvals and questions in a chat of Telegram: asked with buttons, and decided once, by those who may. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { Identity } from "../src/model/principal.ts";
import { type FakeTelegram, startTelegram } from "./support/fake-telegram.ts";
import type { CortexOptions } from "../src/runtime/cortex.ts";
import { type HomeFiles, writeHome } from "./support/home.ts";
import { temporaryFolder } from "./support/temporary.ts";
import { openTestServer, PATIENT, type TestServer } from "./support/server.ts";

const HOOKS = {
  "dm.ts": `export default ({ event }) => ({ fire: event.channel === "telegram" && event.content_type === "text" });`,
};

const SCRIPT = `
- when: "^deploy"
  plays:
    - calls: [{ tool: Write, args: { path: "out.txt", content: "go\\u202Ene" } }]
    - { say: "deployed" }
- when: "^ask"
  plays:
    - calls: [{ tool: AskUser, args: { question: "Which colour?", options: [red, blue] } }]
    - { say: "coloured" }
- when: ".*"
  plays: [{ say: "heard {{message}}" }]
`;

const ASKING = { personas: { atlas: { permissions: { ask: ["Write"] } } } };
const BOB = { id: 7, is_bot: false, first_name: "Bob" };
const EVE = { id: 66, is_bot: false, first_name: "Eve" };
const ROOM = { id: -100, type: "supergroup", title: "Friends" } as const;

const filesFor = (telegram: FakeTelegram): HomeFiles => ({
  cortex: {
    ...ASKING,
    channels: { telegram: { tokenEnv: "BOT_TOKEN", baseUrl: telegram.url, groups: "all" } },
  },
  hooks: HOOKS,
  script: SCRIPT,
});

async function open(telegram: FakeTelegram, options: Partial<CortexOptions> = {}): Promise<TestServer> {
  const environment = { PATH: process.env["PATH"], BOT_TOKEN: telegram.token };
  const server = await openTestServer(filesFor(telegram), { environment, ...options });
  const { people } = server.cortex.store;
  const by = { principal: "owner" } as const;
  await people.change("owner", { link: ["telegram:42" as Identity, "telegram:43" as Identity] }, by);
  await people.add(
    { id: "bob", name: "Bob *B*", role: "member", identities: ["telegram:7" as Identity] },
    by,
  );
  return server;
}

/** Sends a message that makes the agent ask, and gives the message with the buttons. */
async function asked(server: TestServer, telegram: FakeTelegram, text: string, more: object = {}) {
  telegram.say(text, more);
  const found = () => telegram.sent.findLast(({ buttons }) => buttons.length > 0);
  await expect.poll(found, PATIENT).toBeDefined();
  const unsent = async () =>
    (await server.cortex.store.outbox.list()).items.filter(({ state }) => state !== "sent");
  await expect.poll(unsent, PATIENT).toEqual([]); // nobody presses before its platform's id is stored
  return found()!;
}

const decisions = async (server: TestServer) =>
  (await server.cortex.store.approvals.list()).items.map(({ state, answer }) => [state, answer?.by]);

test("an approval is asked for with the exact call and two buttons, and pressing one decides it", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  const message = await asked(server, telegram, "deploy");
  expect(message.text).toContain(String.raw`│ go\u{202E}ne`);
  expect(message.buttons.map(([label]) => label)).toEqual(["Approve", "Deny"]);
  for (const [, data] of message.buttons) expect(Buffer.byteLength(data)).toBeLessThanOrEqual(64);

  telegram.press(message.message_id, message.buttons[0]![1]);
  await expect.poll(() => telegram.sent.at(-1)?.text, PATIENT).toBe("deployed");
  expect(message.text).toMatch(/go\\u\{202E\}ne[^]*\n✅ Approved by the owner$/);
  expect(message.text).not.toContain("/approve");
  expect(message.buttons).toEqual([]);
  expect(await decisions(server)).toEqual([["used", "owner"]]);
  expect(telegram.violations).toEqual([]);
});

test("a second press, also at once and of the other button, decides nothing and is told", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  const message = await asked(server, telegram, "deploy");
  const [[, approve], [, deny]] = message.buttons as [[string, string], [string, string]];
  const carol = { id: 43, is_bot: false, first_name: "Carol" };
  const chat = { id: 42, type: "private" } as const;
  telegram.press(message.message_id, deny);
  telegram.press(message.message_id, approve);
  telegram.press(message.message_id, deny, carol, chat);
  const late = "❌ Already denied by the owner.";
  await expect.poll(() => telegram.sent.filter(({ text }) => text === late).length, PATIENT).toBe(2);
  expect(await decisions(server)).toEqual([["denied", "owner"]]);
  expect(message.text).toMatch(/❌ Denied by the owner$/);
});

test("others than the owner decide nothing, and a room is told once", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  const message = await asked(server, telegram, "deploy");
  const [, approve] = message.buttons[0]!;
  const chat = { id: 42, type: "private" } as const;
  telegram.press(message.message_id, approve, BOB, chat);
  for (let time = 1; time <= 3; time++) telegram.press(message.message_id, approve, EVE, chat);
  const refusals = () => telegram.sent.filter(({ text }) => text === "Only the owner may decide this.");
  await expect.poll(() => telegram.unconfirmed, PATIENT).toBe(0);
  await expect.poll(() => refusals().length, PATIENT).toBe(2);
  expect(await decisions(server)).toEqual([["open", undefined]]);
  expect(message.buttons).toHaveLength(2);
});

test("forged data decides nothing: it counts only below the message that told of the request", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  const first = telegram.say("hello");
  const message = await asked(server, telegram, "deploy");
  const [, approve] = message.buttons[0]!;
  telegram.press(first, approve); // below another message
  telegram.press(message.message_id, approve, undefined, ROOM); // in another place
  telegram.press(message.message_id, "approve:01ARZ3NDEKTSV4RRFFQ69G5FAV");
  telegram.press(message.message_id, approve.replace("approve", "option") + ":0");
  const refused = "This button belongs to no request that this chat was told of.";
  await expect.poll(() => telegram.sent.filter(({ text }) => text === refused).length, PATIENT).toBe(4);
  expect(await decisions(server)).toEqual([["open", undefined]]);
});

test("a request that was decided elsewhere loses its buttons, and so does one of a turn that was stopped", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  const message = await asked(server, telegram, "deploy");
  const [request] = (await server.cortex.store.approvals.list()).items;
  await server.send({
    method: "POST",
    path: `/api/approvals/${request!.id}`,
    json: { decision: "deny", reason: "not [now](http://x)" },
  });
  await expect.poll(() => message.text, PATIENT).toMatch(/❌ Denied by the owner: not now\(http:\/\/x\)$/);
  expect(message.buttons).toEqual([]);

  await expect.poll(() => telegram.sent.at(-1)?.text, PATIENT).toBe("deployed");
  const second = await asked(server, telegram, "deploy again");
  telegram.say("!cancel");
  await expect.poll(() => second.text, PATIENT).toMatch(/⏹️ No longer needed$/);
  telegram.press(second.message_id, `approve:${(await server.cortex.store.approvals.list()).items[0]!.id}`);
  await expect.poll(() => telegram.sent.at(-1)?.text, PATIENT).toBe("⏹️ No longer needed.");
});

test("an approval that has expired is told as such, and its buttons are gone", async () => {
  await using telegram = await startTelegram();
  let aheadMs = 0;
  await using server = await open(telegram, { clock: () => Date.now() + aheadMs });
  const message = await asked(server, telegram, "deploy");
  const [, approve] = message.buttons[0]!;
  aheadMs = 3_600_001;
  await server.cortex.store.approvals.expire();
  await expect.poll(() => message.text, PATIENT).toMatch(/⌛ Expired: nobody decided in time$/);
  telegram.press(message.message_id, approve);
  await expect.poll(() => telegram.sent.at(-1)?.text, PATIENT).toBe("⌛ Expired: nobody decided in time.");
});

test("a press that arrives after a restart decides, once", async () => {
  await using telegram = await startTelegram();
  using home = temporaryFolder();
  writeHome(home.path, filesFor(telegram));
  let message: Awaited<ReturnType<typeof asked>>;
  {
    await using server = await open(telegram, { home: home.path });
    message = await asked(server, telegram, "deploy");
    await expect.poll(() => telegram.unconfirmed, PATIENT).toBe(0);
  }
  const [, approve] = message.buttons[0]!;
  for (let time = 1; time <= 2; time++) telegram.press(message.message_id, approve);
  await using server = await openTestServer(
    {},
    { home: home.path, environment: { PATH: process.env["PATH"], BOT_TOKEN: telegram.token } },
  );
  await expect
    .poll(() => new Set(telegram.sent.map(({ text }) => text.split("\n").at(-1))), PATIENT)
    .toEqual(new Set(["deployed", "✅ Already approved by the owner.", "✅ Approved by the owner"]));
  expect(await decisions(server)).toEqual([["used", "owner"]]);
});

test("an approval whose file has changed is asked again, and pressing the old one decides nothing", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  const first = await asked(server, telegram, "deploy");
  const [, approve] = first.buttons[0]!;
  writeFileSync(join(server.cortex.home, "workspaces", "main", "out.txt"), "somebody else's");
  telegram.press(first.message_id, approve);
  await expect.poll(() => telegram.sent.filter(({ buttons }) => buttons.length > 0), PATIENT).not.toEqual([]);
  await expect.poll(() => first.text, PATIENT).toMatch(/🔁 No longer valid: it was asked again$/);
  telegram.press(first.message_id, approve);
  await expect
    .poll(() => telegram.sent.map(({ text }) => text), PATIENT)
    .toContain("🔁 No longer valid: it was asked again.");
  expect((await decisions(server)).map(([state]) => state)).toEqual(["open", "void"]);
});

test("a question has its options as buttons, for whoever it is asked of", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  const chat = { id: 7, type: "private" } as const;
  const message = await asked(server, telegram, "ask me", { from: BOB });
  expect([message.chat_id, message.buttons.map(([label]) => label)]).toEqual(["7", ["red", "blue"]]);
  telegram.press(message.message_id, message.buttons[1]![1], EVE, chat);
  telegram.press(message.message_id, message.buttons[1]![1], BOB);
  telegram.press(message.message_id, message.buttons[0]![1], BOB);
  await expect
    .poll(() => telegram.sent.map(({ text }) => text), PATIENT)
    .toEqual(
      expect.arrayContaining([
        "Only the owner, or whoever the question is for, may answer this.",
        "✅ Already answered by Bob B.",
        "coloured",
      ]),
    );
  expect(message.text).toMatch(/✅ Answered by Bob B: blue$/);
  const [request] = (await server.cortex.store.approvals.list()).items;
  expect(request).toMatchObject({ state: "answered", answer: { by: "person:bob", text: "blue" } });
});

test("/approve and /deny decide in the chat that was shown the call", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  await asked(server, telegram, "deploy");
  telegram.say("/approve");
  await expect.poll(() => telegram.sent.map(({ text }) => text), PATIENT).toContain("Approved: Write");
  await expect.poll(() => decisions(server), PATIENT).toEqual([["used", "owner"]]);
});
