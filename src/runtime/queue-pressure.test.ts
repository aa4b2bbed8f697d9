/** Sessions that are given more than they can do at once: nothing is lost in silence, and nothing grows for ever. */
import { expect, test } from "vitest";

import { DONE, openTestCortex, testTool } from "../../test/support/home.ts";
import type { ItemId } from "../model/ids.ts";
import { promptText } from "../model/message.ts";
import { MAIN_SESSION } from "../model/session-key.ts";
import { MAX_DROPPED_LINES } from "../turns/join.ts";
import type { Cortex } from "./cortex.ts";

const ECHO = "- { when: .*, plays: [{ say: 're {{message}}' }] }";
const HOLDING = `
- { when: ^work$, plays: [{ calls: [{ tool: Hold }] }, { say: re work }] }
${ECHO}`;
const NEVER = new AbortController().signal;
const PATIENT = { timeout: 60_000 };

/** A tool that holds its turn up until the test lets it go. */
function holdTool() {
  const held = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const tool = testTool("Hold", async () => {
    held.resolve();
    await gate.promise;
    return DONE;
  });
  return { tool, held: held.promise, letGo: gate.resolve };
}

/** A Cortex whose main session is at work and stays so. */
async function openBusy(queue: object = {}) {
  const { tool, held, letGo } = holdTool();
  const cortex = await openTestCortex({ cortex: { broker: { queue } }, script: HOLDING }, { tools: [tool] });
  const { item: work } = await cortex.send({ content: "work" });
  await held;
  return { cortex, work, letGo, [Symbol.asyncDispose]: () => (letGo(), cortex[Symbol.asyncDispose]()) };
}

async function turnOf(cortex: Cortex, item: ItemId) {
  const outcome = (await cortex.outcome(item, NEVER))!;
  if (outcome.kind !== "turn") throw new Error(`It ended as ${JSON.stringify(outcome)}`);
  return (await cortex.store.turns.read(outcome.turn))!;
}

async function waiting(cortex: Cortex): Promise<(string | null)[]> {
  return (await cortex.store.queue.pending(MAIN_SESSION)).map(({ event }) => event.content);
}

test(
  "10,000 messages to one session at once: the cap holds, and all are accounted for",
  PATIENT,
  async () => {
    const CAP = 20;
    await using cortex = await openTestCortex({ cortex: { broker: { queue: { cap: CAP } } }, script: ECHO });
    const sending = Array.from({ length: 10_000 }, (_, i) =>
      cortex.send({ content: String(i), mode: "followup" }),
    );
    const sent = await Promise.all(sending);
    expect((await cortex.store.sessions.get(MAIN_SESSION))!.queued).toBeLessThanOrEqual(CAP);
    await expect.poll(async () => (await cortex.store.counts()).queued, PATIENT).toBe(0);
    await expect.poll(async () => (await cortex.store.runs.active()).length, PATIENT).toBe(0);

    const outcomes = await Promise.all(sent.map(({ item }) => cortex.store.queue.outcome(item)));
    const answered = outcomes.flatMap((outcome, i) => (outcome?.state === "done" ? [i] : []));
    const dropped = outcomes.filter((outcome) => outcome?.state === "dropped");
    expect(answered.length + dropped.length).toBe(10_000);
    expect(new Set(dropped.map((outcome) => outcome?.policy))).toEqual(new Set(["summarize"]));
    expect(answered.length).toBeGreaterThanOrEqual(CAP);

    // The answers are in the order of the messages.
    const turns = await Promise.all(answered.map((i) => turnOf(cortex, sent[i]!.item)));
    expect(turns.map(({ messages }) => messages.at(-1)!.content)).toEqual(answered.map((i) => `re ${i}`));
    expect(turns.map(({ turn }) => turn.depth)).toEqual(turns.map((_, depth) => depth));
  },
);

