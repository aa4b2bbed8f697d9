import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import type { AgentId, PersonaId } from "../model/ids.ts";
import { lookUp } from "../personas/lookup.ts";
import { asWorker, narrowedAs } from "./as-worker.ts";

const { config } = await loadFiles({ "cortex.json": { agents: { main: { limits: { modelCalls: 20 } } } } });
const setup = lookUp(config, "main" as AgentId, "atlas" as PersonaId);

test("who is no worker stays as configured", () => {
  expect(asWorker(setup, undefined)).toBe(setup);
  expect(narrowedAs(undefined)).toEqual([]);
});

test("a worker has the role, the prompt and the bounds that it was given", () => {
  const permissions = { tools: { allow: [["Read"]] } };
  const worker = { permissions, maxTurns: 6, systemPrompt: "Look." };
  expect(asWorker(setup, worker).agent).toMatchObject({
    role: "worker",
    memory: false,
    systemPrompt: "Look.",
    limits: { modelCalls: 6 },
  });
  expect(narrowedAs(worker)).toEqual([permissions]);
});

test("it never has more calls of the model than its agent", () => {
  expect(asWorker(setup, { permissions: {}, maxTurns: 99 }).agent.limits.modelCalls).toBe(20);
  expect(asWorker(setup, { permissions: {} }).agent.limits.modelCalls).toBe(20);
});
