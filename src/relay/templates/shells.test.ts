import { expect, test } from "vitest";
import { relayHome } from "../../../test/support/relay-home.ts";
import type { RelayConfig } from "./snapshot.ts";
import { printEndpoint } from "./endpoint.ts";

const WRITER = { profile: "offline", persistSession: false, promptTemplate: "Write." };
const STAGED = {
  profile: "offline",
  persistSession: true,
  stages: { draft: { promptTemplate: "Draft." }, retry: { promptTemplate: "Again." } },
  entryStage: "draft",
};
const SHELL = {
  params: ["worker", "critic"],
  description: "Work and be judged",
  agents: ["{worker}", { ref: "{critic}", tools: "Read" }],
  transitions: [
    { from: "{worker}", to: "{critic}", condition: { type: "always" } },
    {
      from: ["{critic}"],
      to: "{worker}:{worker.entryStage}",
      condition: { type: "output_contains", pattern: "\\d{3} {worker}" },
    },
  ],
  entryAgent: "{worker}",
  entryStage: "{worker.entryStage}",
  maxTotalSteps: 8,
  maxTotalCostUsd: 1,
  hooks: { onEnd: { command: "echo '{worker}'" } },
};

async function bind(...bindings: object[]): Promise<RelayConfig> {
  const entries = bindings.map((binding, index) => [`t${index}`, { shell: "judge", ...binding }]);
  using home = relayHome({
    "config/thread-templates/agents/writer.json": WRITER,
    "config/thread-templates/agents/coder.json": STAGED,
    "config/thread-templates/agents/reviewer.json": WRITER,
    "config/thread-templates/shells/judge.json": SHELL,
    ...Object.fromEntries(
      entries.map(([name, value]) => [`config/thread-templates/templates/${name as string}.json`, value]),
    ),
  });
  return await home.read();
}

test("a binding puts agents and their first stages in the place of parameters", async () => {
  const { templates, problems, warnings } = await bind({ worker: "coder", critic: "reviewer" });
  expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
  const template = templates.get("t0")!;
  expect(template).toMatchObject({
    name: "t0",
    description: "Work and be judged",
    agents: [{ name: "coder" }, { name: "reviewer", tools: ["Read"] }],
    entryAgent: "coder",
    entryStage: "draft",
    maxTotalSteps: 8,
    maxTotalCostUsd: 1,
  });
  expect(
    template.transitions.map(({ from, to }) => [from, to].map((ends) => ends.map(printEndpoint))),
  ).toEqual([
    [["coder"], ["reviewer"]],
    [["reviewer"], ["coder:draft"]],
  ]);
});

test("patterns and commands keep their braces", async () => {
  const { templates } = await bind({ worker: "coder", critic: "reviewer" });
  expect(templates.get("t0")?.transitions[1]?.condition).toMatchObject({ pattern: "\\d{3} {worker}" });
  expect(templates.get("t0")?.hooks.onEnd?.command).toBe("echo '{worker}'");
});

test("an agent without stages is bound without a stage", async () => {
  const { templates, problems, warnings } = await bind({ worker: "writer", critic: "reviewer" });
  expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
  expect(templates.get("t0")).not.toHaveProperty("entryStage");
  expect(templates.get("t0")?.transitions[1]?.to).toEqual([{ agent: "writer", stage: null }]);
});

test("a binding may say otherwise what it is for and what it may use", async () => {
  const { templates } = await bind({
    worker: "writer",
    critic: "reviewer",
    description: "Mine",
    maxTotalSteps: 3,
    maxTotalCostUsd: 0.5,
  });
  expect(templates.get("t0")).toMatchObject({ description: "Mine", maxTotalSteps: 3, maxTotalCostUsd: 0.5 });
});

test("a parameter may be the current agent", async () => {
  const { templates, problems } = await bind({ worker: "__active__", critic: "reviewer" });
  expect(problems).toEqual([]);
  expect(templates.get("t0")?.entryAgent).toBe("__active__");
});

test("a binding that is wrong costs no other template", async () => {
  const { templates, problems } = await bind(
    { worker: "writer" },
    { worker: "writer", critic: "writer" },
    { worker: "writer", critic: "reviewer" },
  );
  expect([...templates.keys()]).toEqual(["t2"]);
  expect(problems.map(({ source, path, message }) => `${source} ${path}: ${message}`)).toEqual([
    "thread-templates/templates/t0.json:1:1 critic: missing",
    'thread-templates/templates/t1.json:2:12 shell: in the shell "judge", agents[1].ref: duplicate "writer"',
  ]);
});
