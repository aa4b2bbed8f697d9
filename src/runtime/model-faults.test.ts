/** What becomes of a turn when the model does what models do, over real connections and through all of Cortex. */
import { afterAll, describe, expect, test, vi } from "vitest";

import { DONE, type HomeFiles, openTestCortex, testTool } from "../../test/support/home.ts";
import { type ModelServer, type Reply, startModelServer } from "../../test/support/model-server.ts";
import type { TurnContent } from "../store/store.ts";
import type { Cortex } from "./cortex.ts";

// OpenAI's client complains of garbage to the console.
const complaints = vi.spyOn(console, "error").mockReturnValue();
afterAll(() => complaints.mockRestore());

const NEVER = new AbortController().signal;
const CALL: Reply = { calls: [{ name: "Work", arguments: { n: 1 } }] };

/** Says what the test has written down, then that all is well. */
async function startServer(replies: readonly Reply[]): Promise<ModelServer> {
  const rest = [...replies];
  return startModelServer({ strict: true, answer: () => rest.shift() ?? { text: "all is well" } });
}

function homeOf(server: ModelServer, cortex: HomeFiles["cortex"] = {}): HomeFiles {
  const model = { provider: "openai-compatible", baseUrl: server.openaiUrl, model: "m" };
  return {
    cortex: { broker: { retryMs: 0 }, ...(cortex as object) },
    profiles: { defaultProfile: "own", profiles: { own: model } },
  };
}

async function ask(cortex: Cortex, content: string) {
  const { item } = await cortex.send({ content });
  const outcome = (await cortex.outcome(item, NEVER))!;
  const turn = outcome.kind === "turn" ? await cortex.store.turns.read(outcome.turn) : undefined;
  return { outcome, turn, text: turn?.messages.at(-1)?.content };
}

/** How often the turns were tried, all together. */
async function attempts(cortex: Cortex): Promise<number> {
  return (await cortex.store.runs.list()).items.length;
}

function callsOf(turn: TurnContent | undefined): string[] {
  return turn!.toolCalls.map(({ tool, status }) => `${tool} ${status}`);
}

const TRANSIENT: readonly [string, Reply][] = [
  ["429", { fault: { status: 429, body: { error: { message: "Slow down" } } } }],
  ["529", { fault: { status: 529, body: { error: { message: "Overloaded" } } } }],
  ["500", { fault: { status: 500, body: "<h1>Oops</h1>" } }],
  ["a cut before the first word", { fault: "cut-before-first", text: "one two" }],
  ["a cut in the text", { fault: "cut-mid-text", text: "one two" }],
  ["a cut in the arguments of a call", { ...CALL, fault: "cut-mid-call" }],
  ["garbage", { fault: "garbage" }],
  ["an empty answer", { text: "" }],
];

describe.each(TRANSIENT)("after %s", (_, fault) => {
  test("the model is asked again, and what its tools have done is not done again", async () => {
    const tool = testTool("Work", async () => DONE);
    await using server = await startServer([fault, CALL, fault, { text: "there" }]);
    await using cortex = await openTestCortex(homeOf(server), { tools: [tool] });

    const { text, turn } = await ask(cortex, "go");
    expect([text, turn!.turn.status]).toEqual(["there", "completed"]);
    expect(tool.calls).toEqual([{ n: 1 }]);
    expect(await attempts(cortex)).toBe(3);
    expect((await ask(cortex, "and now?")).text).toBe("all is well");
    expect(server.problems).toEqual([]);
  });

  test("each time, the message is a dead letter that says why, and the session goes on", async () => {
    await using server = await startServer([fault, fault, fault]);
    await using cortex = await openTestCortex(homeOf(server));

    const { outcome } = await ask(cortex, "go");
    expect(outcome).toMatchObject({
      kind: "dead",
      error: expect.stringMatching(/^model_failed: .*openai-comp/),
    });
    expect(server.requests).toHaveLength(3);
    expect((await ask(cortex, "and now?")).text).toBe("all is well");
    expect(server.problems).toEqual([]);
  });
});

