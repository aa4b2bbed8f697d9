import { expect, test } from "vitest";

import { DONE, openTestCortex, testTool, writeHome } from "../../test/support/home.ts";
import { PATIENT } from "../../test/support/server.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import type { CortexError } from "../model/errors.ts";
import type { RunId, TurnId } from "../model/ids.ts";
import { MAIN_SESSION } from "../model/session-key.ts";
import type { Cortex } from "./cortex.ts";
import type { NewMessage } from "../intake/messages.ts";

const NEVER = new AbortController().signal;

async function ask(cortex: Cortex, message: NewMessage | string) {
  const sent = await cortex.send(typeof message === "string" ? { content: message } : message);
  return { sent, ...(await ended(cortex, sent.item)) };
}

async function ended(cortex: Cortex, item: Parameters<Cortex["outcome"]>[0]) {
  const outcome = (await cortex.outcome(item, NEVER))!;
  const turn = outcome.kind === "turn" ? await cortex.store.turns.read(outcome.turn) : undefined;
  return { outcome, turn, text: turn?.messages.at(-1)?.content };
}

test("a message is answered, and the answer is in the ledger", async () => {
  await using cortex = await openTestCortex({ script: "- { when: hello, plays: [{ say: Hello to you }] }" });

  const { sent, turn, text } = await ask(cortex, "hello");

  expect(text).toBe("Hello to you");
  expect(turn!.turn).toMatchObject({ session: MAIN_SESSION, status: "completed", sourceEvent: sent.event });
  expect(await cortex.store.sessions.head(MAIN_SESSION)).toBe(turn!.turn.id);
  const { items } = await cortex.store.events.list();
  expect(items.map(({ direction, content }) => `${direction} ${content}`).toSorted()).toEqual([
    "received hello",
    "sent Hello to you",
  ]);
});

test("messages of a session are answered one after the other, each after the turn before it", async () => {
  const tool = testTool("Work", async () => DONE);
  await using cortex = await openTestCortex(
    {
      script:
        "- { when: .*, plays: [{ calls: [{ tool: Work, args: { m: '{{message}}' } }] }, { say: 'did {{message}}' }] }",
    },
    { tools: [tool] },
  );

  const asked = ["a", "b", "c", "d"].map((content) => ask(cortex, { content, mode: "followup" }));
  const turns = await Promise.all(asked);

  expect(turns.map(({ text }) => text)).toEqual(["did a", "did b", "did c", "did d"]);
  expect(turns.map(({ turn }) => turn!.turn.depth)).toEqual([0, 1, 2, 3]);
  expect(tool.calls).toEqual([{ m: "a" }, { m: "b" }, { m: "c" }, { m: "d" }]);
});

test("a busy session does not keep another one waiting", async () => {
  await using cortex = await openTestCortex({
    cortex: { broker: { maxConcurrentRuns: 1 } },
    script: "- { when: .*, plays: [{ say: '{{message}}' }] }",
  });
  const busy = Array.from({ length: 20 }, (_, i) =>
    ask(cortex, { content: `busy ${i}`, session: "busy", mode: "queue" }),
  );
  const other = ask(cortex, { content: "me too", session: "other" });
  const order: (string | undefined)[] = [];
  await Promise.all([...busy, other].map((one) => one.then(({ text }) => order.push(text))));

  expect(order.indexOf("me too")).toBeLessThan(5);
});

test("a message that steers enters the running turn, and calls that had not begun are skipped", async () => {
  const started = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const slow = testTool("Slow", async () => {
    started.resolve();
    await gate.promise;
    return DONE;
  });
  const never = testTool("Never", async () => DONE);
  const script = `
- { when: ^stop$, plays: [{ say: stopped }] }
- { when: ^work$, plays: [{ calls: [{ tool: Slow }, { tool: Never }] }, { say: worked }] }`;
  await using cortex = await openTestCortex({ script }, { tools: [slow, never] });

  const work = ask(cortex, "work");
  await started.promise;
  const stop = ask(cortex, { content: "stop", mode: "steer" });
  await expect.poll(async () => (await cortex.store.queue.pending(MAIN_SESSION)).length).toBe(1);
  gate.resolve();

  const [worked, stopped] = await Promise.all([work, stop]);
  expect(worked.turn!.turn.id).toBe(stopped.turn!.turn.id);
  expect(worked.text).toBe("stopped");
  expect(worked.turn!.messages.map(({ role, content }) => [role, content])).toEqual([
    ["user", "work"],
    ["assistant", ""],
    ["user", "stop"],
    ["assistant", "stopped"],
  ]);
  expect(worked.turn!.toolCalls.map(({ tool, status }) => [tool, status])).toEqual([
    ["Slow", "ok"],
    ["Never", "skipped"],
  ]);
  expect(never.calls).toEqual([]);
});

