/** What goes out to Telegram beside plain text, end to end. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { type FakeTelegram, startTelegram } from "./support/fake-telegram.ts";
import { openTestServer, PATIENT, type TestServer } from "./support/server.ts";

const HOOKS = {
  "dm.ts": `export default ({ event }) => ({ fire: event.channel === "telegram" && event.content_type === "text" });`,
};

const lines: string[] = [];

async function open(telegram: FakeTelegram, script: string): Promise<TestServer> {
  const server = await openTestServer(
    {
      cortex: {
        sandbox: "off",
        channels: { telegram: { tokenEnv: "BOT_TOKEN", baseUrl: telegram.url, groups: "all" } },
      },
      hooks: HOOKS,
      script,
    },
    {
      environment: { PATH: process.env["PATH"], BOT_TOKEN: telegram.token },
      log: (line) => void lines.push(line),
    },
  );
  const { people } = server.cortex.store;
  await people.change("owner", { link: ["telegram:42" as never] }, { principal: "owner" });
  return server;
}

function putFiles(server: TestServer, files: Readonly<Record<string, string>>): void {
  const workspace = join(server.cortex.home, "workspaces", "main");
  mkdirSync(workspace, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(workspace, name), content);
}

const sentBy = (telegram: FakeTelegram) =>
  telegram.sent.map(({ method, text, file }) => [method, file === undefined ? text : file.toString()]);

test("files of an answer come after its text, each as what it is", async () => {
  await using telegram = await startTelegram();
  const script = `
- when: "chart"
  plays:
    - calls: [{ tool: attach, args: { files: [chart.png, note.ogg, { path: table.csv, name: numbers.csv }] } }]
    - say: "[[audio_as_voice]]Here it is"
`;
  await using server = await open(telegram, script);
  putFiles(server, { "chart.png": "chart", "note.ogg": "OggS note", "table.csv": "a,b" });
  telegram.say("the chart please");
  await expect.poll(() => telegram.sent.length, PATIENT).toBe(4);
  expect(sentBy(telegram)).toEqual([
    ["sendMessage", "Here it is"],
    ["sendPhoto", "chart"],
    ["sendVoice", "OggS note"],
    ["sendDocument", "a,b"],
  ]);
  expect(telegram.sent[3]!.params).toMatchObject({ chat_id: "42", document: "numbers.csv" });
  expect(telegram.violations).toEqual([]);
});

test("a picture that Telegram refuses is sent as a document", async () => {
  await using telegram = await startTelegram();
  const script = `
- when: ".*"
  plays: [{ calls: [{ tool: attach, args: { files: [a.png] } }] }, { say: "there" }]
`;
  await using server = await open(telegram, script);
  putFiles(server, { "a.png": "not a picture" });
  telegram.fail("sendPhoto", {
    kind: "status",
    status: 400,
    description: "Bad Request: PHOTO_INVALID_DIMENSIONS",
  });
  telegram.say("go");
  await expect
    .poll(() => sentBy(telegram), PATIENT)
    .toEqual([
      ["sendMessage", "there"],
      ["sendDocument", "not a picture"],
    ]);
});

test("a message opens a topic and sends text, buttons, a file and a poll in it", async () => {
  await using telegram = await startTelegram();
  const script = `
- when: "plan"
  plays:
    - calls:
        - tool: message
          args:
            channel: telegram
            place: "-100"
            startThread: Lunch
            content: "**Lunch?**"
            embed: { title: Menu, description: "Soup" }
            buttons: [Yes, No, "Ask me again in an hour"]
            files: [menu.txt]
            poll: { question: Where?, options: [Here, There] }
    - say: done
- when: ".*"
  plays: [{ say: "you said {{message}}" }]
`;
  await using server = await open(telegram, script);
  putFiles(server, { "menu.txt": "Soup" });
  telegram.say("plan it");
  await expect.poll(() => telegram.sent.length, PATIENT).toBe(4);
  const inTopic = telegram.sent.filter(({ chat_id: chat }) => chat === "-100");
  const topic = telegram.requests.find(({ method }) => method === "createForumTopic");
  expect(topic!.params).toEqual({ chat_id: "-100", name: "Lunch" });
  expect(inTopic.map(({ method }) => method)).toEqual(["sendMessage", "sendDocument", "sendPoll"]);
  const topics = inTopic.map(({ params }) => Number(params["message_thread_id"]));
  expect(new Set(topics).size).toBe(1);
  expect(topics[0]).toBeGreaterThan(0);
  expect(inTopic[0]!.text).toBe("Lunch?\n\nMenu\n\nSoup");
  const rows = inTopic[0]!.reply_markup!.inline_keyboard.map((row) => row.map(({ text }) => text));
  expect(rows).toEqual([["Yes", "No"], ["Ask me again in an hour"]]);
  expect(inTopic[2]!.params).toMatchObject({
    question: "Where?",
    options: [{ text: "Here" }, { text: "There" }],
  });
  expect(telegram.violations).toEqual([]);
});

test("pressing a button of an agent says its label, where the button is", async () => {
  await using telegram = await startTelegram();
  const script = `
- when: "ask"
  plays: [{ calls: [{ tool: message, args: { channel: telegram, place: "42", content: "Well?", buttons: [Yes] } }] }, { say: "NO_REPLY" }]
- when: ".*"
  plays: [{ say: "you said {{message}}" }]
`;
  await using _ = await open(telegram, script);
  telegram.say("ask me");
  await expect.poll(() => telegram.sent.length, PATIENT).toBe(1);
  const [button] = telegram.sent[0]!.reply_markup!.inline_keyboard.flat();
  telegram.press(telegram.sent[0]!.message_id, button!.callback_data);
  await expect.poll(() => telegram.sent.at(-1)!.text, PATIENT).toBe("you said Yes");
});

test("an agent reads a file that somebody sent, and sends it on by its hash", async () => {
  await using telegram = await startTelegram();
  const content = "the plan";
  const sha256 = createHash("sha256").update(content).digest("hex");
  const script = `
- when: "send it"
  plays: [{ calls: [{ tool: attach, args: { files: [{ path: ${sha256}, name: plan.txt }] } }] }, { say: "there" }]
- when: "read it"
  plays: [{ calls: [{ tool: Read, args: { path: __PATH__ } }] }, { say: "I have read it" }]
`;
  await using server = await open(telegram, script.replace("__PATH__", `../../data/attachments/${sha256}`));
  telegram.files.set("doc", Buffer.from(content));
  const document = { file_id: "doc", file_name: "plan.txt", mime_type: "text/plain" };
  telegram.say("", { caption: "read it", document });
  await expect.poll(() => sentBy(telegram), PATIENT).toEqual([["sendMessage", "I have read it"]]);
  const { outbox, turns } = server.cortex.store;
  const turn = await turns.read((await outbox.list()).items[0]!.turn!);
  expect(turn!.toolCalls).toMatchObject([{ status: "ok", result: { text: content } }]);
  const { attachments } = turn!.messages[0]!.body as { attachments: string };
  expect(attachments).toMatch(
    new RegExp(`^Attachment: plan\\.txt, text/plain, 8 bytes, /.*/attachments/${sha256}$`),
  );
  telegram.say("send it back");
  await expect
    .poll(() => sentBy(telegram).slice(1), PATIENT)
    .toEqual([
      ["sendMessage", "there"],
      ["sendDocument", content],
    ]);
});

test("a group that has become a supergroup gets its answer there, and the owner is told", async () => {
  await using telegram = await startTelegram();
  await using _ = await open(telegram, `- when: ".*"\n  plays: [{ say: "hello" }]`);
  const moved = {
    kind: "status",
    status: 400,
    description: "Bad Request: group chat was upgraded",
    migratedTo: -1001,
  } as const;
  telegram.fail("sendMessage", moved);
  telegram.say("hi", { chat: { id: -5, type: "group", title: "Friends" } });
  await expect
    .poll(() => telegram.sent.map(({ chat_id: chat, text }) => [chat, text]), PATIENT)
    .toEqual([["-1001", "hello"]]);
  expect(lines.join("\n")).toContain("The Telegram group -5 has become the supergroup -1001");
});

test("a file of a delivery survives pruning for as long as the delivery can be sent", async () => {
  await using telegram = await startTelegram();
  const script = `- when: ".*"\n  plays: [{ calls: [{ tool: attach, args: { files: [a.txt] } }] }, { say: "there" }]`;
  await using server = await open(telegram, script);
  putFiles(server, { "a.txt": "a" });
  telegram.say("go");
  await expect.poll(() => telegram.sent.length, PATIENT).toBe(2);
  const [delivery] = (await server.cortex.store.outbox.list()).items;
  expect(await server.cortex.store.outbox.filed()).toEqual([delivery!.extras!.files![0]!.sha256]);
});
