import { expect, test } from "vitest";

import { openTestCortex } from "../../../test/support/home.ts";
import { PATIENT } from "../../../test/support/server.ts";
import { ended, SMALL_RELAYS, SMALL_SCRIPT } from "../../../test/support/small-relays.ts";
import type { RelayId } from "../../model/ids.ts";
import type { Cortex } from "../../runtime/cortex.ts";
import type { NewMessage } from "../../intake/messages.ts";

const open = (): Promise<Cortex> => openTestCortex({ relays: SMALL_RELAYS, script: SMALL_SCRIPT });

async function write(cortex: Cortex, content: string, fields: Partial<NewMessage> = {}): Promise<string> {
  const said = await cortex.say({ content, ...fields });
  if (said.kind !== "command") throw new Error("It was taken for a message");
  return said.reply;
}

function idIn(reply: string): { readonly id: RelayId } {
  return { id: /thr_[0-9a-f]{8}/.exec(reply)![0] as RelayId };
}

test("a template is started by its name, and its relay is of the session that it was started in", async () => {
  await using cortex = await open();
  const reply = await write(cortex, "!thread pair a letter\nto my aunt", { session: "post" });
  expect(reply).toMatch(/^▶️ Thread `thr_\w{8}` \(pair\) started with writer\.\n.*!cancel thr_/);
  const record = await ended(cortex, idIn(reply));
  expect(record).toMatchObject({
    templateName: "pair",
    userMessage: "a letter\nto my aunt",
    status: "completed",
    steps: [{ agentSlotId: "writer" }, { agentSlotId: "reader" }],
  });
  expect(await write(cortex, "!thread list", { session: "post" })).toBe(
    `*Recent Threads*\n• \`${record.id}\` pair — completed | 2 steps | $0.0000`,
  );
  expect(await write(cortex, "!thread list")).toBe("No threads found for this channel.");
});

test("an agent is started alone by its name, unless a template is called so", async () => {
  const template = { ...SMALL_RELAYS.templates.pair };
  await using cortex = await openTestCortex({
    relays: { ...SMALL_RELAYS, templates: { pair: template, writer: template } },
    script: SMALL_SCRIPT,
  });
  const alone = await ended(cortex, idIn(await write(cortex, "!thread reader a letter")));
  expect(alone).toMatchObject({ templateName: null, steps: [{ agentSlotId: "reader" }] });
  const both = await ended(cortex, idIn(await write(cortex, "!thread writer a letter")));
  expect(both).toMatchObject({ templateName: "writer", steps: [{}, {}] });
});

test("what is under way is shown, listed wherever it was started, and cancelled", async () => {
  await using cortex = await open();
  expect(await write(cortex, "!thread")).toBe("No active thread in this channel.");
  expect(await write(cortex, "!cancel")).toBe("Nothing running to cancel.");
  const { id } = idIn(await write(cortex, "!thread pair slow"));
  const other = idIn(await write(cortex, "!thread pair slow", { session: "other" }));
  expect(await write(cortex, "!thread")).toContain(
    `*Active Thread* \`${id}\` (pair)\nStatus: running | Active agent: writer`,
  );
  await expect
    .poll(() => write(cortex, "!thread agents"))
    .toMatch(/\*Agents of\* `thr_\w+`[^]*• → `writer` running/);
  expect((await write(cortex, "!thread list --running")).split("\n")).toHaveLength(3);
  for (const command of [`!thread status ${id}`, "!thread status"])
    expect(await write(cortex, command)).toContain(`*Thread* \`${id}\` (pair)\nActive agent: writer\n`);

  expect(await write(cortex, "!thread cancel")).toBe(`Cancelled \`${id}\`.`);
  expect(await ended(cortex, { id })).toMatchObject({ status: "cancelled" });
  expect(await write(cortex, `!cancel ${id}`)).toBe(`\`${id}\` has already ended.`);
  expect(await write(cortex, "!cancel --all")).toBe(`Cancelled \`${other.id}\`.`);
  await ended(cortex, other);
  expect(await write(cortex, "!thread list --running")).toBe("No threads are running.");
});

test("the status of a place is that of its last relay, step by step, also when that is over", async () => {
  await using cortex = await open();
  expect(await write(cortex, "!thread status")).toBe("No threads found for this channel.");
  await ended(cortex, idIn(await write(cortex, "!thread reader a letter")));
  const { id } = await ended(cortex, idIn(await write(cortex, "!thread pair a letter")));
  expect((await write(cortex, "!thread status")).split("\n")).toEqual([
    `*Thread* \`${id}\` (pair)`,
    expect.stringMatching(/^✅ Thread complete \| 2 steps \| .* \| no_matching_transition$/),
    expect.stringMatching(/^writer: 2 turns · /),
    expect.stringMatching(/^reader: 1 turn · /),
  ]);
});

