/** Calls that need a person's yes, and questions of agents, through all of Cortex. */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { ItemId } from "../src/model/ids.ts";
import { MAIN_SESSION } from "../src/model/session-key.ts";
import type { Tool } from "../src/model/tool.ts";
import { decide, MAX_ANSWER_LENGTH } from "../src/intake/approvals.ts";
import type { Cortex, CortexOptions } from "../src/runtime/cortex.ts";
import type { SqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import type { Approval, ApprovalState } from "../src/store/store.ts";
import { APPROVAL_MS } from "../src/turns/approval.ts";
import { DONE, openTestCortex, testTool, writeHome } from "./support/home.ts";
import { openTestServer, PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";
import { testClock } from "./support/sample.ts";

const NEVER = new AbortController().signal;
const OWNER = { name: "owner", isOwner: true };
const ASKING = { personas: { atlas: { permissions: { ask: ["Pay"] } } }, sandbox: "off" };
const SCRIPT = `
- when: ^pay (\\d+)
  plays:
    - calls: [{ tool: Pay, args: { amount: "$1" } }]
    - say: "{{results}}"
- when: ^pay both
  plays:
    - calls: [{ tool: Pay, args: { amount: one } }, { tool: Pay, args: { amount: two } }]
    - say: both
- when: ^ask
  plays:
    - calls: [{ tool: Ask, args: {} }]
    - say: thanks
`.replace("{{results}}", "paid");

/** A tool whose effect can be counted. */
function payTool(file: string): Tool {
  return testTool("Pay", async (params) => {
    appendFileSync(file, `${JSON.stringify(params)}\n`);
    return { kind: "done", result: { text: "paid" } };
  });
}

const QUESTION: Tool = testTool("Ask", async () => ({
  kind: "suspend",
  waitKind: "question",
  detail: { question: "Which one?", options: ["a", "b"] },
}));

interface Scene extends Disposable {
  readonly home: string;
  readonly paid: () => string[];
  start(options?: Partial<CortexOptions>): Promise<Cortex>;
}

function openScene(cortex: object = ASKING): Scene {
  const folder = temporaryFolder();
  const file = join(folder.path, "paid");
  writeHome(folder.path, { cortex, script: SCRIPT });
  return {
    home: folder.path,
    paid: () => {
      try {
        return readFileSync(file, "utf8").trim().split("\n");
      } catch {
        return [];
      }
    },
    start: (options = {}) =>
      openTestCortex({}, { tools: [payTool(file), QUESTION], ...options, home: folder.path }),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

async function requested({ store }: Cortex, count = 1): Promise<readonly Approval[]> {
  return expect
    .poll(async () => (await store.approvals.list({ state: "open" })).items, PATIENT)
    .toHaveLength(count)
    .then(async () => (await store.approvals.list({ state: "open" })).items.toReversed());
}

async function answerTo(cortex: Cortex, item: ItemId): Promise<string> {
  const outcome = await cortex.outcome(item, NEVER);
  if (outcome?.kind !== "turn") throw new Error(`There is no turn: ${JSON.stringify(outcome)}`);
  return (await cortex.store.turns.read(outcome.turn))!.messages.at(-1)!.content;
}

async function resultsOf({ store }: Cortex): Promise<string[]> {
  const head = await store.sessions.head(MAIN_SESSION);
  const { toolCalls } = (await store.turns.read(head!))!;
  return toolCalls.map(({ result }) => (result as { text: string }).text);
}

test("a call that needs a yes waits through a crash, and is made exactly once when it has it", async () => {
  using scene = openScene();
  const first = await scene.start();
  const { item } = await first.send({ content: "pay 100", session: "main" });
  const [approval] = await requested(first);
  expect(approval).toMatchObject({
    kind: "approval",
    session: MAIN_SESSION,
    request: { tool: "Pay", args: { amount: "100" }, reason: expect.stringContaining("Pay") },
  });
  await (first.store as SqliteStore).crash();
  await first.stop().catch(() => {});

  await using second = await scene.start();
  expect(scene.paid()).toEqual([]);
  await decide(approval!.id, { kind: "approve" }, OWNER, second.store);
  expect(await answerTo(second, item)).toBe("paid");
  expect(scene.paid()).toEqual(['{"amount":"100"}']);
  expect(await second.store.approvals.get(approval!.id)).toMatchObject({ state: "used" });
});

test("a yes that was given while nobody was there counts when Cortex is back", async () => {
  using scene = openScene();
  const first = await scene.start();
  const { item } = await first.send({ content: "pay 7", session: "main" });
  const [approval] = await requested(first);
  await decide(approval!.id, { kind: "approve" }, OWNER, first.store);
  await (first.store as SqliteStore).crash();
  await first.stop().catch(() => {});

  await using second = await scene.start();
  const before = scene.paid().length; // the first may have come so far
  await second.outcome(item, NEVER);
  expect(scene.paid()).toHaveLength(1);
  expect(before).toBeLessThanOrEqual(1);
});

test("the agent reads why a call was refused, and goes on", async () => {
  using scene = openScene();
  await using cortex = await scene.start();
  const { item } = await cortex.send({ content: "pay 5", session: "main" });
  const [approval] = await requested(cortex);
  await decide(approval!.id, { kind: "deny", reason: "too dear" }, OWNER, cortex.store);

  await answerTo(cortex, item);
  expect(await resultsOf(cortex)).toEqual(["A person denied this call: too dear."]);
  expect(scene.paid()).toEqual([]);
});

test("a call that nobody decides is refused when its time is over", async () => {
  using scene = openScene();
  const clock = testClock();
  const first = await scene.start({ clock });
  const { item } = await first.send({ content: "pay 5", session: "main" });
  const [approval] = await requested(first);
  await first.stop();
  clock.advance(APPROVAL_MS);

  await using second = await scene.start({ clock });
  await answerTo(second, item);
  expect(await resultsOf(second)).toEqual([expect.stringContaining("not approved in time")]);
  await expect(decide(approval!.id, { kind: "approve" }, OWNER, second.store)).rejects.toMatchObject({
    code: expect.stringMatching(/approval_expired|state_conflict/),
  });
  expect(scene.paid()).toEqual([]);
});

test("a call that nobody decides is refused when its time is over, by the server that asked", async () => {
  using scene = openScene();
  const clock = testClock();
  await using cortex = await scene.start({ clock });
  const { item } = await cortex.send({ content: "pay 5", session: "main" });
  await requested(cortex);
  clock.advance(APPROVAL_MS - 5);
  await cortex.send({ content: "pay 6", session: "other" }); // another request makes it look at the clock
  await requested(cortex, 2);
  expect((await cortex.store.queue.outcome(item))!.state).toBe("claimed");

  clock.advance(5);
  await answerTo(cortex, item);
  expect(await resultsOf(cortex)).toEqual([expect.stringContaining("not approved in time")]);
  expect(scene.paid()).toEqual([]);
});

test("several calls are decided one by one, in any order", async () => {
  using scene = openScene();
  await using cortex = await scene.start();
  const { item } = await cortex.send({ content: "pay both", session: "main" });
  const [one, two] = await requested(cortex, 2);
  await decide(two!.id, { kind: "approve" }, OWNER, cortex.store);
  await expect.poll(() => scene.paid(), PATIENT).toEqual(['{"amount":"two"}']);
  await decide(one!.id, { kind: "deny" }, OWNER, cortex.store);

  expect(await answerTo(cortex, item)).toBe("both");
  expect(scene.paid()).toEqual(['{"amount":"two"}']);
  expect(await resultsOf(cortex)).toEqual(["A person denied this call.", "paid"]);
});

test("an answer counts once", async () => {
  using scene = openScene();
  await using cortex = await scene.start();
  const { item } = await cortex.send({ content: "pay 5", session: "main" });
  const [approval] = await requested(cortex);
  const decided = await Promise.allSettled([
    decide(approval!.id, { kind: "approve" }, OWNER, cortex.store),
    decide(approval!.id, { kind: "deny" }, OWNER, cortex.store),
  ]);

  expect(decided.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  await answerTo(cortex, item);
  await expect(decide(approval!.id, { kind: "deny" }, OWNER, cortex.store)).rejects.toMatchObject({
    code: "state_conflict",
  });
  expect(scene.paid().length).toBeLessThanOrEqual(1);
});

test("nobody but the owner decides", async () => {
  using scene = openScene();
  await using cortex = await scene.start();
  await cortex.send({ content: "pay 5", session: "main" });
  const [approval] = await requested(cortex);
  const stranger = { name: "telegram user 7", isOwner: false };
  await expect(decide(approval!.id, { kind: "approve" }, stranger, cortex.store)).rejects.toMatchObject({
    code: "approval_forbidden",
    message: "telegram user 7 is not allowed to decide this",
  });
  expect(await cortex.store.approvals.get(approval!.id)).toMatchObject({ state: "open" });
});

test("an answer that is too long is refused, and the request stays open", async () => {
  using scene = openScene();
  await using cortex = await scene.start();
  await cortex.send({ content: "ask me", session: "main" });
  const [question] = await requested(cortex);
  const text = "x".repeat(MAX_ANSWER_LENGTH + 1);
  await expect(decide(question!.id, { kind: "answer", text }, OWNER, cortex.store)).rejects.toMatchObject({
    code: "request_invalid",
  });
  expect(await cortex.store.approvals.get(question!.id)).toMatchObject({ state: "open" });
});

test("a turn that is aborted asks nobody any more", async () => {
  using scene = openScene();
  await using cortex = await scene.start();
  await cortex.send({ content: "pay 5", session: "main" });
  const [approval] = await requested(cortex);
  await cortex.abort(MAIN_SESSION);
  const state = async (): Promise<ApprovalState | undefined> =>
    (await cortex.store.approvals.get(approval!.id))?.state;
  await expect.poll(state, PATIENT).toBe("void");
  await expect(decide(approval!.id, { kind: "approve" }, OWNER, cortex.store)).rejects.toMatchObject({
    code: "state_conflict",
  });
});

test("a question is answered with words, over HTTP", async () => {
  await using served = await openTestServer({ script: SCRIPT }, { tools: [QUESTION] });
  const { cortex } = served;
  const { item } = await cortex.send({ content: "ask me", session: "main" });
  await requested(cortex);
  const { json: page } = await served.send("/api/approvals");
  expect(page.items).toMatchObject([
    { kind: "question", question: "Which one?", options: ["a", "b"], status: "open", expiresAt: null },
  ]);
  const { id } = page.items[0];
  const approving = { method: "POST", path: `/api/approvals/${id}`, json: { decision: "approve" } };
  expect(await served.send(approving)).toMatchObject({ status: 409 });
  const answering = { method: "POST", path: `/api/questions/${id}`, json: { answer: "b" } };
  expect(await served.send(answering)).toMatchObject({
    status: 200,
    json: { status: "answered", answer: "b" },
  });
  expect(await served.send(answering)).toMatchObject({ status: 200 });
  expect(await served.send({ ...answering, json: { answer: "a" } })).toMatchObject({ status: 409 });
  expect(await served.send({ ...answering, path: "/api/questions/nobody" })).toMatchObject({
    status: 404,
    json: { error: { code: "approval_unknown" } },
  });

  expect(await answerTo(cortex, item)).toBe("thanks");
  expect(await resultsOf(cortex)).toEqual(["b"]);
});

test("in a chat, a line decides what waits there", async () => {
  await using served = await openTestServer(
    { cortex: ASKING, script: SCRIPT },
    { tools: [testTool("Pay", async () => DONE)] },
  );
  const { cortex } = served;
  const line = (content: string) => ({ method: "POST", path: "/api/messages", json: { content } });
  expect(await served.send(line("/approve"))).toMatchObject({
    status: 404,
    json: { error: { code: "approval_unknown" } },
  });
  const { item } = await cortex.send({ content: "pay 5", session: "main" });
  await requested(cortex);
  expect(await served.send(line("/approve"))).toMatchObject({ status: 200, json: { text: "Approved: Pay" } });
  expect(await answerTo(cortex, item)).toBe("paid");
});
