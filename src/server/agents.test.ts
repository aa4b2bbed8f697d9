import { expect, test } from "vitest";

import { openTestServer } from "../../test/support/server.ts";
import { delegationSchemas } from "../delegation/surface/routes.ts";
import { insightSchemas } from "../insight/schemas.ts";

const schemas = { ...insightSchemas, ...delegationSchemas };

test("an agent and a persona are given with what they may do and where that comes from", async () => {
  await using server = await openTestServer();
  const agent = await server.send("/api/agents/main");
  expect(agent.status).toBe(200);
  expect(schemas.AgentDetails.parse(agent.json)).toEqual(agent.json);
  expect(agent.json).toMatchObject({ id: "main", name: "Atlas", role: "manager" });

  const persona = await server.send("/api/personas/atlas");
  expect(schemas.PersonaDetails.parse(persona.json)).toEqual(persona.json);
  expect(persona.json).toMatchObject({ id: "atlas", agents: ["main"], mainSession: "agent:main:main" });
  expect(persona.json.permissions).toContainEqual({
    field: "hosts",
    value: ["*"],
    path: "personas.atlas.permissions.hosts",
    origin: "default",
  });
});

test("the types of sub-agents are given, also those of the configuration, and no arguments of programs", async () => {
  const echo = { description: "Repeats.", command: ["/bin/echo", "--key=secret"], tools: ["file_read"] };
  await using server = await openTestServer({ cortex: { subAgents: { types: { echo } } } });
  const { status, json, text } = await server.send("/api/agents/sub-types");
  expect(status).toBe(200);
  expect(schemas.SubAgentTypes.parse(json)).toEqual(json);
  const names = json.items.map(({ type }: { type: string }) => type);
  expect(names).toEqual(["explore", "general", "plan", "code", "research", "echo"]);
  expect(json.items[0]).toMatchObject({
    label: "Explorer",
    tools: ["Read", "Grep", "List", "Stat"],
    maxTurns: 6,
  });
  expect(json.items[1]).toMatchObject({ tools: null, maxTurns: 12, program: null });
  expect(json.items[5]).toMatchObject({ label: "echo", tools: ["Read"], program: "/bin/echo" });
  expect(text).not.toContain("secret");
});

test.each([
  ["/api/agents/nobody", "agent_unknown"],
  ["/api/personas/nobody", "persona_unknown"],
  ["/api/agents/constructor", "agent_unknown"],
  ["/api/personas/__proto__", "persona_unknown"],
])("%s is not there", async (path, code) => {
  await using server = await openTestServer();
  expect(await server.send(path)).toMatchObject({ status: 404, json: { error: { code } } });
});
