import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import type { AgentId, PersonaId } from "../model/ids.ts";
import { lookUp } from "../personas/lookup.ts";
import { asWorker, hasTool, narrowedAs, setupOf } from "./as-worker.ts";

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

test("a session that says where it works may be of an agent that nobody has configured", () => {
  const session = { agent: "planner" as AgentId, persona: "atlas" as PersonaId };
  const worker = { permissions: {}, workspace: "/work", roots: ["/relay"] };
  const { id, agent, personaId, persona } = setupOf(config, session, worker);
  expect({ id, personaId, workspace: agent.workspace }).toEqual({
    id: "planner",
    personaId: "atlas",
    workspace: "/work",
  });
  expect(persona.permissions.roots).toEqual(expect.arrayContaining(["/work", "/relay"]));
  expect(setupOf(config, { ...session, agent: "main" as AgentId }, worker).agent.workspace).toBe("/work");
  expect(() => setupOf(config, session, undefined)).toThrow(
    expect.objectContaining({ code: "agent_unknown" }),
  );
});

test("it may cost no more than it was given, and has the plugins that it was given instead of its own", () => {
  const { agent } = asWorker(setup, { permissions: {}, costUsd: 0.01, pluginDirs: ["/plugins/x"] });
  expect(agent.limits.costUsd).toBe(0.01);
  expect(agent.pluginDirs).toEqual(["/plugins/x"]);
  expect(asWorker(setup, { permissions: {}, costUsd: 1e9 }).agent.limits.costUsd).toBe(
    setup.agent.limits.costUsd,
  );
});

test("a member of a team has the tools that it was given, whatever its persona may use", () => {
  const session = { agent: "dev" as AgentId, persona: "atlas" as PersonaId };
  const worker = { permissions: {}, workspace: "/work", tools: ["flag_task"] };
  const { agent, persona } = setupOf(config, session, worker);
  expect(agent.tools).toContain("flag_task");
  expect(persona.permissions.tools.allow).toContain("flag_task");
  expect(hasTool(worker, { name: "flag_task", isReserved: true })).toBe(true);
  expect(hasTool(undefined, { name: "flag_task", isReserved: true })).toBe(false);
  expect(hasTool(undefined, { name: "Read" })).toBe(true);
});

test("whoever is to talk to people stays a manager", () => {
  const { agent } = asWorker(setup, { permissions: {}, role: "manager" });
  expect(agent.role).toBe("manager");
  expect(agent.memory).toBe(setup.agent.memory);
});
