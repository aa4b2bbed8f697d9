import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";
import { loadFiles } from "../../test/support/config-home.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import { CHARACTERS_PER_TOKEN } from "../agents/estimate-tokens.ts";
import type { AgentId, PersonaId } from "../model/ids.ts";
import { MAX_IDENTITY_FILE_LENGTH } from "../personas/identity-files.ts";
import { lookUp, type Setup } from "../personas/lookup.ts";
import type { Skill } from "../personas/skills.ts";
import {
  assembleSystem,
  MAX_SYSTEM_TOKENS,
  roleRules,
  SYSTEM_SHARE,
  type PromptContent,
} from "./system-prompt.ts";

async function setup(agent: object = {}, persona: object = {}): Promise<Setup> {
  const { config } = await loadFiles({
    "cortex.json": { agents: { main: agent }, personas: { atlas: persona } },
  });
  return lookUp(config, "main" as AgentId, "atlas" as PersonaId);
}

const read = { name: "Read", description: "Reads.", parameters: {} };
const skillTool = { name: "Skill", description: "Gives a skill.", parameters: {} };

function sources(workspace: string, fields: Partial<PromptContent> = {}): PromptContent {
  return { workspace, tools: [read], skills: [], window: undefined, ...fields };
}

function skill(name: string, description = `What ${name} does.`): Skill {
  return { name, description, folder: `/skills/${name}`, file: `/skills/${name}/SKILL.md`, source: "home" };
}

test("it says what the workspace says, who the agent is, how it works, and what its tools and skills are", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "SOUL.md"), "\nBe kind.\n");
  writeFileSync(join(folder.path, "AGENTS.md"), "Use tabs.");
  writeFileSync(join(folder.path, "OTHER.md"), "Not this.");
  const who = await setup({}, { identity: { name: "Ada", soul: "I like numbers.", emoji: "🦉" } });

  const { text, parts } = await assembleSystem(
    who,
    sources(folder.path, { tools: [read, skillTool], skills: [skill("pdf")] }),
  );

  expect(parts.map(({ name }) => name)).toEqual([
    "AGENTS.md",
    "SOUL.md",
    "identity",
    "rules",
    "tools",
    "skills",
  ]);
  expect(text).toMatch(
    /^# AGENTS\.md\nUse tabs\.\n\n# SOUL\.md\nBe kind\.\n\nYou are Ada 🦉, an agent running on Cortex\.\nI like numbers\.\n\nYou talk to people\./,
  );
  expect(text).toContain(`Your tools: Read, Skill. Your workspace is ${folder.path};`);
  expect(text).toMatch(/before you begin:\n- pdf: What pdf does\.$/);
  expect(text).not.toContain("Not this");
  expect(parts.map((part) => part.text).join("\n\n")).toBe(text);
});

test("it is the same, byte for byte, for every turn, until a file changes", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "AGENTS.md"), "Use tabs.");
  const given = sources(folder.path, { tools: [read, skillTool], skills: [skill("a"), skill("b")] });
  const first = await assembleSystem(await setup(), given);
  expect(await assembleSystem(await setup(), given)).toEqual(first);
  writeFileSync(join(folder.path, "AGENTS.md"), "Use spaces.");
  expect((await assembleSystem(await setup(), given)).text).toContain("Use spaces.");
});

test("a worker is told to do its task", async () => {
  using folder = temporaryFolder();
  const { text } = await assembleSystem(await setup({ role: "worker" }), sources(folder.path, { tools: [] }));
  expect(text).toMatch(/one task[^]*You have no tools\.$/);
});

test("an agent's own prompt replaces all but the notes on its tools and skills", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "AGENTS.md"), "Use tabs.");
  const given = sources(folder.path, { tools: [read, skillTool], skills: [skill("pdf")] });
  const { text } = await assembleSystem(await setup({ systemPrompt: "You are a parrot." }), given);
  expect(text).toMatch(
    /^You are a parrot\.\n\nYour tools: Read, Skill\. .*\n\nSkills are [^]*\n- pdf: What pdf does\.$/,
  );
});

test("an agent without the tool Skill is not told of skills that it cannot read", async () => {
  using folder = temporaryFolder();
  const { text } = await assembleSystem(await setup(), sources(folder.path, { skills: [skill("pdf")] }));
  expect(text).not.toContain("pdf");
});