test("which of several relays is cancelled is not guessed", async () => {
  await using cortex = await open();
  const one = idIn(await write(cortex, "!thread pair slow"));
  const two = idIn(await write(cortex, "!thread writer slow"));
  const [head, ...lines] = (await write(cortex, "!cancel")).split("\n");
  expect(head).toBe("2 threads are running here. Choose one with `!cancel <id>`:");
  expect(lines.map((line) => idIn(line).id).toSorted()).toEqual([one.id, two.id].toSorted());
  expect(await write(cortex, `!thread cancel ${two.id}`)).toBe(`Cancelled \`${two.id}\`.`);
  await ended(cortex, two);
  expect(await write(cortex, "!thread cancel")).toBe(`Cancelled \`${one.id}\`.`);
  await ended(cortex, one);
});

test("an agent is added to what was done last in the session: a relay, or a turn", async () => {
  await using cortex = await open();
  await expect(write(cortex, "!thread add reader")).rejects.toMatchObject({
    code: "relay_unknown",
    message: expect.stringContaining("No thread found"),
  });
  const { id } = idIn(await write(cortex, "!thread writer a letter"));
  await ended(cortex, { id });
  expect(idIn(await write(cortex, "!thread add reader a poem"))).toEqual({ id });
  const added = await ended(cortex, { id });
  expect(added.userMessage).toBe("a letter");
  expect(added.steps.at(-1)).toMatchObject({
    input: expect.stringMatching(/User replies \(1 buffered\):\n\na poem$/),
    output: "I read a letter",
  });

  const said = await cortex.say({ content: "hello" });
  if (said.kind !== "message") throw new Error("It was taken for a command");
  const outcome = await cortex.outcome(said.sent.item, AbortSignal.timeout(PATIENT.timeout));
  const grown = await ended(cortex, idIn(await write(cortex, "!thread add reader this")));
  expect(grown.id).not.toBe(id);
  expect(grown).toMatchObject({
    templateName: "default",
    steps: [
      { executionId: (outcome as { turn: string }).turn },
      { input: expect.stringMatching(/this$/), output: "I read hello" },
    ],
  });
});

test("an agent is not added to a relay that runs", async () => {
  await using cortex = await open();
  await write(cortex, "!thread pair slow");
  await expect(write(cortex, "!thread add reader")).rejects.toMatchObject({
    code: "state_conflict",
    message: expect.stringContaining("running"),
  });
});

test.each([
  ["!thread nobody do it", "template_unknown", "Unknown template or agent: `nobody`"],
  ["!thread add nobody", "agent_unknown", "Unknown agent: `nobody`"],
  ["!thread status thr_00000000", "relay_unknown", "thr_00000000"],
  ["!cancel thr_00000000", "relay_unknown", "thr_00000000"],
  ["!thread pair", "usage", "Missing message"],
  ["!thread list all", "usage", "list"],
  ["!cancel everything", "usage", "everything"],
])("%s is refused", async (content, code, message) => {
  await using cortex = await open();
  await expect(write(cortex, content)).rejects.toMatchObject({
    code,
    message: expect.stringContaining(message),
    hint: expect.stringContaining("!thread"),
  });
  expect(await cortex.store.counts()).toMatchObject({ events: 0 });
});

test("with a key, a relay is started once, and its first reply is given again", async () => {
  await using cortex = await open();
  const first = await write(cortex, "!thread pair a letter", { idempotencyKey: "k" });
  expect(await write(cortex, "!thread pair a letter", { idempotencyKey: "k" })).toBe(first);
  await ended(cortex, idIn(first));
  expect((await cortex.relays.list()).items).toHaveLength(1);
});

test("a space before it makes it a message, and so does another word", async () => {
  await using cortex = await open();
  for (const content of [" !thread list", "!threads", "!cancelled"])
    expect([content, (await cortex.say({ content })).kind]).toEqual([content, "message"]);
});

test("/help tells of them", async () => {
  await using cortex = await open();
  expect(await write(cortex, "/help")).toContain("!thread <template or agent> <message>");
});

test("an answer typed with a token is recorded with the token", async () => {
  const plays = `[{ calls: [{ tool: AskUser, args: { question: "Which colour?" } }] }, { say: done }]`;
  await using cortex = await openTestCortex({
    relays: SMALL_RELAYS,
    script: `- { when: "WRITE", plays: ${plays} }\n`,
  });
  const { id } = idIn(await write(cortex, "!thread pair a letter"));
  await expect.poll(async () => (await cortex.relays.get(id))?.status, PATIENT).toBe("waiting");
  const caller = { principal: "owner", can: ["send"], token: "phone" } as const;
  expect(await write(cortex, "!thread say red", { caller })).toContain("Answered");
  const { items } = await cortex.store.audit.list();
  expect(items.find(({ kind }) => kind === "question.answer")).toMatchObject({ detail: { token: "phone" } });
});
