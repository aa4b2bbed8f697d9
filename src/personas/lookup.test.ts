import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import type { AgentId, PersonaId } from "../model/ids.ts";
import { lookUp } from "./lookup.ts";

const { config } = await loadFiles({
  "cortex.json": { agents: { main: {}, sage: { persona: "sage" } }, personas: { atlas: {}, sage: {} } },
});
const find = (agent: string, persona: string) => lookUp(config, agent as AgentId, persona as PersonaId);

test("an agent has the identity of its session", () => {
  expect(find("sage", "atlas")).toEqual({
    id: "sage",
    agent: config.agents["sage" as AgentId],
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
