import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

import { CortexError } from "../model/errors.ts";
import { requireOwnFolder } from "../model/private-file.ts";
import type { Setup } from "../personas/lookup.ts";
import { childEnvironment, type NamedVariables, type Variables } from "../programs/environment.ts";
import type { Folders } from "../turns/turn-ports.ts";
import { toolOutputPath } from "../config/home.ts";

/** The folders of an agent, which are made where they do not exist. Throws `file_unsafe`, `home_unwritable`. */
export async function agentFolders(home: string, { id, agent, persona }: Setup): Promise<Folders> {
  const { workspace } = agent;
  const outputFolder = toolOutputPath(home, id);
  for (const folder of [dirname(outputFolder), outputFolder]) requireOwnFolder(folder);
  await Promise.all([makeFolder(workspace), makeFolder(outputFolder)]);
  return { workspace, outputFolder, roots: persona.permissions.roots, hidden: [home] };
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

interface Given {
  /** The variables that the turn's permissions name. */
  readonly credentials: readonly string[];
  readonly variable: NamedVariables["variable"];
}

/** The environment of commands: what is passed on to all, and what this turn may know. */
export function toolEnvironment(own: Variables, given?: Given): Readonly<Record<string, string>> {
  const named = given && { names: given.credentials, variable: given.variable };
  return { ...childEnvironment(own, named), TERM: "dumb" };
}
