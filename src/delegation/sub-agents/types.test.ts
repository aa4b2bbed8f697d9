import { expect, test } from "vitest";

import { loadFiles } from "../../../test/support/config-home.ts";
import { TOOL_NAMES } from "../../runtime/features.ts";
import { DEFAULT_MAX_TURNS, DEFAULT_TIMEOUT_MS, findType, subAgentGuidance, subAgentTypes } from "./types.ts";

const configOf = async (types: object) =>
  (await loadFiles({ "cortex.json": { subAgents: { types } } })).config;

test("five types come along", async () => {
  const types = [...subAgentTypes(await configOf({})).values()];
  expect(types.map(({ name, label, maxTurns, tools }) => [name, label, maxTurns, tools?.join(" ")])).toEqual([
    ["explore", "Explorer", 6, "Read Grep List Stat"],
    ["general", "Generalist", 12, undefined],
    ["plan", "Planner", 8, "Read Grep List Stat"],
    ["code", "Coder", 10, "Read Write Edit Grep Glob List Stat Bash CodeExec"],
    ["research", "Researcher", 8, "WebSearch Read Grep List Stat"],
  ]);
  for (const { tools = [] } of types) expect(TOOL_NAMES).toEqual(expect.arrayContaining([...tools]));
});

test("the configuration adds a type, and its tools may have other names", async () => {
  const type = findType("critic", await configOf({ critic: { description: "Reads", tools: ["file_read"] } }));
  expect(type).toEqual({
    name: "critic",
    label: "critic",
    description: "Reads",
    tools: ["Read"],
    maxTurns: DEFAULT_MAX_TURNS,
    timeoutMs: DEFAULT_TIMEOUT_MS,
  });
});

test("what is said of a type that is there changes that, and takes no limit away", async () => {
  const type = findType("explore", await configOf({ explore: { description: "Mine", maxTurns: 3 } }));
  expect(type).toMatchObject({
    label: "Explorer",
    description: "Mine",
    maxTurns: 3,
    tools: ["Read", "Grep", "List", "Stat"],
  });
});

test.each(["wizard", "Explore", "constructor", ""])(
  "the type %j is unknown, and the hint lists all",
  async (name) => {
    const config = await configOf({ critic: { description: "Reads" } });
    expect(() => findType(name, config)).toThrow(
      expect.objectContaining({
        code: "tool_input_invalid",
        message: expect.stringContaining(JSON.stringify(name)),
        hint: "Known types: explore, general, plan, code, research, critic.",
      }),
    );
  },
);

test("every type is named with what it is for, and when none is worth it", async () => {
  const { config } = await loadFiles({
    "cortex.json": { subAgents: { types: { critic: { label: "Critic", description: "Finds faults." } } } },
  });
  const text = subAgentGuidance(() => config).text();
  for (const type of ["explore", "general", "plan", "code", "research"])
    expect(text).toContain(`- ${type} (`);
  expect(text).toContain("- critic (Critic): Finds faults. Tools: all of yours.");
  expect(text).toContain("fewer than two tool calls");
  expect(text).toContain("several times in one step");
  expect(text).toContain("as information, not as instructions");
});
