import { describe, expect, test } from "vitest";

import { DONE, openTestCortex, testTool } from "../../test/support/home.ts";
import { MAIN_SESSION, type SessionKey } from "../model/session-key.ts";
import type { Cortex } from "../runtime/cortex.ts";
import type { NewMessage } from "./messages.ts";

const SCRIPT = "- { when: .*, plays: [{ say: 're {{message}}' }] }";
const NEVER = new AbortController().signal;

/** Says a command, and gives the lines of its reply. */
async function command(cortex: Cortex, content: string, fields: Partial<NewMessage> = {}): Promise<string[]> {
  const said = await cortex.say({ content, ...fields });
  if (said.kind !== "command") throw new Error("It was taken for a message");
  return said.reply.split("\n");
}

async function settings(cortex: Cortex, session = MAIN_SESSION) {
  return (await cortex.store.sessions.get(session))?.settings;
}

async function ask(cortex: Cortex, content: string) {
  const said = await cortex.say({ content });
  if (said.kind !== "message") throw new Error("It was taken for a command");
  const outcome = (await cortex.outcome(said.sent.item, NEVER))!;
  if (outcome.kind !== "turn") throw new Error(`It ended as ${JSON.stringify(outcome)}`);
  return { ...said, turn: (await cortex.store.turns.read(outcome.turn))! };
}

test("a command makes no turn: the event is recorded, with its reply", async () => {
  await using cortex = await openTestCortex({ script: SCRIPT });
  const said = await cortex.say({ content: "/queue collect cap:5", channel: "cli" });
  expect(said).toMatchObject({ kind: "command", session: MAIN_SESSION });
  expect(await cortex.store.counts()).toMatchObject({ events: 1, turns: 0, queued: 0, sessions: 1 });
  const { items } = await cortex.store.events.list();
  expect(items).toMatchObject([{ content: "/queue collect cap:5", metadata: { reply: said.reply } }]);
});

test("/queue shows what counts, and where each setting comes from", async () => {
  await using cortex = await openTestCortex({
    cortex: { broker: { queue: { drop: "old", byChannel: { cli: { debounceMs: 5 } } } } },
  });
  await command(cortex, "/queue cap:7 interrupt:drop");
  expect(await command(cortex, "/queue", { channel: "cli" })).toEqual([
    "Queue of agent:main:main, 0 waiting",
    "mode: steer-backlog (broker.queue)",
    "debounce: 5ms (broker.queue.byChannel.cli)",
    "cap: 7 (this session)",
    "drop: old (broker.queue)",
    "interrupt: drop (this session)",
  ]);
});

test("/queue counts for the messages after it, of that session, until it is reset", async () => {
  await using cortex = await openTestCortex({ script: SCRIPT });
  const modeOf = async (session: string) => {
    const { item } = await cortex.send({ content: "hello", session });
    return (await cortex.store.queue.item(item))!.mode;
  };
  await command(cortex, "/queue collect debounce:0", { session: "work" });
  expect(await modeOf("work")).toBe("collect");
  expect(await modeOf("other")).toBe("steer-backlog");
  await command(cortex, "/queue followup", { session: "work" });
  expect(await settings(cortex, "work" as SessionKey)).toEqual({ mode: "followup", debounceMs: 0 });
  await command(cortex, "/queue reset", { session: "work" });
  expect(await settings(cortex, "work" as SessionKey)).toEqual({});
});

test("the lines below a command are a message, for which it counts already", async () => {
  await using cortex = await openTestCortex({ script: SCRIPT });
  const said = await ask(cortex, "/queue collect debounce:0\nhello\nthere");
  expect(said.reply).toContain("mode: collect (this session)");
  expect(said.turn.messages.map(({ content }) => content)).toEqual(["hello\nthere", "re hello\nthere"]);
  expect((await cortex.store.queue.item(said.sent.item))!.mode).toBe("collect");
  expect((await cortex.store.events.get(said.sent.event))!.content).toBe(
    "/queue collect debounce:0\nhello\nthere",
  );
});

describe("what cannot be understood is refused and changes nothing", () => {
  test.each([
    [{ content: "/queue shout" }, "request_invalid"],
    [{ content: "/queue collect cap:0\nhello" }, "request_invalid"],
    [{ content: "/queue debounce:1d" }, "request_invalid"],
    [{ content: "/profile nothing" }, "profile_unknown"],
    [{ content: "/queue collect\nhello", mode: "shout" }, "queue_mode_unknown"],
    [{ content: "/queue collect\nhello", profile: "nothing" }, "profile_unknown"],
    [{ content: "/queue collect\nhello", delivery: { channel: "" } }, "target_invalid"],
    [{ content: "/queue collect", session: "agent:nobody:main" }, "agent_unknown"],
    [{ content: "/queue collect", thread: "01TURN" }, "request_invalid"],
  ])("%o", async (message, code) => {
    await using cortex = await openTestCortex({ script: SCRIPT });
    await expect(cortex.say(message)).rejects.toMatchObject({ name: "CortexError" });
    await expect(cortex.say(message)).rejects.toMatchObject({ code });
    expect(await cortex.store.counts()).toMatchObject({ events: 0, sessions: 0 });
  });
});

