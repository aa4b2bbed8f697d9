/** What paired senders write to Cortex itself, in a place of a platform. */
import { expect, test } from "vitest";

import { openTestCortex } from "../../test/support/home.ts";
import { judge } from "../../test/support/judged.ts";
import { PATIENT } from "../../test/support/server.ts";
import { ended, SMALL_RELAYS, SMALL_SCRIPT } from "../../test/support/small-relays.ts";
import type { Identity } from "../model/principal.ts";
import type { Approval } from "../store/store.ts";
import type { Cortex } from "../runtime/cortex.ts";

const SCRIPT = `
- when: "WRITE ask"
  plays:
    - calls: [{ tool: AskUser, args: { question: "Which colour?", options: [red, blue] } }]
    - { say: coloured }
${SMALL_SCRIPT}`;
const HOOK = `export const filter = { channels: ["telegram"] };
export default ({ event }) => ({ fire: true, routing: event.content === "ask" ? { relay: "pair" } : { session: "work" } });`;
const ADA = { channel: "telegram", sender: "ada", place: "42" };
const BOB = { ...ADA, sender: "bob" };
const OLGA = { ...ADA, sender: "olga" };

async function open({ people = {} }: { readonly people?: object } = {}): Promise<Cortex> {
  const paired = ["ada", "bob"].map((sender) => ({ channel: "telegram", sender }));
  const cortex = await openTestCortex({
    cortex: { channels: { paired }, people },
    hooks: { "chat.ts": HOOK },
    relays: SMALL_RELAYS,
    script: SCRIPT,
  });
  await cortex.store.people.change("owner", { link: ["telegram:olga" as Identity] }, { principal: "owner" });
  await expect.poll(() => cortex.store.hooks.list(), PATIENT).toHaveLength(1);
  return cortex;
}

/** A relay that Ada has started by a message, and its question, which the place was told of. */
async function askedOfAda(cortex: Cortex): Promise<Approval> {
  await judge(cortex, { ...ADA, content: "ask" });
  const open = async () => (await cortex.store.approvals.openIn({ channel: "telegram", place: "42" }))[0];
  await expect.poll(open, PATIENT).toMatchObject({ kind: "question" });
  return (await open())!;
}

let count = 0;

async function write(cortex: Cortex, fields: object, content: string, sourceId = `m${++count}`) {
  const incoming = {
    adapter: "telegram",
    sourceId,
    timestampMs: Date.UTC(2026, 2, 1),
    ...ADA,
    ...fields,
    content,
  };
  const { event } = await cortex.accept(incoming);
  return event;
}

const repliesIn = async (cortex: Cortex) =>
  (await cortex.store.outbox.list()).items.flatMap(({ content, turn }) =>
    turn === undefined ? [content] : [],
  );

test("a reply to the message by which a relay asked is its answer, and no message to the agent", async () => {
  await using cortex = await open();
  const question = await askedOfAda(cortex);
  for (let time = 1; time <= 2; time++) await write(cortex, { replyTo: question.notice }, "2", "again");
  expect(await cortex.store.approvals.get(question.id)).toMatchObject({
    answer: { by: "person:telegram-ada", text: "blue", event: "telegram:again" },
  });
  const [relay] = (await cortex.relays.list()).items;
  expect(await ended(cortex, relay!)).toMatchObject({ status: "completed" });
  expect(await cortex.store.sessions.get("work" as never)).toBeUndefined();
});

test("/answer in the place goes to the relay, and is replied to there once", async () => {
  await using cortex = await open();
  const question = await askedOfAda(cortex);
  for (let time = 1; time <= 2; time++) await write(cortex, {}, "/answer red", "again");
  expect(await cortex.store.approvals.get(question.id)).toMatchObject({ answer: { text: "red" } });
  expect((await repliesIn(cortex)).filter((text) => text?.startsWith("Answered"))).toHaveLength(1);
  expect(await cortex.store.sessions.get("work" as never)).toBeUndefined();
});