test("a message that steers and comes too late has a turn of its own, once", async () => {
  const script = "- { when: .*, plays: [{ say: '{{message}}' }] }";
  await using cortex = await openTestCortex({ script });
  const first = await ask(cortex, "first");
  const second = await ask(cortex, { content: "second", mode: "steer-backlog" });

  expect(second.turn!.turn.parent).toBe(first.turn!.turn.id);
  expect((await cortex.store.counts()).turns).toBe(2);
});

test("a suspended turn waits without a slot, over a restart, and goes on with the answer", async () => {
  using folder = temporaryFolder();
  const home = folder.path;
  writeHome(home, {
    cortex: { broker: { maxConcurrentRuns: 1 } },
    script: `
- { when: ^ask$, plays: [{ calls: [{ tool: Before }, { tool: Question, args: { text: Well? } }] }, { say: thanks }] }
- { when: .*, plays: [{ say: other }] }`,
  });
  const before = testTool("Before", async () => DONE);
  const question = testTool("Question", async (detail) => ({
    kind: "suspend",
    waitKind: "question",
    detail,
  }));
  const tools = [before, question];
  let item;
  {
    await using cortex = await openTestCortex({}, { home, tools });
    ({ item } = await cortex.send({ content: "ask" }));
    await expect.poll(async () => (await cortex.store.sessions.get(MAIN_SESSION))?.state).toBe("suspended");
    const other = await ask(cortex, { content: "meanwhile", session: "other" });
    expect(other.text).toBe("other");
  }
  await using cortex = await openTestCortex({}, { home, tools });
  const [run] = await cortex.store.runs.active();
  expect(run).toMatchObject({ state: "suspended", wait: { kind: "question" } });
  expect(await cortex.answer(run!.id, { text: "Yes." })).toBe(true);
  expect(await cortex.answer(run!.id, { text: "No." })).toBe(false);

  const { text, turn } = await ended(cortex, item);
  expect(text).toBe("thanks");
  expect(turn!.toolCalls.map(({ tool, result }) => [tool, result])).toEqual([
    ["Before", { text: "done" }],
    ["Question", { text: "Yes." }],
  ]);
  expect(before.calls).toHaveLength(1);
  expect(question.calls).toHaveLength(1);
});

test("an aborted turn is kept with what it had produced, and its session goes on", async () => {
  const started = Promise.withResolvers<void>();
  const slow = testTool("Slow", (_, { signal }) => {
    started.resolve();
    return new Promise((_resolve, reject) =>
      signal.addEventListener("abort", () => reject(new Error("aborted"))),
    );
  });
  const script = `
- { when: ^work$, plays: [{ calls: [{ tool: Slow }] }, { say: worked }] }
- { when: .*, plays: [{ say: '{{message}}' }] }`;
  await using cortex = await openTestCortex({ script }, { tools: [slow] });

  const work = ask(cortex, "work");
  await started.promise;
  expect(await cortex.abort(MAIN_SESSION)).toBe(true);
  const { turn } = await work;
  expect(turn!.turn.status).toBe("aborted");
  expect(turn!.toolCalls).toMatchObject([{ tool: "Slow", status: "aborted" }]);
  const next = await ask(cortex, "next");
  expect(next.turn!.turn.parent).toBe(turn!.turn.id);
  expect(await cortex.abort(MAIN_SESSION)).toBe(false);
});

test("an abort reaches a turn that is suspended", async () => {
  const question = testTool("Question", async () => ({
    kind: "suspend",
    waitKind: "question",
    detail: null,
  }));
  const script = "- { when: .*, plays: [{ calls: [{ tool: Question }] }, { say: thanks }] }";
  await using cortex = await openTestCortex({ script }, { tools: [question] });
  const asked = ask(cortex, "ask");
  await expect.poll(async () => (await cortex.store.sessions.get(MAIN_SESSION))?.state).toBe("suspended");

  expect(await cortex.abort(MAIN_SESSION)).toBe(true);
  expect((await asked).turn!.turn.status).toBe("aborted");
});