test("what was dropped is told to the next turn, one line each, and only to that one", async () => {
  await using busy = await openBusy({ cap: 2, mode: "followup" });
  const { cortex } = busy;
  const names = Array.from({ length: MAX_DROPPED_LINES + 5 }, (_, i) => `message ${i}`);
  const sent = [];
  for (const content of names) sent.push(await cortex.send({ content }));
  expect(await waiting(cortex)).toEqual(names.slice(-2));
  expect(await cortex.outcome(sent[0]!.item, NEVER)).toEqual({ kind: "dropped", policy: "summarize" });
  busy.letGo();

  const [first, second] = await Promise.all(sent.slice(-2).map(({ item }) => turnOf(cortex, item)));
  const told = promptText(first!.messages[0]!).split("\n");
  expect(told).toContain(`${names.length - 2} messages were dropped because the queue was full:`);
  expect(told).toContain("- owner: message 0");
  expect(told).toContain("- and 3 more");
  expect(told.at(-1)).toBe(names.at(-2));
  expect(promptText(second!.messages[0]!)).not.toContain("dropped");
  expect(promptText((await turnOf(cortex, busy.work)).messages[0]!)).not.toContain("dropped");
});

test("a message that finds no room says so at once, and so does its key later", async () => {
  await using busy = await openBusy({ cap: 1, drop: "new", mode: "followup" });
  const { cortex } = busy;
  const kept = await cortex.send({ content: "kept" });
  expect(kept.dropped).toBeUndefined();
  const message = { content: "too many", idempotencyKey: "k" };
  const sent = await cortex.send(message);
  expect(sent.dropped).toBe("new");
  expect(await cortex.send(message)).toEqual(sent);
  expect(await waiting(cortex)).toEqual(["kept"]);
});

test("a message that steers is seen behind hundreds that do not", async () => {
  await using busy = await openBusy({ cap: 1_000 });
  const { cortex } = busy;
  await Promise.all(
    Array.from({ length: 300 }, (_, i) => cortex.send({ content: `wait ${i}`, mode: "followup" })),
  );
  const { item } = await cortex.send({ content: "steer", mode: "steer" });
  busy.letGo();
  const { messages } = await turnOf(cortex, item);
  expect(messages.map(({ content }) => content)).toEqual(["work", "", "steer", "re steer"]);
});

test("an interruption drops what waited before it, where that is wanted, and that is recorded", async () => {
  await using busy = await openBusy({ onInterrupt: "drop" });
  const { cortex } = busy;
  const old = await cortex.send({ content: "old", mode: "followup" });
  const { item } = await cortex.send({ content: "stop", mode: "interrupt" });
  expect(await cortex.outcome(old.item, NEVER)).toEqual({ kind: "dropped", policy: "interrupt" });
  busy.letGo();
  expect((await turnOf(cortex, item)).messages.map(({ content }) => content)).toEqual(["stop", "re stop"]);
});

test(
  "an interruption ends a turn whose tool does not listen, and leaves the tool behind",
  PATIENT,
  async () => {
    await using busy = await openBusy();
    const { cortex } = busy;
    const { item } = await cortex.send({ content: "stop", mode: "interrupt" });
    expect((await turnOf(cortex, item)).messages.at(-1)!.content).toBe("re stop");
    const { turn, toolCalls } = await turnOf(cortex, busy.work);
    expect(turn.status).toBe("aborted");
    expect(toolCalls).toMatchObject([{ tool: "Hold", status: "aborted" }]);
  },
);

test("messages for different addresses are collected apart", async () => {
  await using busy = await openBusy({ mode: "collect", debounceMs: 0 });
  const { cortex } = busy;
  const delivery = { channel: "webhook", place: "pay" };
  const [a, b, c, d] = [
    await cortex.send({ content: "a" }),
    await cortex.send({ content: "b", delivery }),
    await cortex.send({ content: "c" }),
    await cortex.send({ content: "d", delivery }),
  ];
  busy.letGo();
  const said = async ({ item }: { item: ItemId }) =>
    (await turnOf(cortex, item)).messages.filter(({ role }) => role === "user").map(({ content }) => content);
  expect(await said(a)).toEqual(["a", "c"]);
  expect(await said(c)).toEqual(["a", "c"]);
  expect(await said(b)).toEqual(["b", "d"]);
  expect(await said(d)).toEqual(["b", "d"]);
});
