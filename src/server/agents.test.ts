import { expect, test } from "vitest";

import { openTestServer } from "../../test/support/server.ts";
import { schemas } from "./api.ts";

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

test.each([
  ["/api/agents/nobody", "agent_unknown"],
  ["/api/personas/nobody", "persona_unknown"],
  ["/api/agents/constructor", "agent_unknown"],
  ["/api/personas/__proto__", "persona_unknown"],
])("%s is not there", async (path, code) => {
  await using server = await openTestServer();
  expect(await server.send(path)).toMatchObject({ status: 404, json: { error: { code } } });
});
