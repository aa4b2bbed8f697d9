import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import { findSandbox } from "../../test/support/sandbox.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import { callTool, testWorkspace } from "../../test/support/tool-context.ts";
import { bashTool } from "../agents/tools/bash.ts";
import type { AgentId, PersonaId } from "../model/ids.ts";
import { lookUp } from "../personas/lookup.ts";
import { agentFolders, toolEnvironment } from "./folders.ts";

async function setup(workspace: string) {
  const { config } = await loadFiles({
    "cortex.json": {
      agents: { main: { workspace } },
      personas: { atlas: { permissions: { roots: ["/data"] } } },
    },
  });
  return lookUp(config, "main" as AgentId, "atlas" as PersonaId);
}

test("the folders of an agent are made, and made again does no harm", async () => {
  using home = temporaryFolder();
  const workspace = join(home.path, "deep", "workspace");
  const folders = await agentFolders(home.path, await setup(workspace));
  expect(folders).toEqual({
    workspace,
    outputFolder: join(home.path, "tmp", "output", "main"),
    roots: ["/data"],
    hidden: [home.path],
  });
  expect([existsSync(workspace), existsSync(folders.outputFolder)]).toEqual([true, true]);
  expect(await agentFolders(home.path, await setup(workspace))).toEqual(folders);
});

test("a folder that cannot be made is named", async () => {
  using home = temporaryFolder();
  writeFileSync(join(home.path, "file"), "");
  const folders = agentFolders(home.path, await setup(join(home.path, "file", "workspace")));
  await expect(folders).rejects.toMatchObject({
    code: "home_unwritable",
    message: expect.stringContaining("file/workspace"),
  });
});

test("output of commands is not kept behind a link", async () => {
  using home = temporaryFolder();
  using elsewhere = temporaryFolder();
  const agent = await setup(join(home.path, "workspace"));
  mkdirSync(join(home.path, "tmp"));
  symlinkSync(elsewhere.path, join(home.path, "tmp", "output"));
  await expect(agentFolders(home.path, agent)).rejects.toMatchObject({ code: "file_unsafe" });
  expect(readdirSync(elsewhere.path)).toEqual([]);
  rmSync(join(home.path, "tmp"), { recursive: true });
  symlinkSync(elsewhere.path, join(home.path, "tmp")); // on another disk
  expect((await agentFolders(home.path, agent)).outputFolder).toBe(join(home.path, "tmp/output/main"));
});

test("commands are given the variables that the turn's permissions name, and no others", () => {
  const known = new Map([
    ["DEPLOY_KEY", "of .env"],
    ["OTHER_KEY", "other"],
  ]);
  const given = {
    credentials: ["DEPLOY_KEY", "MISSING"],
    variable: (name: string) => known.get(name),
  };
  expect(toolEnvironment({ PATH: "/bin", OTHER_KEY: "other" }, given)).toEqual({
    PATH: "/bin",
    DEPLOY_KEY: "of .env",
    TERM: "dumb",
  });
});

const found = await findSandbox("the environment of commands in a sandbox");

test.for([["with", found] as const, ["without", undefined] as const])(
  "nothing else of our environment reaches a command %s a sandbox",
  async ([kind, sandbox], { skip }) => {
    skip(kind === "with" && sandbox === undefined, "no sandbox");
    const poison = Object.fromEntries(
      ["OPENAI_API_KEY", "LD_PRELOAD", "BASH_ENV", "NODE_OPTIONS", "PROMPT_COMMAND", "CORTEX_HOME"].map(
        (name) => [name, `/canary/${name}`],
      ),
    );
    const environment = toolEnvironment(
      { PATH: "/usr/bin:/bin", ...poison },
      { credentials: ["GIVEN"], variable: () => "to the command" },
    );
    using files = testWorkspace({ environment, sandbox });
    const { text } = await callTool(bashTool, { command: "env; cat /proc/self/environ" }, files.context);
    expect(text).toContain("GIVEN=to the command");
    expect(text).not.toContain("canary");
  },
);

test("child processes see nothing that could be a secret", () => {
  expect(
    toolEnvironment({ PATH: "/bin", LANG: undefined, OPENAI_API_KEY: "key", CORTEX_TOKEN: "t" }),
  ).toEqual({
    PATH: "/bin",
    TERM: "dumb",
  });
});
