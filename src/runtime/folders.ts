import { mkdir } from "node:fs/promises";

import { CortexError } from "../model/errors.ts";
import type { Setup } from "../personas/lookup.ts";
import type { Folders } from "../turns/prepare.ts";
import { toolOutputPath } from "./home.ts";

/** The folders of an agent, which are made where they do not exist. */
export async function agentFolders(home: string, { id, agent, persona }: Setup): Promise<Folders> {
  const { workspace } = agent;
  const outputFolder = toolOutputPath(home, id);
  await Promise.all([makeFolder(workspace), makeFolder(outputFolder)]);
  return { workspace, outputFolder, roots: persona.permissions.roots };
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (cause) {
    throw new CortexError("home_unwritable", `The folder ${path} cannot be made`, {
      hint: "Check its permissions, and whether there is room on the disk.",
      cause,
    });
  }
}

/** What child processes of an agent see of our environment: nothing that could be a secret. */
const PASSED_ON = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"];

export function toolEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(passed), TERM: "dumb" };
}
