import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
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

test("child processes see nothing that could be a secret", () => {
  expect(
    toolEnvironment({ PATH: "/bin", LANG: undefined, OPENAI_API_KEY: "key", CORTEX_TOKEN: "t" }),
  ).toEqual({
    PATH: "/bin",
    TERM: "dumb",
  });
});
