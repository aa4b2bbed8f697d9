import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { workspaceTools } from "../agents/tools/workspace-tools.ts";
import { type ConfigHome, configHome } from "../../test/support/config-home.ts";
import { TOOL_ALIASES } from "../model/tool-aliases.ts";
import { checkAgents } from "./check-agents.ts";
import { readConfigured } from "../config/configured.ts";
import { TOOL_NAMES } from "../runtime/features.ts";

async function findingsIn({ path: home }: ConfigHome, environment: Record<string, string> = {}) {
  const { config, variable } = await readConfigured({ home, environment });
  const findings = await checkAgents({ home, config, variable, toolNames: TOOL_NAMES });
  return findings.map(({ level, path, message }) => `${level} ${path}: ${message}`);
}

test("nothing is wrong with a home in which nothing is configured", async () => {
  using home = configHome();
  expect(await findingsIn(home)).toEqual([]);
});

test("a folder that was named and is not there is a warning, one that is no folder an error, and errors come first", async () => {
  using home = configHome();
  writeFileSync(join(home.path, "file"), "");
  home.write("cortex.json", {
    agents: { main: { workspace: "nowhere" }, scout: { workspace: "file" }, clerk: {} },
    personas: { atlas: { permissions: { roots: ["gone", "file", "config"] } } },
  });
  expect(await findingsIn(home)).toEqual([
    `error agents.scout.workspace: ${home.path}/file is not a folder`,
    `error personas.atlas.permissions.roots[1]: ${home.path}/file is not a folder`,
    `warning agents.main.workspace: ${home.path}/nowhere does not exist`,
    `warning personas.atlas.permissions.roots[0]: ${home.path}/gone does not exist`,
  ]);
});

test("names of tools that do not exist are found, wherever they are; other names of tools are names", async () => {
  using home = configHome({
    "cortex.json": {
      agents: { main: { tools: ["Red", "Web*", "file_read"] } },
      subAgents: { types: { mine: { description: "Mine", tools: ["Reed", "shell"] } } },
      personas: {
        atlas: {
          permissions: {
            tools: { allow: ["*", "mcp__git__*"], deny: ["bash"] },
            ask: ["file_*", "Foo*"],
          },
        },
      },
    },
  });
  expect(await findingsIn(home)).toEqual([
    'warning agents.main.tools[0]: unknown tool "Red"',
    'warning personas.atlas.permissions.tools.allow[1]: unknown tool "mcp__git__*"',
    'warning personas.atlas.permissions.tools.deny[0]: unknown tool "bash"',
    'warning personas.atlas.permissions.ask[1]: unknown tool "Foo*"',
    'warning subAgents.types.mine.tools[0]: unknown tool "Reed"',
  ]);
});

test("variables that are named and not set are warnings", async () => {
  using home = configHome({
    "cortex.json": {
      agents: { main: { profile: "work" } },
      personas: { atlas: { permissions: { credentials: ["GH_TOKEN", "NPM_TOKEN"] } } },
    },
    "profiles.json": { profiles: { work: { apiKeyEnv: "WORK_KEY" } } },
    ".env": "NPM_TOKEN=1",
  });
  expect(await findingsIn(home)).toEqual([
    "warning agents.main.profile: WORK_KEY is not set",
    "warning personas.atlas.permissions.credentials[0]: GH_TOKEN is not set",
  ]);
  expect(await findingsIn(home, { WORK_KEY: "x", GH_TOKEN: "y" })).toEqual([]);
});

test("a SOUL.md that is too large is a warning, a skill that is not used an error", async () => {
  using home = configHome();
  const workspace = join(home.path, "workspaces", "main");
  mkdirSync(join(workspace, "skills", "broken"), { recursive: true });
  writeFileSync(join(workspace, "skills", "broken", "SKILL.md"), "no frontmatter");
  writeFileSync(join(workspace, "SOUL.md"), "a".repeat(100_000));
  expect(await findingsIn(home)).toEqual([
    expect.stringMatching(/^error .*broken\/SKILL.md: .*; it is ignored$/),
    expect.stringMatching(/^warning .*workspaces\/main: SOUL.md has 100000 bytes/),
  ]);
});

test("the tools that agents have are among those that are known", () => {
  const named = [...workspaceTools, ...Object.values(TOOL_ALIASES)].map(({ name }) => name);
  expect(named).toContain("Bash");
  expect(named.filter((name) => !TOOL_NAMES.includes(name))).toEqual([]);
});
