import { join } from "node:path";

import { foldersIn, readInside } from "./read-inside.ts";

/** What makes a folder a plugin, as Claude Code has it. Of what it says, only the name is required. */
const PLUGIN_FILE = join(".claude-plugin", "plugin.json");
export const MAX_PLUGIN_FILE_LENGTH = 64 * 1024;
export const MAX_PLUGINS = 200;

/** Something of an agent's that is not as it should be. */
export interface FolderProblem {
  readonly path: string;
  /** A sentence without a full stop. */
  readonly problem: string;
  /** Whether it is therefore not used. */
  readonly isLeftOut: boolean;
}

/** The folders of an agent's own plugins and of those of the home, the own ones first. */
export async function findPlugins(
  home: string,
  pluginDirs: readonly string[],
): Promise<{ readonly plugins: readonly string[]; readonly problems: readonly FolderProblem[] }> {
  const named = pluginDirs.map((folder) => ({ folder, isNamed: true }));
  const folderOfHome = join(home, "plugins");
  const ofHome = (await foldersIn(folderOfHome)).map((name) => ({
    folder: join(folderOfHome, name),
    isNamed: false,
  }));
  const plugins: string[] = [];
  const problems: FolderProblem[] = [];
  const all = [...named, ...ofHome];
  if (all.length > MAX_PLUGINS) {
    const problem = `there are more than ${MAX_PLUGINS} plugins, and the rest is not looked at`;
    problems.push({ path: folderOfHome, problem, isLeftOut: true });
  }
  for (const { folder, isNamed } of all.slice(0, MAX_PLUGINS)) {
    if (plugins.includes(folder)) continue;
    const problem = await problemWith(folder);
    if (problem === undefined) plugins.push(folder);
    // A folder among the plugins that is none may be anything; one that was named is meant to be one.
    else if (isNamed || problem !== NO_PLUGIN) problems.push({ path: folder, problem, isLeftOut: true });
  }
  return { plugins, problems };
}

const NO_PLUGIN = `it is no plugin: it has no ${PLUGIN_FILE}`;

async function problemWith(folder: string): Promise<string | undefined> {
  const read = await readInside(PLUGIN_FILE, folder, MAX_PLUGIN_FILE_LENGTH);
  switch (read.kind) {
    case "absent":
      return NO_PLUGIN;
    case "refused":
      return `its ${PLUGIN_FILE} ${read.reason}`;
    case "read":
      return hasName(read.text) ? undefined : `its ${PLUGIN_FILE} is not JSON with a name`;
  }
}

function hasName(text: string): boolean {
  try {
    const { name } = (JSON.parse(text) ?? {}) as { name?: unknown };
    return typeof name === "string" && name !== "";
  } catch {
    return false; // it is then said that it is not JSON
  }
}