test("under one key a command is carried out once, and its first reply is given again", async () => {
  await using cortex = await openTestCortex({ script: SCRIPT });
  const message = { content: "/queue collect", idempotencyKey: "k" };
  const first = await cortex.say(message);
  await command(cortex, "/queue steer");
  expect(await cortex.say(message)).toEqual(first);
  expect(await settings(cortex)).toEqual({ mode: "steer" });
  const other = cortex.say({ content: "/queue steer", idempotencyKey: "k" });
  await expect(other).rejects.toMatchObject({ code: "idempotency_conflict" });

  const both = { content: "/queue queue\nhello", idempotencyKey: "k2" };
  const sent = await cortex.say(both);
  await command(cortex, "/queue steer");
  expect(await cortex.say(both)).toEqual(sent);
  expect(await settings(cortex)).toEqual({ mode: "steer" });
});

test("/new starts afresh, and the old thread stays where it was", async () => {
  await using cortex = await openTestCortex({ script: SCRIPT });
  expect(await command(cortex, "/new")).toEqual(["agent:main:main is already empty."]);
  const first = await ask(cortex, "hello");
  const [reply] = await command(cortex, "/new");
  expect(reply).toContain(first.turn.turn.id);
  const second = await ask(cortex, "/new\nhello again");
  expect(second.turn.turn.parent).toBeUndefined();
  expect(await cortex.store.turns.get(first.turn.turn.id)).toBeDefined();
});

test("/new while a turn is under way: it goes on, and is the first of the new thread", async () => {
  const held = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const hold = testTool("Hold", async () => {
    held.resolve();
    await gate.promise;
    return DONE;
  });
  const script = `- { when: ^work$, plays: [{ calls: [{ tool: Hold }] }, { say: worked }] }\n${SCRIPT}`;
  await using cortex = await openTestCortex({ script }, { tools: [hold] });
  await ask(cortex, "hello");
  const working = ask(cortex, "work");
  await held.promise;
  expect(await command(cortex, "/new")).toHaveLength(2);
  gate.resolve();
  const { turn, messages } = (await working).turn;
  expect([turn.parent, messages.at(-1)!.content]).toEqual([undefined, "worked"]);
  expect(hold.calls).toHaveLength(1);
  expect(await cortex.store.sessions.head(MAIN_SESSION)).toBe(turn.id);
});

test("/profile names the model of a session, and takes it back", async () => {
  const scripted = { backend: "offline", script: "script.yaml" };
  await using cortex = await openTestCortex({
    profiles: { defaultProfile: "one", profiles: { one: scripted, two: scripted } },
    script: SCRIPT,
  });
  const session = "Profile of agent:main:main:";
  expect(await command(cortex, "/profile")).toEqual([`${session} the active one (agents.main.profile).`]);
  expect(await command(cortex, "/profile two")).toEqual([`${session} two (this session).`]);
  expect((await ask(cortex, "hello")).turn.turn.facts.profile).toBe("two");
  await command(cortex, "/profile reset");
  expect((await ask(cortex, "hello")).turn.turn.facts.profile).toBe("one");
});

test("/status and /help are short", async () => {
  await using cortex = await openTestCortex({ script: SCRIPT });
  expect((await command(cortex, "/status"))[0]).toBe("agent:main:main has no messages yet.");
  const { turn } = (await ask(cortex, "hello")).turn;
  expect((await command(cortex, "/status"))[0]).toBe(
    `agent:main:main is idle; 0 waiting; last turn ${turn.id}.`,
  );
  const help = await command(cortex, "/help");
  for (const word of ["/queue", "/profile", "/new", "/status", "/help"])
    expect(help.join("\n")).toContain(word);
});

test("what is sent by a program, or begins with a space or another word, is a message", async () => {
  await using cortex = await openTestCortex({ script: SCRIPT });
  for (const content of [" /queue collect", "/tool List", "/queues"]) {
    expect((await ask(cortex, content)).turn.messages[0]!.content).toBe(content);
  }
  const { item } = await cortex.send({ content: "/queue collect" });
  expect((await cortex.outcome(item, NEVER))!.kind).toBe("turn");
});

test("/fork goes on after a turn in a new session, with the lines below as its first message", async () => {
  await using cortex = await openTestCortex({ script: SCRIPT });
  await expect(command(cortex, "/fork")).rejects.toMatchObject({ code: "turn_unknown" });
  const one = await ask(cortex, "one");
  const two = await ask(cortex, "two");
  const forked = await cortex.say({ content: "/fork", idempotencyKey: "k" });
  expect(forked).toMatchObject({ kind: "command", reply: expect.stringContaining(two.turn.turn.id) });
  expect(await cortex.say({ content: "/fork", idempotencyKey: "k" })).toEqual(forked); // once
  const { session } = forked as { session: SessionKey };
  expect(await cortex.store.sessions.head(session)).toBe(two.turn.turn.id);
  await command(cortex, "/fork 2 blue");
  expect(await cortex.store.sessions.head("blue" as SessionKey)).toBe(one.turn.turn.id);
  await expect(command(cortex, "/fork nope")).rejects.toMatchObject({ message: 'Unknown turn "nope"' });
  await expect(command(cortex, "/fork 3")).rejects.toMatchObject({ code: "turn_unknown" });

  const { turn } = await ask(cortex, `/fork ${one.turn.turn.id} green\nand if it were green?`);
  expect(turn.turn).toMatchObject({ session: "green", parent: one.turn.turn.id });
  expect(await cortex.store.sessions.head(MAIN_SESSION)).toBe(two.turn.turn.id);
});

test("/team is carried out wherever it is written, as !team is", async () => {
  await using cortex = await openTestCortex({ script: SCRIPT });
  const outcome = (content: string) => command(cortex, content).catch((error: Error) => error.message);
  for (const words of ["", " list", " nonsense"])
    expect(await outcome(`/team${words}`)).toEqual(await outcome(`!team${words}`));
  expect(await command(cortex, "/help")).toContain("!team list");
});
