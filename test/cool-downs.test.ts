/** A model that is left alone for a while: who sees that, and where. */
import { join } from "node:path";
import { expect, test } from "vitest";

import { writeHome } from "./support/home.ts";
import { type Reply, startModelServer } from "./support/model-server.ts";
import { runHere } from "./support/run-here.ts";
import { openTestServer } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

const NEVER = new AbortController().signal;
const BUSY: Reply = { fault: { status: 429, headers: { "retry-after": "3600" } } };

/** A server whose profile `busy` is always refused; `spare` falls back on nothing, and `main` uses `busy` with the fallback that is given. */
async function openScene(fallback: readonly string[]) {
  const folder = temporaryFolder();
  const home = join(folder.path, "home");
  const model = await startModelServer({
    answer: ({ model }) => (model === "busy" ? BUSY : { text: "hello" }),
  });
  const profile = (name: string) => ({
    provider: "openai-compatible",
    baseUrl: model.openaiUrl,
    model: name,
  });
  writeHome(home, {
    cortex: { broker: { shutdownMs: 0 } },
    profiles: {
      defaultProfile: "busy",
      profiles: { busy: { ...profile("busy"), fallback }, spare: profile("spare") },
    },
  });
  const server = await openTestServer({}, { home });
  return {
    ...server,
    run: async (...argv: string[]) => (await runHere({ CORTEX_HOME: home }, argv)).out,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

const COOLING = /busy is cooling down until 2\d{3}-\d\d-\d\dT[\d:.]+Z/;

test("a model that cools down is shown in the status, and why says that another one has answered because of it", async () => {
  await using scene = await openScene(["spare"]);
  expect(await scene.run("status")).not.toContain("cooling down");
  const first = await scene.cortex.send({ content: "one" });
  await scene.cortex.outcome(first.item, NEVER);
  const second = await scene.cortex.send({ content: "two", session: "other" });
  await scene.cortex.outcome(second.item, NEVER);

  expect(await scene.run("status")).toMatch(/cooling down +profile busy, for another \S.*: .*429/);
  expect((await scene.send("/api/health?full=1")).json).toMatchObject({
    coolDowns: [
      { profile: "busy", failures: 1, error: expect.stringContaining("429"), leftMs: expect.any(Number) },
    ],
  });
  const affected = await scene.run("why", first.item);
  expect(affected).toMatch(/attempt 1 failed: .*429/);
  expect(affected).toMatch(
    /attempt 2 uses a fallback, because profile busy is cooling down until .* after 1 failure/,
  );
  expect(await scene.run("why", second.item)).toMatch(
    /attempt 1 uses a fallback, because profile busy is cooling down until .* after 1 failure .*429/,
  );
  expect(JSON.parse(await scene.run("why", second.item, "--json"))).toMatchObject({
    turns: [{ turn: { profile: "spare" }, runs: [{ fallback: expect.stringMatching(COOLING) }] }],
  });
});

test("why says that a message waits for a model that cools down, also of one behind it", async () => {
  await using scene = await openScene([]);
  const first = await scene.cortex.send({ content: "one" });
  const second = await scene.cortex.send({ content: "two", mode: "followup" });
  await expect
    .poll(async () => (await scene.cortex.store.runs.list({ state: "failed" })).items)
    .toHaveLength(1);

  const waits = await scene.run("why", first.item);
  expect(waits).toMatch(
    /attempt 1 failed: .*Profile busy is cooling down until .*; the next attempt is at 2/,
  );
  expect(await scene.run("why", second.item)).toMatch(
    /is waiting for turn \S+ of its session, which will be retried: .*busy is cooling down until/,
  );
});

test("a model that was left alone for the sake of one turn is used by the next without a word", async () => {
  await using scene = await openScene(["spare"]);
  const sent = await scene.cortex.send({ content: "one", profile: "spare" });
  await scene.cortex.outcome(sent.item, NEVER);
  expect(await scene.run("why", sent.item)).not.toContain("fallback");
});