test("a turn that cannot succeed is a dead letter that can be tried again, under the same turn id", async () => {
  using folder = temporaryFolder();
  const home = folder.path;
  const failing = "- { when: .*, plays: [{ fault: refused }] }";
  writeHome(home, { script: failing });
  await using cortex = await openTestCortex({}, { home });
  const { sent, outcome } = await ask(cortex, "hello");
  expect(outcome).toMatchObject({ kind: "dead", error: expect.stringContaining("model_failed") });
  const [letter] = (await cortex.store.queue.dead()).items;
  expect(letter).toMatchObject({ item: sent.item, session: MAIN_SESSION });
  expect((await cortex.store.counts()).turns).toBe(0);

  writeHome(home, { script: "- { when: .*, plays: [{ say: better }] }" });
  await cortex.store.queue.retryDead(sent.item);
  const { text, turn } = await ended(cortex, sent.item);
  expect(text).toBe("better");
  expect(turn!.turn.id).toBe(letter!.turn);
});

test("a model that fails for a while is asked again", async () => {
  const script = "- { when: .*, plays: [{ say: there, fault: { kind: '429', times: 1 } }] }";
  await using cortex = await openTestCortex({ script });
  const { text } = await ask(cortex, "hello");

  expect(text).toBe("there");
  const { items: runs } = await cortex.store.runs.list();
  expect(runs.map(({ state, attempt }) => [attempt, state])).toEqual([
    [2, "completed"],
    [1, "failed"],
  ]);
});

test("a failed attempt goes on where it stood: finished calls are not made again", async () => {
  const tool = testTool("Once", async () => DONE);
  const script =
    "- { when: .*, plays: [{ calls: [{ tool: Once }] }, { say: there, fault: { kind: '500', times: 1 } }] }";
  await using cortex = await openTestCortex({ script }, { tools: [tool] });
  const { text } = await ask(cortex, "hello");

  expect(text).toBe("there");
  expect(tool.calls).toHaveLength(1);
});

test("the same idempotency key is the same message, also at once, and not for another one", async () => {
  await using cortex = await openTestCortex({ script: "- { when: .*, plays: [{ say: once }] }" });
  const message = { content: "pay", idempotencyKey: "k1" };
  const all = await Promise.all([ask(cortex, message), ask(cortex, message), ask(cortex, message)]);

  expect(new Set(all.map(({ turn }) => turn!.turn.id)).size).toBe(1);
  expect(new Set(all.map(({ sent }) => sent.dispatch)).size).toBe(1);
  expect((await cortex.store.counts()).turns).toBe(1);
  await expect(cortex.send({ content: "pay more", idempotencyKey: "k1" })).rejects.toMatchObject({
    code: "idempotency_conflict",
  });
});

test("a message to an older turn forks, one to a head joins its session", async () => {
  await using cortex = await openTestCortex({ script: "- { when: .*, plays: [{ say: '{{message}}' }] }" });
  const first = await ask(cortex, "first");
  const second = await ask(cortex, "second");

  const onHead = await ask(cortex, { content: "third", thread: second.turn!.turn.id });
  expect(onHead.sent.session).toBe(MAIN_SESSION);
  const onOlder = await ask(cortex, { content: "other", thread: first.turn!.turn.id });
  expect(onOlder.sent.session).toMatch(/^fork-/);
  expect(onOlder.turn!.turn.parent).toBe(first.turn!.turn.id);
  expect((await cortex.store.turns.children(first.turn!.turn.id)).length).toBe(2);
});

test.each([
  [{ thread: "01NOSUCHTURN" }, "turn_unknown"],
  [{ session: "a b" }, "session_key_invalid"],
  [{ session: "main", persona: "atlas" }, "target_conflict"],
  [{ session: "agent:nobody:main" }, "agent_unknown"],
  [{ persona: "nobody" }, "persona_unknown"],
  [{ smart: true }, "smart_unconfigured"],
  [{ mode: "shout" }, "queue_mode_unknown"],
  [{ profile: "nothing" }, "profile_unknown"],
  [{ content: "  " }, "request_invalid"],
])("a message with %o is refused as %s, and nothing is kept", async (wrong, code) => {
  await using cortex = await openTestCortex();
  await expect(cortex.send({ content: "hello", ...wrong })).rejects.toMatchObject({ code });
  expect(await cortex.store.counts()).toMatchObject({ events: 0, sessions: 0, queued: 0 });
});

test("a persona's messages go to its main session", async () => {
  await using cortex = await openTestCortex({
    cortex: { agents: { main: {}, sage: { persona: "sage" } }, personas: { atlas: {}, sage: {} } },
    script: "- { when: .*, agent: sage, plays: [{ say: sagely }] }",
  });
  const { sent, text } = await ask(cortex, { content: "hello", persona: "sage" });
  expect(sent.session).toBe("agent:sage:main");
  expect(text).toBe("sagely");
});