test("a provider that asks for time is given it", async () => {
  let offsetMs = 0;
  await using server = await startServer([{ fault: { status: 429, headers: { "retry-after": "30" } } }]);
  await using cortex = await openTestCortex(homeOf(server), { clock: () => Date.now() + offsetMs });

  const asked = ask(cortex, "go");
  await expect.poll(async () => (await cortex.store.runs.list({ state: "failed" })).items).toHaveLength(1);
  const [failed] = (await cortex.store.runs.list()).items;
  expect(await cortex.store.queue.nextReadyMs()).toBeGreaterThanOrEqual(failed!.endedAtMs! + 29_000);
  expect(server.requests).toHaveLength(1);
  offsetMs = 31_000;
  expect((await asked).text).toBe("all is well");
});

test("a server that accepts and never answers is given up, and asked again", async () => {
  await using server = await startServer([CALL, { fault: "never-answer" }]);
  const tool = testTool("Work", async () => DONE);
  const impatient = {
    broker: { retryMs: 0, maxAttempts: 50 },
    agents: { main: { limits: { silenceMs: 500 } } },
  };
  await using cortex = await openTestCortex(homeOf(server, impatient), { tools: [tool] });

  expect((await ask(cortex, "go")).text).toBe("all is well");
  expect(tool.calls).toHaveLength(1);
  const { items: runs } = await cortex.store.runs.list({ state: "failed" });
  expect(runs.at(-1)!.error).toContain("The model made no progress for 0.5 s");
});

const TWINS: Reply = {
  calls: [
    { id: "same", name: "Work", arguments: { n: 1 } },
    { id: "same", name: "Work", arguments: { n: 2 } },
  ],
};

const STRANGE: readonly [string, Reply, readonly string[], number][] = [
  ["arguments that are no JSON", { calls: [{ name: "Work", arguments: '{"n": 1, "te' }] }, ["Work error"], 0],
  ["arguments that are no object", { calls: [{ name: "Work", arguments: [1] }] }, ["Work error"], 0],
  ["a tool that does not exist", { calls: [{ name: "Play", arguments: {} }] }, ["Play error"], 0],
  ["a tool with a name that is none", { calls: [{ name: "a.b c", arguments: {} }] }, ["a.b c error"], 0],
  [
    "a call whose id was used before",
    { calls: [{ id: "same", name: "Work", arguments: {} }] },
    ["Work ok"],
    1,
  ],
  // The client cannot tell them apart and makes one unreadable call of them, and one without a name.
  ["two calls with the same id at once", TWINS, ["Work error", " error"], 0],
  ["a call without an id", { calls: [{ id: "", name: "Work", arguments: {} }] }, ["Work ok"], 1],
];

test.each(STRANGE)("of %s the model is told, and the turn goes on", async (_, reply, expected, runs) => {
  const tool = testTool("Work", async () => DONE);
  await using server = await startServer([reply, reply, { text: "there" }, reply]);
  await using cortex = await openTestCortex(homeOf(server), { tools: [tool] });

  const { text, turn } = await ask(cortex, "go");
  expect(text).toBe("there");
  expect(callsOf(turn)).toEqual([...expected, ...expected]);
  expect((await ask(cortex, "and now?")).text).toBe("all is well");
  expect(tool.calls).toHaveLength(3 * runs);
  expect(await attempts(cortex)).toBe(2);
  expect(server.problems).toEqual([]);
});

test("an answer of 10 MB is kept as it is, and can be read", async () => {
  const huge = "0123456789abcdef".repeat((10 * 1024 * 1024) / 16);
  await using server = await startServer([{ text: huge }]);
  await using cortex = await openTestCortex(homeOf(server));

  const { text, turn } = await ask(cortex, "go");
  expect(text === huge).toBe(true);
  expect(turn!.turn.status).toBe("completed");
  expect((await ask(cortex, "and now?")).text).toBe("all is well");
  expect(server.problems).toEqual([]);
});

test("a request that the provider will never take is a dead letter at once", async () => {
  await using server = await startServer([{ fault: { status: 400, body: { error: { message: "No." } } } }]);
  await using cortex = await openTestCortex(homeOf(server));

  expect((await ask(cortex, "go")).outcome).toMatchObject({
    kind: "dead",
    error: expect.stringContaining("No."),
  });
  expect(server.requests).toHaveLength(1);
  expect((await ask(cortex, "and now?")).text).toBe("all is well");
});