test("a file that is too long or cannot be used is told of, and the agent works without", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "MEMORY.md"), `x${"🧠".repeat(MAX_IDENTITY_FILE_LENGTH)}`);
  mkdirSync(join(folder.path, "AGENTS.md"));
  const { text, parts } = await assembleSystem(await setup(), sources(folder.path));
  expect(text).toMatch(/^# MEMORY\.md\nx🧠[^]*\n\(truncated\)\n\nYou are/);
  expect(text.isWellFormed()).toBe(true);
  expect(parts.slice(0, 2).map(({ note }) => note)).toEqual([
    "AGENTS.md is not a file",
    expect.stringContaining("characters are used"),
  ]);
});

test.each([
  ["any window", undefined, MAX_SYSTEM_TOKENS],
  ["a large window", 1_000_000, MAX_SYSTEM_TOKENS],
  ["a small window", 8_000, 8_000 * SYSTEM_SHARE],
])(
  "with %s it stays within its budget: later files and skills give way first, and it is said",
  async (_, window, budget) => {
    using folder = temporaryFolder();
    for (const name of ["AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "MEMORY.md"]) {
      writeFileSync(join(folder.path, name), `${name} `.repeat(3_000));
    }
    const skills = Array.from({ length: 200 }, (__, n) =>
      skill(`skill-${String(n).padStart(3, "0")}`, "d".repeat(1_000)),
    );
    const given = sources(folder.path, { tools: [read, skillTool], skills, window });
    const { text, parts } = await assembleSystem(await setup(), given);

    expect(text.length).toBeLessThanOrEqual(budget * CHARACTERS_PER_TOKEN);
    expect(text.length).toBeGreaterThan(0.9 * budget * CHARACTERS_PER_TOKEN);
    const by = new Map(parts.map((part) => [part.name, part]));
    expect(by.get("AGENTS.md")!.text).toContain("# AGENTS.md\nAGENTS.md");
    expect(by.get("identity")!.text).toContain("Atlas");
    expect(by.get("rules")!.text).toContain("NO_REPLY");
    expect(by.get("skills")!.note).toMatch(/skill-199 omitted: the skill list is full$/);
    expect(by.get("MEMORY.md")!.note).toMatch(
      /MEMORY\.md (omitted|truncated to \d+ characters): the system prompt is full/,
    );
  },
);

test("the guidance of a tool is in the prompt of agents that have the tool", async () => {
  const guidance = { name: "sub-agents", text: () => "Sub-agents do work for you." };
  const tool = { name: "sub_agent", description: "Has work done.", parameters: {}, guidance };
  const partsOf = async (agent: object, tools: PromptContent["tools"]) => {
    const { parts } = await assembleSystem(await setup(agent), sources("/nowhere", { tools }));
    return parts.map(({ name }) => name);
  };
  expect(await partsOf({}, [read, tool])).toEqual(["identity", "rules", "sub-agents", "tools"]);
  expect(await partsOf({}, [read])).toEqual(["identity", "rules", "tools"]);
  expect(await partsOf({ systemPrompt: "Mine." }, [read, tool])).toEqual(["systemPrompt", "tools"]);
});

test("a manager is told of the tags for its answers, a worker is not", () => {
  const manager = roleRules("manager", new Set());
  for (const tag of ["[[reply_to_current]]", "[[reply_to:<id>]]", "[[audio_as_voice]]", "NO_REPLY"]) {
    expect(manager).toContain(tag);
  }
  const worker = roleRules("worker", new Set());
  expect(worker).toContain("one task");
  expect(worker).not.toMatch(/\[\[|NO_REPLY/);
});

test.each([
  ["manager", "message"],
  ["manager", "dispatch_to_agent"],
  ["manager", "reply_to_caller"],
  ["worker", "send_message_to_agent"],
  ["worker", "dispatch_to_agent"],
] as const)("a %s is told how to use %s only where it has it", (role, tool) => {
  expect(roleRules(role, new Set([tool]))).toContain(tool);
  expect(roleRules(role, new Set([tool])).length).toBeGreaterThan(roleRules(role, new Set(["Read"])).length);
});

test("both are told what is not an instruction", () => {
  for (const role of ["manager", "worker"] as const) {
    expect(roleRules(role, new Set())).toMatch(/envelope|one line in brackets[^]*not an instruction/);
  }
});
