/** Which profile a turn runs on when the one that was wished for does not work. */
import { expect, test } from "vitest";

import { DONE, openTestCortex, testTool } from "../../test/support/home.ts";
import { type ModelServer, type Reply, startModelServer } from "../../test/support/model-server.ts";
import type { Cortex } from "./cortex.ts";

const NEVER = new AbortController().signal;
const BUSY: Reply = { fault: { status: 529 } };
const REFUSED: Reply = { fault: { status: 401 } };

interface Scene extends AsyncDisposable {
  readonly cortex: Cortex;
  readonly server: ModelServer;
  /** What each model answers from now on; one that is not named repeats the message. */
  readonly replies: Record<string, Reply>;
  ask(content: string, session?: string): Promise<{ text: string | undefined; profile: string | undefined }>;
}

/** Profiles a, b and c with a model of the same name, where a falls back on b and b on c. */
async function openScene(options: Parameters<typeof openTestCortex>[1] = {}): Promise<Scene> {
  const replies: Record<string, Reply> = {};
  const server = await startModelServer({
    strict: true,
    answer: ({ model, messages }) =>
      replies[model] ?? { text: `${model}: ${lastLine(messages.at(-1)!.text)}` },
  });
  const profile = (model: string, ...fallback: readonly string[]) => ({
    provider: "openai-compatible",
    baseUrl: server.openaiUrl,
    model,
    fallback,
  });
  const profiles = { a: profile("a", "b"), b: profile("b", "c"), c: profile("c") };
  const cortex = await openTestCortex(
    { cortex: { broker: { retryMs: 0 } }, profiles: { defaultProfile: "a", profiles } },
    options,
  );
  return {
    cortex,
    server,
    replies,
    async ask(content, session = "main") {
      const { item } = await cortex.send({ content, session });
      const outcome = (await cortex.outcome(item, NEVER))!;
      const turn = outcome.kind === "turn" ? await cortex.store.turns.read(outcome.turn) : undefined;
      const text = outcome.kind === "dead" ? outcome.error : turn?.messages.at(-1)?.content;
      return { text, profile: turn?.turn.facts.profile };
    },
    async [Symbol.asyncDispose]() {
      await cortex[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

function lastLine(text: string): string {
  return text.split("\n").at(-1)!;
}

function asked({ server }: Scene): string[] {
  return server.requests.map(({ model }) => model);
}

test("a turn whose model is busy goes on with the fallback at once, and says which one answered", async () => {
  await using scene = await openScene();
  scene.replies["a"] = { fault: { status: 529, headers: { "retry-after": "3600" } } };

  expect(await scene.ask("one")).toEqual({ text: "b: one", profile: "b" });
  expect(asked(scene)).toEqual(["a", "b"]);
});

test("a profile that has just failed is left alone in all sessions, until its time is over", async () => {
  let offsetMs = 0;
  await using scene = await openScene({ clock: () => Date.now() + offsetMs });
  scene.replies["a"] = BUSY;
  await scene.ask("one");

  expect(await scene.ask("two", "other")).toEqual({ text: "b: two", profile: "b" });
  delete scene.replies["a"];
  offsetMs = 3_600_000;
  expect(await scene.ask("three")).toEqual({ text: "a: three", profile: "a" });
  expect(asked(scene)).toEqual(["a", "b", "b", "a"]);
});

test("the fallback of a fallback is one too", async () => {
  await using scene = await openScene();
  scene.replies["a"] = BUSY;
  scene.replies["b"] = BUSY;

  expect(await scene.ask("one")).toEqual({ text: "c: one", profile: "c" });
});

test("where all have failed, they are tried again, each one more than the attempts there are", async () => {
  await using scene = await openScene();
  for (const model of ["a", "b", "c"]) scene.replies[model] = BUSY;

  expect((await scene.ask("one")).text).toMatch(/^model_failed/);
  expect(asked(scene)).toEqual(["a", "b", "c", "a", "a"]);
});

test("a key that is refused moves the turn on, and is tried again by the next one", async () => {
  await using scene = await openScene();
  scene.replies["a"] = REFUSED;

  expect(await scene.ask("one")).toEqual({ text: "b: one", profile: "b" });
  delete scene.replies["a"];
  expect(await scene.ask("two")).toEqual({ text: "a: two", profile: "a" });
});

test("where all refuse, the message is a dead letter after each was asked once", async () => {
  await using scene = await openScene();
  for (const model of ["a", "b", "c"]) scene.replies[model] = REFUSED;

  expect((await scene.ask("one")).text).toContain("401");
  expect(asked(scene)).toEqual(["a", "b", "c"]);

  delete scene.replies["a"];
  const [letter] = (await scene.cortex.store.queue.dead()).items;
  await scene.cortex.store.queue.retryDead(letter!.item);
  await expect.poll(() => asked(scene).at(-1)).toBe("a");
});

test("a turn in the middle of its work goes on with the fallback from where it was", async () => {
  const tool = testTool("Work", async () => DONE);
  await using scene = await openScene({ tools: [tool] });
  scene.replies["a"] = { calls: [{ name: "Work", arguments: {} }] };
  tool.run = async (params) => {
    tool.calls.push(params);
    scene.replies["a"] = BUSY;
    return DONE;
  };

  expect(await scene.ask("one")).toEqual({ text: "b: done", profile: "b" });
  expect(tool.calls).toHaveLength(1);
  expect(scene.server.problems).toEqual([]);
});
