import { expect, test } from "vitest";
import { relayHome } from "../../../test/support/relay-home.ts";
import { bindActive } from "./resolve.ts";
import type { RelayConfig } from "./snapshot.ts";

const WRITER = { profile: "offline", persistSession: false, promptTemplate: "Write." };
const CODER = {
  profile: "offline",
  persistSession: true,
  tools: "Bash",
  stages: { implement: { promptTemplate: "Do." }, review: { promptTemplate: "Look." } },
  entryStage: "review",
};

async function read(template: object): Promise<RelayConfig> {
  const whole = {
    agents: ["writer"],
    entryAgent: "__active__",
    transitions: [{ from: "__active__", to: "writer", condition: { type: "always" } }],
    maxTotalSteps: 2,
    ...template,
  };
  using home = relayHome({
    "config/thread-templates.json": { agents: { writer: WRITER, coder: CODER }, templates: { one: whole } },
  });
  return await home.read();
}

test("__active__ becomes the current agent wherever it is named, with its first stage", async () => {
  const { templates, agents } = await read({});
  const bound = bindActive(templates.get("one")!, agents.get("coder")!);
  expect(bound).toMatchObject({ entryAgent: "coder", entryStage: "review" });
  expect(bound.agents).toEqual([agents.get("writer"), agents.get("coder")]);
  expect(bound.transitions[0]?.from).toEqual([{ agent: "coder", stage: null }]);
});

test("what a template overrides of __active__ is overridden of whoever it is", async () => {
  const overrides = { ref: "__active__", tools: "Read", persistSession: false, promptTemplate: "Not used." };
  const { templates, agents } = await read({ agents: [overrides, "writer"] });
  const [coder] = bindActive(templates.get("one")!, agents.get("coder")!).agents;
  expect(coder).toEqual({ ...agents.get("coder"), tools: ["Read"], persistSession: false });
});

test("a template without __active__ stays as it is", async () => {
  const { templates, agents } = await read({ entryAgent: "writer", transitions: [] });
  const template = templates.get("one")!;
  expect(bindActive(template, agents.get("coder")!)).toBe(template);
});

test("where the current agent is in the template already, it is there once, as the template has it", async () => {
  const { templates, agents } = await read({ agents: [{ ref: "writer", tools: "Read" }] });
  const bound = bindActive(templates.get("one")!, agents.get("writer")!);
  expect(bound.agents).toEqual([{ ...agents.get("writer"), tools: ["Read"] }]);
});