test("somebody else in the place answers nothing: what they write is a message", async () => {
  await using cortex = await open();
  const question = await askedOfAda(cortex);
  const { dispatches } = await judge(cortex, { ...BOB, content: "red", replyTo: question.notice! });
  expect(dispatches).toMatchObject([{ session: "work" }]);
  await write(cortex, BOB, `/answer ${question.id} red`);
  expect(await repliesIn(cortex)).toContain(
    "No question is pending here. Send your text as a normal message.",
  );
  expect(await cortex.store.approvals.get(question.id)).toMatchObject({ state: "open" });
});

test.each([
  ["by a reply", ({ notice }: Approval) => [{ replyTo: notice }, "red"] as const, "answered"],
  ["by a command", ({ id }: Approval) => [{}, `/answer ${id} red`] as const, "answered"],
  ["by denying it", () => [{}, "/deny not now"] as const, "denied"],
])("the owner settles a question asked of someone else there, %s", async (_, written, state) => {
  await using cortex = await open();
  const question = await askedOfAda(cortex);
  const [fields, content] = written(question);
  await write(cortex, { ...OLGA, ...fields }, content);
  expect(await cortex.store.approvals.get(question.id)).toMatchObject({ state, answer: { by: "owner" } });
});

test("a program with a token decides nothing in the owner's name", async () => {
  await using cortex = await open();
  const question = await askedOfAda(cortex);
  await write(cortex, { ...OLGA, token: "bridge" }, `/deny ${question.id}`);
  expect(await repliesIn(cortex)).toContainEqual(expect.stringContaining("bridge"));
  expect(await cortex.store.approvals.get(question.id)).toMatchObject({ state: "open" });
});

test("a command under an event id that was used before does nothing", async () => {
  await using cortex = await open();
  const question = await askedOfAda(cortex);
  const taken = await write(cortex, OLGA, "good morning", "taken");
  await write(cortex, {}, `/answer ${question.id} red`, "taken");
  expect(await cortex.store.approvals.get(question.id)).toMatchObject({ state: "open" });
  expect(await cortex.store.events.get(taken)).toMatchObject({ content: "good morning", differing: 1 });
});

test("commands over a person's rate do nothing and get no reply", async () => {
  await using cortex = await open({ people: { limits: { perMinute: 2 } } });
  for (let time = 1; time <= 5; time++) await write(cortex, BOB, "/help");
  for (let time = 1; time <= 5; time++) await write(cortex, OLGA, "/help");
  const replies = await repliesIn(cortex);
  expect(replies.filter((text) => text?.startsWith("/answer"))).toHaveLength(2);
  expect(replies.filter((text) => text?.startsWith("/queue"))).toHaveLength(5);
  expect(await cortex.store.counts()).toMatchObject({ turns: 0, queued: 0 });
});

test.each([
  "/approve",
  "/queue collect",
  "/new",
  "/fork",
  "/team dispatch x: y",
  "/profile fast",
  "!thread pair slow",
  "!cancel --all",
])("a paired sender cannot use %s", async (command) => {
  await using cortex = await open();
  await write(cortex, {}, command);
  expect(await repliesIn(cortex)).toEqual([expect.stringMatching(/^Only the owner may use this command\./)]);
  expect(await cortex.store.counts()).toMatchObject({ turns: 0, queued: 0, sessions: 0 });
  expect((await cortex.relays.list()).items).toEqual([]);
});

test("a paired sender sees the state of their own session, and what they may use", async () => {
  await using cortex = await open();
  await write(cortex, {}, "/help");
  await write(cortex, {}, "/status");
  expect((await repliesIn(cortex)).toSorted()).toEqual([
    "/answer [<id>] <text>\n/status\n/help\n!cancel [id]: stop what you have started",
    expect.stringMatching(/telegram.* has no messages yet\./),
  ]);
});

test("the owner's reply to a delivered question answers it, through a program that passes messages on", async () => {
  await using cortex = await open();
  const question = await askedOfAda(cortex);
  const delivery = { channel: "telegram", place: "42" };
  const said = await cortex.say({ content: "red", delivery, replyTo: question.notice! });
  expect(said).toMatchObject({ kind: "command", reply: "Answered: Which colour?" });
  expect(await cortex.store.approvals.get(question.id)).toMatchObject({
    answer: { by: "owner", text: "red" },
  });
  expect((await cortex.say({ content: "hello", delivery, replyTo: "other" })).kind).toBe("message");
});
