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

/** What child processes of any agent see of our environment: nothing that could be a secret. */
export const PASSED_ON: readonly string[] = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "TZ",
  "TMPDIR",
];

interface Given {
  /** The variables that the turn's permissions name. */
  readonly credentials: readonly string[];
  /** Looks one up, in our environment or in `config/.env`. */
  readonly variable: (name: string) => string | undefined;
}

/** The environment of commands: what is passed on to all, and what this turn may know. A name without a value is left out. */
export function toolEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { credentials, variable }: Given = { credentials: [], variable: () => undefined },
): Readonly<Record<string, string>> {
  const all = [
    ...PASSED_ON.map((name) => [name, environment[name]] as const),
    ...credentials.map((name) => [name, variable(name)] as const),
  ];
  const there = all.filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...Object.fromEntries(there), TERM: "dumb" };
}
