import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { type ConfigHome, configHome } from "../../test/support/config-home.ts";
import { MAX_IDENTITY_FILE_LENGTH } from "../personas/identity-files.ts";
import { readConfigured } from "../config/configured.ts";
import { describeAgent, describePersona } from "./describe.ts";

const files = {
  "cortex.json": `{
  "agents": { "scout": { "persona": "nova", "profile": "local", "memory": false } },
  "personas": { "nova": { "identity": { "emoji": "✨" }, "permissions": { "ask": ["Bash"] } }, "lonely": {} },
  "sandbox": "require"
}`,
  "profiles.json": { profiles: { local: { provider: "openai", model: "large" } }, defaultProfile: "offline" },
};

async function describeIn({ path: home }: ConfigHome, agent: string) {
  const { config, model } = await readConfigured({ home, environment: {} });
  return describeAgent(agent, { home, config, model: await model(), environment: {} });
}

test("an agent is described with the model that it means, its sandbox and where each rule comes from", async () => {
  using home = configHome(files);
  expect(await describeIn(home, "scout")).toMatchObject({
    id: "scout",
    role: "worker",
    name: "Nova",
    model: { profile: { name: "local", model: "large" }, why: "the agent has this profile" },
    memory: false,
    workspace: join(home.path, "workspaces", "scout"),
    workspaceExists: false,
    identityFiles: [],
    sandbox: { setting: "require", effective: "refuses", why: "bubblewrap is not installed" },
    permissions: expect.arrayContaining([
      { field: "ask", value: ["Bash"], path: "personas.nova.permissions.ask", origin: "cortex.json:3" },
      { field: "tools.allow", value: ["*"], path: "agents.scout.tools", origin: "default" },
    ]),
  });
});

test("the active profile is the one that is active, and says why", async () => {
  using home = configHome(files);
  expect(await describeIn(home, "main")).toMatchObject({
    profile: "__active__",
    model: { profile: { name: "offline" }, why: "it is configured" },
    memory: true,
  });
});

test("the files of the workspace are named with their sizes, and one that is too large says so", async () => {
  using home = configHome(files);
  const workspace = join(home.path, "workspaces", "main");
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, "AGENTS.md"), "Be brief.");
  writeFileSync(join(workspace, "SOUL.md"), "a".repeat(MAX_IDENTITY_FILE_LENGTH + 1));
  expect(await describeIn(home, "main")).toMatchObject({
    workspaceExists: true,
    identityFiles: [
      { name: "AGENTS.md", bytes: 9, problem: null },
      {
        name: "SOUL.md",
        bytes: MAX_IDENTITY_FILE_LENGTH + 1,
        problem: expect.stringContaining(`${MAX_IDENTITY_FILE_LENGTH}`),
      },
    ],
  });
});

test("a persona is described with its agents and the session that is its main one", async () => {
  using home = configHome(files);
  const { config } = await readConfigured({ home: home.path, environment: {} });
  expect(describePersona("nova", { config })).toMatchObject({
    id: "nova",
    name: "Nova",
    emoji: "✨",
    agents: ["scout"],
    mainSession: "agent:scout:main",
    permissions: expect.arrayContaining([
      { field: "ask", value: ["Bash"], path: "personas.nova.permissions.ask", origin: "cortex.json:3" },
    ]),
  });
  expect(describePersona("lonely", { config })).toMatchObject({ agents: [], mainSession: null });
});

test.each(["nobody", "constructor"])("%s is nobody", async (id) => {
  using home = configHome(files);
  const { config } = await readConfigured({ home: home.path, environment: {} });
  await expect(describeIn(home, id)).rejects.toMatchObject({ code: "agent_unknown" });
  expect(() => describePersona(id, { config })).toThrow(expect.objectContaining({ code: "persona_unknown" }));
});
