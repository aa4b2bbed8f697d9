/** Limits on models that hold where nobody knows a price. */
import { expect, test } from "vitest";

import { readCosts } from "../src/insight/costs.ts";
import type { Cortex } from "../src/runtime/cortex.ts";
import { openTestCortex, writeHome } from "./support/home.ts";
import { judge } from "./support/judged.ts";
import { startModelServer } from "./support/model-server.ts";
import { runHere } from "./support/run-here.ts";
import { openTestServer } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

const USED = { input: 7, output: 3 };

function home(baseUrl: string, usage: object, hooks: Record<string, string> = {}) {
  const model = { provider: "openai-compatible", baseUrl, model: "unpriced", apiKeyEnv: "KEY" };
  return {
    cortex: { usage, timezone: "UTC" },
    hooks,
    profiles: { defaultProfile: "m", profiles: { m: model } },
  };
}

/** From noon on, so that no day ends in a test. */
const startedMs = Date.now();
const clock = (): number => Date.UTC(2026, 2, 28, 12) + Date.now() - startedMs;
const OPTIONS = { environment: { PATH: process.env["PATH"], KEY: "k" }, clock };

async function say(cortex: Cortex, content: string): Promise<string> {
  const { item } = await cortex.send({ content });
  const outcome = await cortex.outcome(item, AbortSignal.timeout(60_000));
  return outcome?.kind === "turn" ? outcome.text : JSON.stringify(outcome);
}

test("a model without a price is asked as often as a day allows, and no more after a restart", async () => {
  await using server = await startModelServer({ answer: () => ({ text: "yes", usage: USED }) });
  using folder = temporaryFolder();
  writeHome(folder.path, home(server.openaiUrl, { personaCallsPerDay: 2 }));
  const options = { ...OPTIONS, home: folder.path };
  {
    await using cortex = await openTestCortex({}, options);
    expect(await say(cortex, "one")).toBe("yes");
    expect(await say(cortex, "two")).toBe("yes");
  }
  await using cortex = await openTestCortex({}, options);
  expect(await say(cortex, "three")).toMatch(
    /^I stopped here: atlas has made 2 model calls today\. \(Limit `usage\.personaCallsPerDay`: 2, in cortex\.json\.\)/,
  );
  expect(server.requests).toHaveLength(2);
  const { today } = await readCosts(
    { by: "day", days: 1 },
    { ledger: cortex.store, nowMs: clock(), config: cortex.config() },
  );
  expect(today).toMatchObject({
    calls: 2,
    tokens: 20,
    personas: [{ persona: "atlas", calls: 2, tokens: 20 }],
  });
});

test("what hooks ask counts for all, and a hook is told why its model is not asked", async () => {
  const hook = `export const filter = { channels: ["door"] };
export default async ({ llm }) => { await llm("Is it?"); return { fire: false }; };`;
  await using server = await startModelServer({ answer: () => ({ text: "yes", usage: USED }) });
  const files = home(server.openaiUrl, { tokensPerDay: 10 }, { "door.ts": hook });
  await using cortex = await openTestCortex(files, OPTIONS);
  expect((await judge(cortex, { channel: "door", content: "ring" })).runs).toMatchObject([
    { error: undefined },
  ]);
  expect(await cortex.store.turns.usedSince(0)).toEqual([{ persona: undefined, calls: 1, tokens: 10 }]);
  expect((await judge(cortex, { channel: "door", content: "ring" })).runs).toMatchObject([
    { error: expect.stringContaining("used 10 tokens today. (Limit `usage.tokensPerDay`: 10") },
  ]);
  expect(await say(cortex, "hello")).toContain("all agents and hooks together have used 10 tokens today");
  expect(server.requests).toHaveLength(1);
});

test("the status says that a limit of the day is reached, and what to do", async () => {
  await using model = await startModelServer({ answer: () => ({ text: "yes", usage: USED }) });
  const files = home(model.openaiUrl, { personaCallsPerDay: 1, tokensPerDay: 10 });
  await using server = await openTestServer(files, { ...OPTIONS, serving: { clock } });
  const { cortex } = server;
  const status = async () => (await runHere({ CORTEX_HOME: cortex.home }, ["status"])).out;
  expect(await status()).not.toContain("today.");
  expect(await say(cortex, "one")).toBe("yes");
  const shown = await status();
  expect(shown).toMatch(/health +degraded/);
  expect(shown).toMatch(/atlas has made 1 model call today\.\n.*raise `usage\.personaCallsPerDay` \(1\)/);
  expect(shown).toMatch(
    /reached: all agents and hooks together have used 10 tokens today\.\n.*`usage\.tokensPerDay` \(10\)/,
  );
  expect((await server.send("/api/health?full=1")).json).toMatchObject({
    usageReached: [
      { setting: "personaCallsPerDay", limit: 1 },
      { setting: "tokensPerDay", limit: 10 },
    ],
  });
});