test("a turn ends with an answer that says so when it reaches a limit", async () => {
  const tool = testTool("Again", async () => DONE);
  const plays = Array.from({ length: 9 }, (_, i) => `{ calls: [{ tool: Again, args: { i: ${i} } }] }`).join(
    ", ",
  );
  await using cortex = await openTestCortex(
    {
      cortex: { agents: { main: { limits: { modelCalls: 3 } } } },
      script: `- { when: .*, plays: [${plays}] }`,
    },
    { tools: [tool] },
  );
  const { text, turn } = await ask(cortex, "go");
  expect(text).toContain("modelCalls");
  expect(turn!.turn.status).toBe("completed");
  expect(tool.calls).toHaveLength(3);
});

test("what is under way when Cortex stops is finished by the next one", async () => {
  using folder = temporaryFolder();
  const home = folder.path;
  writeHome(home, {
    script: "- { when: .*, plays: [{ calls: [{ tool: One }, { tool: Two }] }, { say: both }] }",
  });
  const started = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const one = testTool("One", async () => {
    started.resolve();
    await gate.promise;
    return DONE;
  });
  const two = testTool("Two", async () => DONE);
  const first = await openTestCortex({}, { home, tools: [one, two] });
  const { item } = await first.send({ content: "go" });
  await started.promise;
  const stopped = first.stop();
  gate.resolve();
  await stopped;
  expect([one.calls.length, two.calls.length]).toEqual([1, 0]);

  await using second = await openTestCortex({}, { home, tools: [one, two] });
  expect(second.resumed).toBe(1);
  expect((await ended(second, item)).text).toBe("both");
  expect([one.calls.length, two.calls.length]).toEqual([1, 1]);
});

test("the words of an answer can be read as they come, and what happened meanwhile later", async () => {
  await using cortex = await openTestCortex({ script: "- { when: .*, plays: [{ say: one two three }] }" });
  const controller = new AbortController();
  const seen: string[] = [];
  let words = "";
  const reading = (async () => {
    for await (const entries of cortex.live.read({ since: 0, signal: controller.signal })) {
      for (const entry of entries) {
        if (entry.kind === "delta") words += entry.delta.text;
        if (entry.kind === "change") seen.push(entry.change.kind);
      }
      if (seen.includes("turn")) break;
    }
  })();
  await ask(cortex, "count");
  await reading;
  expect(seen).toEqual(expect.arrayContaining(["event", "dispatch", "run", "turn"]));
  expect("one two three".startsWith(words)).toBe(true);
});

test("a session that was never used is unknown", async () => {
  await using cortex = await openTestCortex();
  await expect(cortex.abort("nowhere")).rejects.toMatchObject({ code: "session_unknown" });
  await expect(cortex.fork("01NOSUCHTURN" as TurnId)).rejects.toMatchObject({ code: "turn_unknown" });
});

test("an answer to a call that does not wait changes nothing", async () => {
  const question = testTool("Question", async () => ({
    kind: "suspend",
    waitKind: "question",
    detail: null,
  }));
  const script =
    "- { when: .*, plays: [{ calls: [{ tool: Question }, { tool: Question }] }, { say: thanks }] }";
  await using cortex = await openTestCortex({ script }, { tools: [question] });
  const asked = ask(cortex, "ask");
  const suspended = async () => (await cortex.store.sessions.get(MAIN_SESSION))?.state;
  await expect.poll(suspended).toBe("suspended");
  const [run] = await cortex.store.runs.active();

  expect(await cortex.answer(run!.id, { text: "No." }, 7)).toBe(false);
  expect(await cortex.answer("run-none" as RunId, { text: "No." })).toBe(false);
  expect(await cortex.answer(run!.id, { text: "second" }, 1)).toBe(true);
  await expect.poll(suspended).toBe("suspended");
  await expect.poll(() => cortex.answer(run!.id, { text: "first" })).toBe(true);
  expect((await asked).turn!.toolCalls.map(({ result }) => result)).toEqual([
    { text: "first" },
    { text: "second" },
  ]);
});

test("a session whose agent is gone from the config has dead letters, and others go on", async () => {
  using folder = temporaryFolder();
  const home = folder.path;
  const script = "- { when: .*, plays: [{ say: '{{message}}' }] }";
  writeHome(home, { cortex: { agents: { main: {}, sage: {} } }, script });
  {
    await using cortex = await openTestCortex({}, { home });
    await ask(cortex, { content: "hello", session: "agent:sage:main" });
  }
  writeHome(home, { cortex: { agents: { main: {} } }, script });
  await using cortex = await openTestCortex({}, { home });
  const { outcome } = await ask(cortex, { content: "hello?", session: "agent:sage:main" });
  expect(outcome).toMatchObject({ kind: "dead", error: expect.stringContaining("agent_unknown") });
  expect((await ask(cortex, "hello")).text).toBe("hello");
});

