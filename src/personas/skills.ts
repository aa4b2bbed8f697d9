/**
 * Skills: folders with instructions for certain kinds of work. An agent gets their names and descriptions, and reads a
 * skill when it needs it.
 */
import { basename, dirname, join, relative } from "node:path";

import { MAX_FRONTMATTER_LENGTH } from "../model/frontmatter.ts";
import { matches } from "../model/permissions.ts";
import type { Setup } from "./lookup.ts";
import type { PluginTrust } from "./plugin-pins.ts";
import { type FolderProblem, SKILL_FILE } from "./plugins.ts";
import { type FileRead, foldersIn, readInside } from "./read-inside.ts";
import { type CheckedSkill, checkSkill, type SkillHead } from "./skill-file.ts";
import { trustedPlugins } from "./trusted-plugins.ts";

/** In one place. */
export const MAX_SKILLS_IN_FOLDER = 500;

export interface Skill extends SkillHead {
  /** The absolute path of its SKILL.md, without links. */
  readonly file: string;
  /** Where its files are. */
  readonly folder: string;
  /** Where it was found. */
  readonly source: "workspace" | "home" | "plugin";
}

interface SkillFolders extends PluginTrust {
  readonly workspace: string;
  /** Of the agent's own plugins, absolute. */
  readonly pluginDirs: readonly string[];
  /** Which skills it knows, by name. */
  readonly patterns: readonly string[];
}

export interface Skills {
  /** In the order of their names. */
  readonly skills: readonly Skill[];
  readonly problems: readonly FolderProblem[];
}

/**
 * The skills of an agent: from its workspace, the home, and the plugins that it names. Of two skills with the same name,
 * the first in this order is used. An invalid skill is left out and reported; no content of a folder makes this throw.
 */
export async function readSkills({
  workspace,
  pluginDirs,
  patterns,
  ...trust
}: SkillFolders): Promise<Skills> {
  const [ofWorkspace, ofHome, ofPlugins] = await Promise.all([
    readPlace({ ...(await place(join(workspace, "skills"))), source: "workspace", root: workspace }),
    readPlace({ ...(await place(join(trust.home, "skills"))), source: "home" }),
    pluginDirs.length === 0 ? { found: [], problems: [] } : readPlugins(pluginDirs, trust),
  ]);
  const found = [...ofWorkspace, ...ofHome, ...ofPlugins.found];
  const skills = new Map<string, Skill>();
  const problems: FolderProblem[] = [...ofPlugins.problems];
  for (const { path, skill, problems: wrong, notes } of found) {
    problems.push(...wrong.map((problem) => ({ path, problem, isLeftOut: true })));
    problems.push(...notes.map((problem) => ({ path, problem, isLeftOut: false })));
    if (skill === undefined) continue;
    const first = skills.get(skill.name);
    if (first === undefined) skills.set(skill.name, skill);
    else problems.push({ path, problem: `it has the same name as ${first.folder}`, isLeftOut: true });
  }
  return {
    skills: [...skills.values()].filter(({ name }) => matches(patterns, name)).toSorted(byName),
    problems,
  };
}

/** The skills of an agent, as its turns read them. */
export function skillsOf({ agent }: Setup, trust: PluginTrust): Promise<Skills> {
  const { workspace, pluginDirs, skills: patterns } = agent;
  return readSkills({ ...trust, workspace, pluginDirs, patterns });
}

/** The skills of plugins. A plugin without any content is reported, because someone expects something of it. */
export async function readPlugins(
  pluginDirs: readonly string[],
  trust: PluginTrust,
): Promise<{ readonly found: readonly Found[]; readonly problems: readonly FolderProblem[] }> {
  const { plugins, problems } = await trustedPlugins(pluginDirs, trust);
  const read = await Promise.all(
    plugins.map(async ({ folder, skillFolders, hasHooks, ifEmpty }) => {
      const found = await readPlace({ folder, folders: skillFolders, source: "plugin", root: folder });
      const isEmpty = found.length === 0 && !hasHooks;
      return { found, empty: isEmpty ? [{ path: folder, problem: ifEmpty, isLeftOut: false }] : [] };
    }),
  );
  return {
    found: read.flatMap(({ found }) => found),
    problems: [...problems, ...read.flatMap(({ empty }) => empty)],
  };
}

async function place(folder: string): Promise<Pick<Place, "folder" | "folders">> {
  return { folder, folders: (await foldersIn(folder)).map((name) => join(folder, name)) };
}

interface Place {
  readonly folder: string;
  /** The folders that may hold a skill. */
  readonly folders: readonly string[];
  readonly source: Skill["source"];
  /** Links out of it are not followed. Absent: only the owner writes there, and may use links. */
  readonly root?: string;
}

interface Found {
  readonly path: string;
  readonly skill?: Skill;
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

async function readPlace({ folder, folders, source, root }: Place): Promise<Found[]> {
  const read = await Promise.all(
    folders.slice(0, MAX_SKILLS_IN_FOLDER).map((each) => readSkill(each, source, root)),
  );
  const found = read.filter((each) => each !== undefined);
  if (folders.length > MAX_SKILLS_IN_FOLDER) {
    const problem = `it has more than ${MAX_SKILLS_IN_FOLDER} folders; the rest is ignored`;
    found.push({ path: folder, problems: [problem], notes: [] });
  }
  return found;
}

/** Undefined: no skill. */
async function readSkill(folder: string, source: Skill["source"], root = folder): Promise<Found | undefined> {
  const path = join(folder, SKILL_FILE);
  const read = await readInside(relative(root, path), root, MAX_FRONTMATTER_LENGTH + FENCES);
  switch (read.kind) {
    case "absent":
      return undefined;
    case "refused":
      return { path, problems: [`it ${read.reason}`], notes: [] };
    case "read": {
      const { head, problems, notes } = check(read, basename(folder));
      if (head === undefined) return { path, problems, notes };
      return {
        path,
        skill: { ...head, file: read.path, folder: dirname(read.path), source },
        problems,
        notes,
      };
    }
  }
}

/** The checks of files that have not changed. */
const checked = new WeakMap<FileRead, CheckedSkill>();

function check(read: Extract<FileRead, { kind: "read" }>, name: string): CheckedSkill {
  const known = checked.get(read) ?? checkSkill(read.text, name);
  checked.set(read, known);
  return known;
}

/** For the lines around the frontmatter. */
const FENCES = 64;

function byName(a: Skill, b: Skill): number {
  return a.name < b.name ? -1 : 1;
}
