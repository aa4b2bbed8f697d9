/** A relay that waits for a person: where it asks, and where what they say goes. */
import { expect, test } from "vitest";

import { openTestCortex, writeHome } from "../../../test/support/home.ts";
import { PATIENT } from "../../../test/support/server.ts";
import { ended, SMALL_RELAYS, SMALL_SCRIPT } from "../../../test/support/small-relays.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import type { EventId, RelayId } from "../../model/ids.ts";
import { normalizeSessionKey } from "../../model/session-key.ts";
import type { Approval } from "../../store/store.ts";
import type { Cortex } from "../../runtime/cortex.ts";
import type { NewMessage } from "../../intake/messages.ts";

const SCRIPT = `
- when: "WRITE ask"
  plays:
    - calls: [{ tool: AskUser, args: { question: "Which colour?", options: [red, blue] } }]
    - { say: coloured }
- when: "WRITE pay"
  plays:
    - calls: [{ tool: Bash, args: { command: "echo paid" } }]
    - { say: paid }
${SMALL_SCRIPT}`;

const ASKING = {
  personas: { atlas: { identity: { name: "Atlas" }, permissions: { ask: ["Bash"] } } },
  agents: { main: { persona: "atlas" } },
};
const FILES = { relays: SMALL_RELAYS, script: SCRIPT, cortex: ASKING };
const POST = normalizeSessionKey("post");

async function write(cortex: Cortex, content: string, fields: Partial<NewMessage> = {}): Promise<string> {
  const said = await cortex.say({ content, session: POST, ...fields });
  if (said.kind !== "command") throw new Error("It was taken for a message");
  return said.reply;
}

async function start(cortex: Cortex, message: string, fields: Partial<NewMessage> = {}): Promise<RelayId> {
  const reply = await write(cortex, `!thread pair ${message}`, fields);
  return /thr_[0-9a-f]{8}/.exec(reply)![0] as RelayId;
}

/** What is asked in the session that started it. */
async function asked(cortex: Cortex): Promise<Approval> {
  const open = async () => (await cortex.store.approvals.list({ session: POST, state: "open" })).items;
  await expect.poll(async () => (await open()).length, PATIENT).toBe(1);
  return (await open())[0]!;
}

const callsOf = async (cortex: Cortex, turn: string | null) =>
  JSON.stringify((await cortex.store.turns.read(turn as never))!.toolCalls);

test("a relay's question is asked in the session that started it, and /answer there goes to the relay", async () => {
  await using cortex = await openTestCortex(FILES);
  const id = await start(cortex, "ask");
  const question = await asked(cortex);
  expect(question).toMatchObject({ session: `thr:${id}:writer:0`, chat: POST, kind: "question" });
  expect(await write(cortex, "/answer red")).toBe("Answered: Which colour?");
  const record = await ended(cortex, { id });
  expect(record.status).toBe("completed");
  expect(await callsOf(cortex, record.steps[0]!.executionId)).toContain("red");
  expect(await cortex.store.sessions.get(POST)).toBeUndefined(); // the main agent had nothing to do
});

test("a relay's approval is asked in the session that started it, and /approve there decides it", async () => {
  await using cortex = await openTestCortex(FILES);
  const id = await start(cortex, "pay");
  expect(await asked(cortex)).toMatchObject({ kind: "approval", chat: POST });
  expect(await write(cortex, "/approve")).toBe("Approved: Bash");
  const record = await ended(cortex, { id });
  expect(await callsOf(cortex, record.steps[0]!.executionId)).toContain("paid");
});

test("what a relay asks is delivered to the place that started it, once, and a restart changes nothing of it", async () => {
  using folder = temporaryFolder();
  writeHome(folder.path, FILES);
  const delivery = { channel: "telegram", place: "42" };
  const before = await openTestCortex({}, { home: folder.path });
  const id = await start(before, "ask", { delivery });
  const question = await asked(before);
  await before.stop();
  await using cortex = await openTestCortex({}, { home: folder.path });
  const { items } = await cortex.store.outbox.list();
  const told = items.filter(({ content }) => content?.includes("Which colour?"));
  expect(told).toMatchObject([{ id: question.notice, target: delivery }]);
  expect(told[0]!.content).toBe(
    `❓ *writer* of \`${id}\` asks: Which colour?\n1. red\n2. blue\n` +
      `Reply to this message, or write \`/answer ${question.id} <text>\`.`,
  );
  await write(cortex, `/answer ${question.id} blue`, { session: "elsewhere" });
  expect(await ended(cortex, { id })).toMatchObject({ status: "completed" });
});

test("!thread say answers a relay that waits, and tells the next step of one that runs", async () => {
  await using cortex = await openTestCortex(FILES);
  await expect(write(cortex, "!thread say hello")).rejects.toMatchObject({ code: "relay_unknown" });
  const id = await start(cortex, "ask");
  const question = await asked(cortex);
  expect(await write(cortex, "!thread say red")).toBe(`Answered \`${id}\`.`);
  expect(await cortex.store.approvals.get(question.id)).toMatchObject({ answer: { text: "red" } });
  await ended(cortex, { id });

  const slow = await start(cortex, "slow");
  const key = { idempotencyKey: "k" };
  for (let time = 1; time <= 2; time++)
    expect(await write(cortex, `!thread say ${slow.toUpperCase()} Keep it\nshort`, key)).toBe(
      `Buffered for the next step of \`${slow}\`: 1 message.`,
    );
  expect((await cortex.relays.get(slow))!.metadata).toEqual({ pendingMessages: ["Keep it\nshort"] });
  await start(cortex, "slow");
  expect(await write(cortex, "!thread say which")).toMatch(
    /^2 threads are running here\. Choose one with `!thread say <id>/,
  );
});

test("a message to a relay has one effect, however often it is taken up again", async () => {
  await using cortex = await openTestCortex(FILES);
  const event = "http:again" as EventId;
  const id = await start(cortex, "ask");
  const question = await asked(cortex);
  for (let time = 1; time <= 2; time++)
    expect(await cortex.relays.say(id, "red", { event })).toMatchObject({
      buffered: 0,
      answered: question.id,
    });
  await ended(cortex, { id });

  const slow = await start(cortex, "slow");
  for (let time = 1; time <= 2; time++)
    expect(await cortex.relays.say(slow, "hurry", { event })).toMatchObject({ buffered: 1, answered: null });
});

test("!thread add works on a relay that waits: the new agent goes on, and what was asked is void", async () => {
  await using cortex = await openTestCortex(FILES);
  const id = await start(cortex, "ask");
  const question = await asked(cortex);
  expect(await write(cortex, "!thread add reader look")).toContain(`\`${id}\``);
  const record = await ended(cortex, { id });
  expect(record).toMatchObject({ status: "completed", userMessage: "ask" });
  expect(record.steps.map(({ agentSlotId, status }) => [agentSlotId, status])).toEqual([
    ["writer", "failed"],
    ["reader", "completed"],
  ]);
  expect(await cortex.store.approvals.get(question.id)).toMatchObject({ state: "void" });
});
