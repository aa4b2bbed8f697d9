import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import type { AgentId, PersonaId } from "../model/ids.ts";
import { lookUp, type Setup } from "../personas/lookup.ts";
import { MAX_WORKSPACE_FILE, systemPrompt } from "./system-prompt.ts";

async function setup(agent: object = {}, persona: object = {}): Promise<Setup> {
  const { config } = await loadFiles({
    "cortex.json": { agents: { main: agent }, personas: { atlas: persona } },
  });
  return lookUp(config, "main" as AgentId, "atlas" as PersonaId);
}

const tools = [{ name: "Read", description: "Reads.", parameters: {} }];

test("it says who the agent is, how it works, what its workspace says and what its tools are", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "SOUL.md"), "\nBe kind.\n");
  writeFileSync(join(folder.path, "AGENTS.md"), "Use tabs.");
  writeFileSync(join(folder.path, "USER.md"), "  \n");
  writeFileSync(join(folder.path, "OTHER.md"), "Not this.");
  mkdirSync(join(folder.path, "MEMORY.md"));
  const who = await setup({}, { identity: { name: "Ada", soul: "I like numbers.", emoji: "🦉" } });

  const prompt = await systemPrompt(who, folder.path, tools);

  expect(prompt).toMatch(
    /^You are Ada 🦉, an agent that runs on Cortex\.\nI like numbers\.\n\nYou talk to people\./,
  );
  expect(prompt).toContain("\n\n# AGENTS.md\nUse tabs.\n\n# SOUL.md\nBe kind.\n\nYour tools: Read.");
  expect(prompt).toContain(folder.path);
  expect(prompt).not.toContain("Not this");
  expect(prompt).not.toMatch(/USER\.md|MEMORY\.md/);
});

test("it is the same, byte for byte, for every turn", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "AGENTS.md"), "Use tabs.");
  const first = await systemPrompt(await setup(), folder.path, tools);
  expect(await systemPrompt(await setup(), folder.path, tools)).toBe(first);
});

test("a worker is told to do its task", async () => {
  using folder = temporaryFolder();
  expect(await systemPrompt(await setup({ role: "worker" }), folder.path, [])).toMatch(
    /one task[^]*You have no tools\.$/,
  );
});

test("an agent's own prompt replaces all but the notes on its tools", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "AGENTS.md"), "Use tabs.");
  const prompt = await systemPrompt(await setup({ systemPrompt: "You are a parrot." }), folder.path, tools);
  expect(prompt).toBe(
    `You are a parrot.\n\nYour tools: Read. Your workspace is ${folder.path}; relative paths start there.`,
  );
});

test("a file that is too long is cut, between characters, and says so", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "MEMORY.md"), `x${"🧠".repeat(MAX_WORKSPACE_FILE)}`);
  const prompt = await systemPrompt(await setup(), folder.path, tools);
  expect(prompt).toContain("\n(cut here)\n");
  expect(prompt.length).toBeLessThan(MAX_WORKSPACE_FILE + 2_000);
  expect(prompt.isWellFormed()).toBe(true);
});
