/** Limits on models that hold where nobody knows a price. */
import { expect, test } from "vitest";

import { readCosts } from "../src/runtime/costs.ts";
import type { Cortex } from "../src/runtime/cortex.ts";
import { openTestCortex } from "./support/home.ts";
import { judge } from "./support/judged.ts";
import { startModelServer } from "./support/model-server.ts";

const USED = { input: 7, output: 3 };

function home(baseUrl: string, usage: object, hooks: Record<string, string> = {}) {
  const model = { provider: "openai-compatible", baseUrl, model: "unpriced", apiKeyEnv: "KEY" };
  return { cortex: { usage }, hooks, profiles: { defaultProfile: "m", profiles: { m: model } } };
}

const environment = { PATH: process.env["PATH"], KEY: "k" };

async function say(cortex: Cortex, content: string): Promise<string> {
  const { item } = await cortex.send({ content });
  const outcome = await cortex.outcome(item, AbortSignal.timeout(60_000));
  return outcome?.kind === "turn" ? outcome.text : JSON.stringify(outcome);
}

test("a model without a price is asked as often as a day allows, and no more after a restart", async () => {
  await using server = await startModelServer({ answer: () => ({ text: "yes", usage: USED }) });
  const options = { environment };
  await using cortex = await openTestCortex(home(server.openaiUrl, { personaCallsPerDay: 2 }), options);
  expect(await say(cortex, "one")).toBe("yes");
  expect(await say(cortex, "two")).toBe("yes");
  expect(await say(cortex, "three")).toMatch(
    /^I stopped here: atlas has made 2 model calls today\. \(Limit `usage\.personaCallsPerDay`: 2, in cortex\.json\.\)/,
  );
  expect(server.requests).toHaveLength(2);
  const { today } = await readCosts(
    { by: "day", days: 1 },
    { ledger: cortex.store, nowMs: Date.now(), config: cortex.config() },
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
  await using cortex = await openTestCortex(files, { environment });
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
