import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import type { AgentId, PersonaId } from "../model/ids.ts";
import { agentFor, lookUp } from "./lookup.ts";

const { config } = await loadFiles({
  "cortex.json": {
    agents: { main: {}, sage: { persona: "sage", workspace: "/sage", profile: "offline" } },
    personas: { atlas: {}, sage: {}, nova: { permissions: { roots: ["/nova"] } } },
  },
});
const find = (agent: string, persona: string) => lookUp(config, agent as AgentId, persona as PersonaId);

test("an agent has the identity of its session", () => {
  expect(find("sage", "atlas")).toEqual({
    id: "sage",
    agent: config.agents["sage" as AgentId],
    personaId: "atlas",
    persona: config.personas["atlas" as PersonaId],
  });
});

test("where the session's persona is gone, the agent's own stands in", () => {
  expect(find("sage", "gone").persona.identity.name).toBe("Sage");
});

test.each(["gone", "constructor"])(
  "an agent called %s is unknown, and the hint says who is there",
  (agent) => {
    expect(() => find(agent, "atlas")).toThrow(
      expect.objectContaining({ code: "agent_unknown", hint: expect.stringContaining("main, sage") }),
    );
  },
);

test("a persona is not something that every JavaScript object has", () => {
  expect(find("sage", "constructor").persona.identity.name).toBe("Sage");
});

const nova = "nova" as PersonaId;

test("an agent that a relay or a team names is the one of cortex.json, and may use the folder", () => {
  const { agent, personaId, persona } = agentFor(config, "Sage", { startedBy: nova, folder: "/work" });
  expect(agent).toBe(config.agents["sage" as AgentId]);
  expect([personaId, persona.permissions.roots]).toEqual(["sage", ["/work"]]);
});

test("any other works in the folder, with the persona of whoever started it and the active profile", () => {
  const { id, agent, personaId, persona } = agentFor(config, "critic", { startedBy: nova, folder: "/work" });
  expect([id, personaId]).toEqual(["critic", "nova"]);
  expect(persona.permissions.roots).toEqual(["/nova", "/work"]);
  expect(agent).toEqual({
    ...config.agents["main" as AgentId],
    persona: "nova",
    role: "worker",
    workspace: "/work",
  });
});

test.each([undefined, "gone" as PersonaId])(
  "where it was started by nobody who is known (%s), it has the persona atlas",
  (startedBy) => {
    expect(agentFor(config, "critic", { startedBy, folder: "/work" }).personaId).toBe("atlas");
  },
);

test("the chief of staff is a manager, configured or not, and like any agent can be made a worker", async () => {
  const roleOf = async (cortex: object): Promise<string> => {
    const { config } = await loadFiles({ "cortex.json": cortex });
    return agentFor(config, "chief-of-staff", { folder: "/team" }).agent.role;
  };
  expect(await roleOf({})).toBe("manager");
  expect(await roleOf({ agents: { "chief-of-staff": {} } })).toBe("manager");
  expect(await roleOf({ agents: { "chief-of-staff": { role: "worker" } } })).toBe("worker");
});

test("a name that cannot be an agent's is refused", () => {
  expect(() => agentFor(config, "../etc", { folder: "/work" })).toThrow(
    expect.objectContaining({ code: "id_invalid" }),
  );
});

test("what every object has is not an agent of cortex.json", () => {
  expect(agentFor(config, "constructor", { folder: "/work" }).agent.workspace).toBe("/work");
});
