import { stat } from "node:fs/promises";
import { join, relative } from "node:path";

import { codeOf } from "../model/error-code.ts";
import { foldersIn, readInside } from "./read-inside.ts";

/** Makes a folder a plugin, as in Claude Code. Only its name is required. */
export const PLUGIN_FILE = ".claude-plugin/plugin.json";
export const HOOKS_FILE = "hooks/hooks.json";
export const SKILL_FILE = "SKILL.md";
export const MAX_PLUGIN_FILE_LENGTH = 64 * 1024;
export const MAX_PLUGINS = 200;
/** Limits of the search for skills in a folder without a manifest: its depth, and the number of folders. */
const MAX_SKILL_DEPTH = 3;
export const MAX_FOLDERS_SEARCHED = 1_000;

/** A problem with a folder of an agent. */
export interface FolderProblem {
  readonly path: string;
  /** A sentence without a full stop. */
  readonly problem: string;
  /** The fix, as a sentence. Absent: it depends. */
  readonly hint?: string;
  /** Whether it is not used because of that. */
  readonly isLeftOut: boolean;
}

export interface Plugin {
  readonly folder: string;
  /** Whether it has tool hooks, which needs a manifest. */
  readonly hasHooks: boolean;
  /** The folders that may hold a skill. */
  readonly skillFolders: readonly string[];
  /** The problem, if no folder holds a skill and it has no hooks. */
  readonly ifEmpty: string;
}

/** The plugins in these folders. At most `MAX_PLUGINS`. To use one, ask `trustedPlugins`. */
export async function findPlugins(
  pluginDirs: readonly string[],
): Promise<{ readonly plugins: readonly Plugin[]; readonly problems: readonly FolderProblem[] }> {
  const plugins: Plugin[] = [];
  const problems: FolderProblem[] = [];
  for (const folder of pluginDirs.slice(0, MAX_PLUGINS)) {
    const found = await openPlugin(folder);
    if (typeof found === "string") problems.push({ path: folder, problem: found, isLeftOut: true });
    else plugins.push(found);
  }
  return { plugins, problems };
}

/** A string says why it cannot be used. */
async function openPlugin(folder: string): Promise<Plugin | string> {
  const read = await readInside(PLUGIN_FILE, folder, MAX_PLUGIN_FILE_LENGTH);
  switch (read.kind) {
    case "absent":
      return {
        folder,
        hasHooks: false,
        skillFolders: await findSkillFolders(folder),
        ifEmpty: (await whyNoFolder(folder)) ?? NO_SKILLS,
      };
    case "refused":
      return `its ${PLUGIN_FILE} ${read.reason}`;
    case "read":
      return hasName(read.text) ? withManifest(folder) : `its ${PLUGIN_FILE} is not valid JSON with a name`;
  }
}

const NO_SKILLS = `it is empty: no ${PLUGIN_FILE}, and no ${SKILL_FILE} up to ${MAX_SKILL_DEPTH} folders deep`;
const NO_PARTS = `it is empty: no skills and no ${HOOKS_FILE}`;

/** Undefined: it is a folder. */
async function whyNoFolder(folder: string): Promise<string | undefined> {
  try {
    return (await stat(folder)).isDirectory() ? undefined : "it is not a folder";
  } catch (error) {
    const code = codeOf(error);
    return code === "ENOENT" || code === "ENOTDIR"
      ? "the folder does not exist"
      : `cannot read the folder (${code})`;
  }
}

async function withManifest(folder: string): Promise<Plugin> {
  const skills = join(folder, "skills");
  const [names, hooks] = await Promise.all([pinnedFoldersIn(skills), readInside(HOOKS_FILE, folder, 1)]);
  return {
    folder,
    hasHooks: hooks.kind !== "absent",
    skillFolders: names.map((name) => join(skills, name)),
    ifEmpty: NO_PARTS,
  };
}

/** Folders below a skill belong to it. */
async function findSkillFolders(root: string): Promise<string[]> {
  const found: string[] = [];
  let level = [root];
  let searched = 0;
  for (let depth = 0; depth <= MAX_SKILL_DEPTH && level.length > 0; depth++) {
    const next: string[] = [];
    for (const folder of level.slice(0, MAX_FOLDERS_SEARCHED - searched)) {
      searched++;
      const file = relative(root, join(folder, SKILL_FILE));
      if ((await readInside(file, root, 1)).kind !== "absent") found.push(folder);
      else if (depth < MAX_SKILL_DEPTH)
        next.push(...(await pinnedFoldersIn(folder)).map((name) => join(folder, name)));
    }
    level = next;
  }
  return found;
}

/** The content of a plugin's own `.git` is not pinned. Links cannot give it another name. */
async function pinnedFoldersIn(folder: string): Promise<string[]> {
  return (await foldersIn(folder)).filter((name) => name !== ".git");
}

function hasName(text: string): boolean {
  try {
    const { name } = (JSON.parse(text) ?? {}) as { name?: unknown };
    return typeof name === "string" && name !== "";
  } catch {
    return false; // reported as invalid JSON
  }
}