test("a message that is being sent while Cortex stops is kept or refused, and never half done", async () => {
  using folder = temporaryFolder();
  const home = folder.path;
  writeHome(home, { script: "- { when: .*, plays: [{ say: '{{message}}' }] }" });
  const lines: string[] = [];
  const first = await openTestCortex({}, { home, log: (line) => lines.push(line) });
  const sending = Array.from({ length: 20 }, (_, i) =>
    first.send({ content: String(i), session: `s${i}` }).catch((error: CortexError) => error.code),
  );
  await first.stop();
  const sent = (await Promise.all(sending)).filter((one) => typeof one !== "string");
  expect(lines).toEqual([]);

  await using second = await openTestCortex({}, { home });
  for (const { item } of sent) expect((await ended(second, item)).outcome.kind).toBe("turn");
  expect((await second.store.counts()).turns).toBe(sent.length);
  const { items: runs } = await second.store.runs.list();
  expect(runs.every(({ interruptions }) => interruptions === 0)).toBe(true);
});

test("whoever waits for an answer or reads along is let go when Cortex stops", async () => {
  const question = testTool("Question", async () => ({
    kind: "suspend",
    waitKind: "question",
    detail: null,
  }));
  const script = "- { when: .*, plays: [{ calls: [{ tool: Question }] }] }";
  const cortex = await openTestCortex({ script }, { tools: [question] });
  const { item } = await cortex.send({ content: "ask" });
  const waiting = cortex.outcome(item, NEVER);
  const reading = (async () => {
    for await (const entries of cortex.live.read({ signal: NEVER }))
      expect(entries.length).toBeGreaterThan(0);
    return "ended";
  })();
  await cortex[Symbol.asyncDispose]();
  expect(await waiting).toBeUndefined();
  expect(await reading).toBe("ended");
});

test("the views of personas and sessions tell what is configured, the model, and how much there is", async () => {
  using home = temporaryFolder();
  const personas = { nova: { identity: { name: "Nova", soul: "Calm." } } };
  writeHome(home.path, { cortex: { personas, agents: { scout: { persona: "nova" } } } });
  const viewed = async (cortex: Cortex) =>
    cortex.store.query(
      "select id, name, main_session, session_count, turn_count, model, json_extract(identity_json, '$.soul') as soul from personas order by id",
    );
  {
    await using cortex = await openTestCortex({}, { home: home.path });
    for (const session of ["main", "main", "agent:scout:main"]) {
      const { item } = await cortex.send({ content: "hello", session });
      await cortex.outcome(item, AbortSignal.timeout(60_000));
    }
    expect(await viewed(cortex)).toMatchObject([
      { id: "atlas", name: "Atlas", main_session: "agent:main:main", session_count: 1, turn_count: 2 },
      {
        id: "nova",
        name: "Nova",
        main_session: "agent:scout:main",
        session_count: 1,
        turn_count: 1,
        soul: "Calm.",
      },
    ]);
    const [main] = await cortex.store.query(
      "select model, turn_count, message_count from agent_sessions where id = 'agent:main:main'",
    );
    const stored = (await cortex.store.sessions.get(MAIN_SESSION))!;
    expect(main).toEqual({ model: stored.model, turn_count: 2, message_count: 4 });
    expect(stored).toMatchObject({ turnCount: 2, messageCount: 4, limitReached: false });
    expect((await viewed(cortex))[0]!["model"]).toBe(stored.model);
  }
  writeHome(home.path, {});
  await using cortex = await openTestCortex({}, { home: home.path });
  expect((await viewed(cortex)).map(({ id }) => id)).toEqual(["atlas"]);
});

test("a persona that is changed while Cortex runs is changed in its view", async () => {
  using home = temporaryFolder();
  writeHome(home.path, {});
  await using cortex = await openTestCortex({}, { home: home.path });
  const names = async () =>
    (await cortex.store.query("select name from personas")).map(({ name }) => String(name));
  expect(await names()).toEqual(["Atlas"]);
  writeHome(home.path, { cortex: { personas: { atlas: { identity: { name: "Argus" } } } } });
  await expect.poll(names, PATIENT).toEqual(["Argus"]);
});
