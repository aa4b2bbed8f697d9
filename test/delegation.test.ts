/** Managers and workers, through all of Cortex: each outcome is told once, and messages are heard while they work. */
import { expect, test } from "vitest";

import { MAIN_SESSION, normalizeSessionKey } from "../src/model/session-key.ts";
import type { Cortex } from "../src/runtime/cortex.ts";
import type { SqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import type { Delegation } from "../src/store/store.ts";
import { DONE, openTestCortex, testTool, writeHome } from "./support/home.ts";
import { openTestServer, PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";
import { openReceiver } from "./support/webhook-receiver.ts";
import {
  AGENTS,
  answerTo,
  delegationsOf,
  entry,
  holdTool,
  meetTool,
  messagesTo,
  openWorkers,
  plays,
  resultsOf,
  settled,
} from "./support/workers.ts";

test("two workers are waited for at the same time, and their results are the results of the calls", async () => {
  await using cortex = await openWorkers(
    [
      entry(
        "^both",
        "main",
        plays(
          [
            ["dispatch_to_agent", { agent: "coder", task: "task one", wait: true }],
            ["dispatch_to_agent", { agent: "scout", task: "task two", wait: true }],
          ],
          "both are back",
        ),
      ),
      entry("^task (.*)", undefined, plays([["Meet", {}]], "result of $1")),
    ],
    { tools: [meetTool(2)] },
  );
  const { item } = await cortex.send({ content: "both" });

  expect(await answerTo(cortex, item)).toBe("both are back");
  const results = await resultsOf(cortex);
  expect(results[0]).toMatch(/^result of one\n\n\[worker agent:coder:subagent:\w{26}, 0\.0000 USD\]$/);
  expect(results[1]).toMatch(/^result of two/);
  const head = await cortex.store.sessions.head(MAIN_SESSION);
  const { toolCalls } = (await cortex.store.turns.read(head!))!;
  const workers = await cortex.getChildSessions(MAIN_SESSION);
  expect(toolCalls.map(({ childSession }) => childSession)).toEqual(workers.map(({ key }) => key));
  expect(workers).toMatchObject([
    {
      agent: "coder",
      persona: "atlas",
      channel: "subagent",
      parentTurn: head,
      parentCall: toolCalls[0]!.callId,
    },
    { agent: "scout" },
  ]);
  await settled(cortex);
  expect(await messagesTo(cortex, MAIN_SESSION, "report")).toEqual([]);
});

const GIVE = entry(
  "^give (.*)",
  "main",
  plays([["dispatch_to_agent", { agent: "coder", task: "$1" }]], "it is given"),
);
const REPORTED = entry("(?s)^The work.*", "main", plays([], "I was told: {{message}}"));

/** What main was told of the work that it has given, and what it said to that. */
async function toldOf(cortex: Cortex): Promise<string[]> {
  await settled(cortex);
  return (await messagesTo(cortex, MAIN_SESSION, "report")).map(({ content }) => content!);
}

test("work that is not waited for comes back as one message", async () => {
  await using cortex = await openWorkers([GIVE, REPORTED, entry("^task", "coder", plays([], "the result"))]);
  const { item } = await cortex.send({ content: "give task" });
  expect(await answerTo(cortex, item)).toBe("it is given");

  const [told, ...more] = await toldOf(cortex);
  expect(more).toEqual([]);
  expect(told).toMatch(
    /^The work is done:\n\nthe result\n\n\[worker agent:coder:subagent:\w+, 0\.0000 USD\]$/,
  );
  const head = await cortex.store.sessions.head(MAIN_SESSION);
  const { messages } = (await cortex.store.turns.read(head!))!;
  expect(messages.at(-1)!.content).toBe(`I was told: ${told}`);
  const [report] = await messagesTo(cortex, MAIN_SESSION, "report");
  expect(report).toMatchObject({ channel: "agent", direction: "sent", sender: "coder" });
});

test("work that fails is told of once", async () => {
  await using cortex = await openWorkers([
    GIVE,
    REPORTED,
    entry("^task", "coder", JSON.stringify([{ fault: "refused" }])),
  ]);
  await cortex.send({ content: "give task" });
  await expect.poll(() => delegationsOf(cortex), PATIENT).toMatchObject([{ state: "failed" }]);

  expect(await toldOf(cortex)).toEqual([expect.stringMatching(/^The work failed: model_failed: /)]);
  const [{ item }] = (await delegationsOf(cortex)) as [Delegation];
  await cortex.store.queue.dropDead(item);
  expect(await toldOf(cortex)).toHaveLength(1);
});

test("work that somebody stops is told of once", async () => {
  const { tool } = holdTool();
  await using cortex = await openWorkers([GIVE, REPORTED, entry("^task", "coder", plays([["Hold", {}]]))], {
    tools: [tool],
  });
  await cortex.send({ content: "give task" });
  await expect.poll(() => tool.calls, PATIENT).toHaveLength(1);
  const [delegation] = await delegationsOf(cortex);
  expect(await cortex.abort(delegation!.session)).toBe(true);
  await expect.poll(() => delegationsOf(cortex), PATIENT).toMatchObject([{ state: "aborted" }]);

  expect(await toldOf(cortex)).toEqual([expect.stringMatching(/^The work was aborted\./)]);
});

test("work that takes too long is stopped, and told of once", async () => {
  const hold = holdTool();
  await using cortex = await openWorkers(
    [
      entry(
        "^give (.*)",
        "main",
        plays([["dispatch_to_agent", { type: "quick", agent: "coder", task: "$1" }]]),
      ),
      REPORTED,
      entry(
        "^task",
        "coder",
        JSON.stringify([{ say: "I begin.", calls: [{ tool: "Hold", args: {} }] }, { say: "no" }]),
      ),
    ],
    { tools: [hold.tool] },
    { ...AGENTS, subAgents: { types: { quick: { description: "Has no time", timeoutMs: 300 } } } },
  );
  await cortex.send({ content: "give task" });
  await expect.poll(() => delegationsOf(cortex), PATIENT).toMatchObject([{ state: "timeout" }]);

  expect(await toldOf(cortex)).toEqual([
    expect.stringMatching(/^The work timed out after 0\.3 s and was stopped\./),
  ]);
  expect((await cortex.getChildSessions(MAIN_SESSION))[0]).toMatchObject({ channel: "subagent:quick" });
});

test("work that is dropped before it is begun is told of once", async () => {
  const hold = holdTool();
  await using cortex = await openWorkers(
    [
      entry(
        "^give",
        "main",
        plays([
          ["dispatch_to_agent", { agent: "coder", session: "bench", task: "hold" }],
          ["dispatch_to_agent", { session: "bench", task: "task" }],
        ]),
      ),
      REPORTED,
      entry("^hold", "coder", plays([["Hold", {}]], "held")),
    ],
    { tools: [hold.tool] },
  );
  const { item } = await cortex.send({ content: "give" });
  await answerTo(cortex, item);
  const [, waiting] = await delegationsOf(cortex);
  expect(await cortex.store.queue.drop([waiting!.item], "owner")).toEqual([waiting!.item]);
  hold.release();

  const told = await toldOf(cortex);
  expect(told).toEqual([
    expect.stringMatching(/^The work was dropped before it started \(policy owner\)\./),
    expect.stringMatching(/^The work is done:\n\nheld/),
  ]);
});

test("a call that waits is told how work has failed, and the turn goes on", async () => {
  await using cortex = await openWorkers([
    entry(
      "^wait",
      "main",
      plays([["dispatch_to_agent", { agent: "coder", task: "task", wait: true }]], "I went on"),
    ),
    entry("^task", "coder", JSON.stringify([{ fault: "refused" }])),
  ]);
  const { item } = await cortex.send({ content: "wait" });
  expect(await answerTo(cortex, item)).toBe("I went on");
  expect(await resultsOf(cortex)).toEqual([expect.stringMatching(/^The work failed: model_failed/)]);
  const head = await cortex.store.sessions.head(MAIN_SESSION);
  expect((await cortex.store.turns.read(head!))!.toolCalls).toMatchObject([{ status: "error" }]);
  await settled(cortex);
  expect(await messagesTo(cortex, MAIN_SESSION, "report")).toEqual([]);
});

test("a worker's message is heard by its manager in the middle of its work, and the other way round", async () => {
  const up = holdTool();
  const down = { ...holdTool() };
  const below = { ...down.tool, name: "HoldBelow" };
  const awaitBelow = testTool("AwaitBelow", async () => {
    await expect.poll(() => below.calls, PATIENT).toHaveLength(1);
    return DONE;
  });
  await using cortex = await openWorkers(
    [
      entry(
        "^go",
        "main",
        JSON.stringify([
          { calls: [{ tool: "dispatch_to_agent", args: { agent: "coder", task: "task" } }] },
          { calls: [{ tool: "AwaitBelow", args: {} }] },
          { calls: [{ tool: "send_message_to_agent", args: { to: "coder", content: "faster" } }] },
          { calls: [{ tool: "Hold", args: {} }] },
          { say: "I heard nothing" },
        ]),
      ),
      entry("^halfway", "main", plays([], "I heard it")),
      REPORTED,
      entry(
        "^task",
        "coder",
        JSON.stringify([{ calls: [{ tool: "HoldBelow", args: {} }] }, { say: "I heard nothing" }]),
      ),
      entry(
        "^faster",
        "coder",
        plays([["send_message_to_agent", { to: "manager", content: "halfway" }]], "I hurried"),
      ),
    ],
    { tools: [up.tool, below, awaitBelow] },
  );
  const { item } = await cortex.send({ content: "go" });
  await expect.poll(() => messagesTo(cortex, MAIN_SESSION, "task"), PATIENT).toEqual([]);
  await expect
    .poll(async () => {
      const [worker] = await cortex.getChildSessions(MAIN_SESSION);
      return worker === undefined ? [] : await cortex.store.queue.pending(worker.key);
    }, PATIENT)
    .toHaveLength(1);
  await expect.poll(() => up.tool.calls, PATIENT).toHaveLength(1);
  down.release();
  await expect.poll(() => cortex.store.queue.pending(MAIN_SESSION), PATIENT).not.toHaveLength(0);
  up.release();

  expect(await answerTo(cortex, item)).toBe("I heard it");
  expect(await toldOf(cortex)).toEqual([expect.stringContaining("I hurried")]);
});

test("an answer that was sent at once is not sent again at the end", async () => {
  await using inbox = await openReceiver();
  await using cortex = await openWorkers(
    [
      entry("^same", "main", plays([["reply_to_caller", { content: "the answer" }]], "the answer")),
      entry("^silent", "main", plays([["reply_to_caller", { content: "the answer" }]], "NO_REPLY")),
      entry("^other", "main", plays([["reply_to_caller", { content: "the answer" }]], "another one")),
    ],
    {},
    { ...AGENTS, channels: { webhooks: { inbox: { deliverTo: { url: inbox.url } } } } },
  );
  const delivery = { channel: "webhook", place: "inbox" };
  const sent: string[] = [];
  for (const content of ["same", "silent", "other"]) {
    const { item } = await cortex.send({ content, delivery });
    await cortex.outcome(item, new AbortController().signal);
    sent.push(...(await allSent(cortex)).slice(sent.length));
  }
  expect(sent).toEqual(["the answer", "the answer", "the answer", "another one"]);
  expect(inbox.received).toHaveLength(4);
});

/** The texts of what was delivered, once nothing waits to be. */
async function allSent({ store }: Cortex): Promise<string[]> {
  const states = async () => (await store.outbox.list()).items.toReversed();
  await expect.poll(async () => (await states()).every(({ state }) => state === "sent"), PATIENT).toBe(true);
  const deliveries = await states();
  return deliveries.map(({ content }) => content);
}

test("whoever interrupts is answered, whatever a worker has said meanwhile", async () => {
  await using inbox = await openReceiver();
  const gate = Promise.withResolvers<void>();
  const wait = testTool("Wait", async () => {
    await gate.promise;
    return DONE;
  });
  const hold = holdTool();
  await using cortex = await openWorkers(
    [
      GIVE,
      REPORTED,
      entry("^hold", "main", plays([["Hold", {}]])),
      entry("^now", "main", plays([], "here I am")),
      entry(
        "^task",
        "coder",
        JSON.stringify([
          { calls: [{ tool: "Wait" }] },
          { calls: [{ tool: "send_message_to_agent", args: { to: "manager", content: "a word" } }] },
          { say: "done" },
        ]),
      ),
    ],
    { tools: [wait, hold.tool] },
    { ...AGENTS, channels: { webhooks: { inbox: { deliverTo: { url: inbox.url } } } } },
  );
  const given = await cortex.send({ content: "give task" });
  await answerTo(cortex, given.item);
  await cortex.send({ content: "hold" });
  await expect.poll(() => hold.tool.calls, PATIENT).toHaveLength(1);
  gate.resolve();
  await expect.poll(() => messagesTo(cortex, MAIN_SESSION, "message"), PATIENT).toHaveLength(1);
  const delivery = { channel: "webhook", place: "inbox" };
  const { item } = await cortex.send({ content: "now", mode: "interrupt", delivery });
  await answerTo(cortex, item);
  await settled(cortex);
  expect(await allSent(cortex)).toHaveLength(1);
});

test("a worker's early answer is a message to whoever gave the work, and its end is not told again", async () => {
  await using cortex = await openWorkers([
    GIVE,
    entry("^early", "main", plays([], "I have it")),
    entry("^task", "coder", plays([["reply_to_caller", { content: "early result" }]], "NO_REPLY")),
  ]);
  await cortex.send({ content: "give task" });
  expect(await toldOf(cortex)).toEqual([]);
  const messages = await messagesTo(cortex, MAIN_SESSION, "message");
  expect(messages).toMatchObject([{ content: "early result", sender: "coder" }]);
  expect(await delegationsOf(cortex)).toMatchObject([{ state: "done", reportedAtMs: expect.any(Number) }]);
});

test("a worker that says nothing at all is told of all the same", async () => {
  await using cortex = await openWorkers([GIVE, REPORTED, entry("^task", "coder", plays([], "NO_REPLY"))]);
  await cortex.send({ content: "give task" });
  expect(await toldOf(cortex)).toEqual([expect.stringContaining("The work is done")]);
});

test("the owner at a terminal finds an early answer in the ledger", async () => {
  await using cortex = await openWorkers([
    entry("^now", "main", plays([["reply_to_caller", { content: "at once" }]], "NO_REPLY")),
  ]);
  const { item, event } = await cortex.send({ content: "now", channel: "cli" });
  await answerTo(cortex, item);
  const { items } = await cortex.store.events.list({ channel: "cli", direction: "sent" });
  expect(items).toContainEqual(
    expect.objectContaining({ content: "at once", sender: "main", replyTo: event }),
  );
});

test("the answer to a result goes to where the manager was asked", async () => {
  await using inbox = await openReceiver();
  await using cortex = await openWorkers(
    [GIVE, REPORTED, entry("^task", "coder", plays([], "the result"))],
    {},
    { ...AGENTS, channels: { webhooks: { inbox: { deliverTo: { url: inbox.url } } } } },
  );
  await cortex.send({ content: "give task", delivery: { channel: "webhook", place: "inbox" } });
  await toldOf(cortex);
  expect(await allSent(cortex)).toEqual([
    "it is given",
    expect.stringContaining("I was told: The work is done"),
  ]);
});

test("whoever aborts a manager ends all that was given on from there, and nobody is told", async () => {
  const hold = holdTool();
  await using cortex = await openWorkers(
    [
      entry("^go", "main", plays([["dispatch_to_agent", { agent: "coder", task: "task", wait: true }]])),
      entry(
        "^task",
        "coder",
        plays([
          ["dispatch_to_agent", { agent: "scout", task: "below" }],
          ["Hold", {}],
        ]),
      ),
      entry("^below", "scout", plays([["Hold", {}]])),
    ],
    { tools: [hold.tool] },
  );
  const { item } = await cortex.send({ content: "go" });
  await expect.poll(() => hold.tool.calls, PATIENT).toHaveLength(2);
  expect(await cortex.abort(MAIN_SESSION)).toBe(true);

  await cortex.outcome(item, new AbortController().signal);
  await settled(cortex);
  expect(hold.aborted).toBe(2);
  const { items } = await cortex.store.delegations.list();
  expect(items.map(({ state }) => state)).toEqual(["cancelled", "cancelled"]);
  for (const { caller } of items) expect(await messagesTo(cortex, caller, "report")).toEqual([]);
  expect(await cortex.abort(MAIN_SESSION)).toBe(false);
});

test("a manager that waits when Cortex dies gets the result when it is back, once", async () => {
  using folder = temporaryFolder();
  const script = [
    entry(
      "^go",
      "main",
      plays(
        [
          ["dispatch_to_agent", { agent: "coder", task: "task", wait: true }],
          ["dispatch_to_agent", { agent: "scout", task: "aside" }],
        ],
        "I have it",
      ),
    ),
    REPORTED,
    entry("^task|^aside", undefined, plays([["Hold", {}]], "the result")),
  ].join("");
  writeHome(folder.path, { cortex: AGENTS, script });
  const hold = holdTool();
  const tools = [{ ...hold.tool, repeatable: true }];
  const first = await openTestCortex({}, { home: folder.path, tools });
  const { item } = await first.send({ content: "go" });
  await expect.poll(() => hold.tool.calls, PATIENT).toHaveLength(2);
  await expect
    .poll(async () => (await first.store.sessions.get(MAIN_SESSION))!.state, PATIENT)
    .toBe("suspended");
  await (first.store as SqliteStore).crash();
  hold.release();
  await first.stop().catch(() => {});

  await using second = await openTestCortex({}, { home: folder.path, tools });
  expect(await answerTo(second, item)).toBe("I have it");
  expect(await toldOf(second)).toEqual([expect.stringMatching(/^The work is done:\n\nthe result/)]);
  expect(await delegationsOf(second)).toMatchObject([
    { waits: true, state: "done" },
    { waits: false, state: "done" },
  ]);
});

test("hooks judge what agents write to each other only where they ask for it", async () => {
  const hook = (directions: string) =>
    `export const filter = { directions: ${directions} };\nexport default async () => ({ fire: false });\n`;
  await using cortex = await openTestCortex({
    cortex: AGENTS,
    script: [
      entry("^go", "main", plays([["send_message_to_agent", { to: "coder", content: "hello" }]])),
      entry("^hello", "coder", plays([], "hello")),
    ].join(""),
    hooks: { "sent.ts": hook('["sent"]'), "received.ts": hook('["received"]') },
  });
  await cortex.send({ content: "go" });
  await settled(cortex);
  const [message] = await messagesTo(cortex, normalizeSessionKey("agent:coder:main"), "message");
  await expect
    .poll(async () => (await cortex.store.hooks.ofEvent(message!.id)).map(({ hook: name }) => name), PATIENT)
    .toEqual(["sent"]);
});

test("work that failed and whose caller was told is no dead letter, and nothing is degraded", async () => {
  await using server = await openTestServer({
    cortex: AGENTS,
    script: [
      entry(
        "^go",
        "main",
        plays(
          [
            ["sub_agent", { type: "general", task: "break" }],
            ["dispatch_to_agent", { agent: "coder", task: "break" }],
          ],
          "I know of both",
        ),
      ),
      entry("^break", undefined, '[{ "fault": "refused" }]'),
      entry("^alone", "main", '[{ "fault": "refused" }]'),
    ].join(""),
  });
  const { cortex } = server;
  const { item } = await cortex.send({ content: "go" });
  expect(await answerTo(cortex, item)).toBe("I know of both");
  await settled(cortex);
  expect((await messagesTo(cortex, MAIN_SESSION, "report"))[0]!.content).toMatch(/^The work failed: /);

  expect((await server.send("/api/dead")).json.items).toEqual([]);
  const deadLetters = async () => {
    const { dead, problems } = (await server.send("/api/health?full=1")).json;
    return [
      dead.messages,
      problems.filter(({ problem }: { problem: string }) => /dead letter/.test(problem)).length,
    ];
  };
  expect(await deadLetters()).toEqual([0, 0]);
  expect((await cortex.store.runs.list({ state: "failed" })).items).toHaveLength(2);
  for (const { item: failed } of await delegationsOf(cortex)) {
    const { json } = await server.send(`/api/events/${failed}/why`);
    expect(json.items).toMatchObject([{ state: "dead", caller: MAIN_SESSION }]);
  }

  await cortex.outcome((await cortex.send({ content: "alone" })).item, AbortSignal.timeout(60_000));
  expect((await server.send("/api/dead")).json.items).toHaveLength(1);
  expect(await deadLetters()).toEqual([1, 1]);
});
