/**
 * Creates a team directory: folders, templates, the coordinator, a git repository. Existing files stay, so running it again,
 * or on a directory that people created by hand, only adds what is missing.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { CortexError } from "../../model/errors.ts";
import { isMarkedAsOurs, markAsOurs } from "../files/adoption.ts";
import { readNote } from "../markdown/read-note.ts";
import { composeMember, legacyNotePath, type RegistrationContext } from "./register-member.ts";
import type { TeamFolder } from "../files/team-folder.ts";
import { notePathOf } from "../files/team.ts";
import { TEMPLATES } from "./templates.ts";
import { type GitPlace, GitRefused, readUserSettings, runGit } from "../../programs/git.ts";

interface TeamStart extends RegistrationContext {
  /** Where the coordinator works. Created if missing. */
  readonly coordinatorProject: string;
  /** Another program runs the coordinator. */
  readonly isForeign?: boolean | undefined;
  /** The environment of the process, for git. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface InitedTeam {
  readonly root: string;
  /** Relative to the root. */
  readonly written: readonly string[];
  readonly kept: readonly string[];
  readonly git: GitStart;
  /** Members that existed before and whose notes name no runtime: Cortex leaves them alone. */
  readonly unclaimed: readonly string[];
}

const COORDINATOR_NAME = "Chief of Staff";
const COORDINATOR_ROLE =
  "Coordinate the team: take instructions from the user, dispatch work to the agents, watch progress, report daily.";
/** Locks, drafts, and Cortex's own records. */
const IGNORED = ".cortex/\n.*.lock\n.*.tmp\n.*.new\n.*.moving\n";

/** Throws `team_unwritable`. */
export async function initTeam(folder: TeamFolder, start: TeamStart): Promise<InitedTeam> {
  const { root } = folder;
  const before = memberFolders(root);
  for (const path of [...FOLDERS.map((name) => join(root, name)), start.coordinatorProject]) {
    await makeFolder(path);
  }
  const git = await initGit({ folder: root, environment: start.environment });
  const files = { ...TEMPLATES, ...(git.kind === "made" ? { ".gitignore": IGNORED } : {}) };
  const written: string[] = [];
  const kept: string[] = [];
  for (const [path, text] of Object.entries(files)) {
    ((await folder.create(path, text)) ? written : kept).push(path);
  }
  for (const [path, text] of await coordinatorFiles(folder, start)) {
    ((await folder.create(path, text)) ? written : kept).push(path);
  }
  if (before.length === 0) markAsOurs(root);
  return { root, written, kept, git, unclaimed: await unclaimedOf(before, folder) };
}

/** A directory with members in it was created by others. */
function memberFolders(root: string): string[] {
  const agents = join(root, "agents");
  return statSync(agents, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(agents) : [];
}

async function unclaimedOf(slugs: readonly string[], folder: TeamFolder): Promise<string[]> {
  if (isMarkedAsOurs(folder.root)) return [];
  const found: string[] = [];
  for (const slug of slugs.toSorted()) {
    if (!existsSync(join(folder.root, notePathOf(slug)))) continue;
    const note = await folder.read(notePathOf(slug));
    if (note !== undefined && readNote(note).runtime === undefined) found.push(slug);
  }
  return found;
}

/** None if the team has the old layout: its coordinator needs importing. */
async function coordinatorFiles(folder: TeamFolder, start: TeamStart): Promise<[string, string][]> {
  const project = start.coordinatorProject;
  const given = { name: COORDINATOR_NAME, project, role: COORDINATOR_ROLE, projects: [] };
  const { member, note } = await composeMember(folder, { ...given, isForeign: start.isForeign }, start);
  if ((await folder.read(legacyNotePath(member.slug))) !== undefined) return [];
  return [
    [member.notePath, note],
    [member.tasksPath, ""],
  ];
}

const FOLDERS = ["agents", "projects", "templates"];

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (cause) {
    throw new CortexError("team_unwritable", `Cannot create the folder ${path}`, {
      hint: "Check the existing file and its permissions, or choose another folder with --team-dir.",
      cause,
    });
  }
}

type GitStart =
  | { readonly kind: "made" }
  /** The folder is in a repository already. */
  | { readonly kind: "there" }
  /** The team works without one. */
  | { readonly kind: "none"; readonly why: string };

/** With git, what housekeeping removes stays in the history. */
async function initGit(place: GitPlace): Promise<GitStart> {
  try {
    const { passedOn: settings } = await readUserSettings(place);
    if (await isInRepository({ ...place, settings })) return { kind: "there" };
    await runGit({ ...place, settings }, ["init", "--quiet", "--template="]);
    return { kind: "made" };
  } catch (error) {
    if (error instanceof GitRefused) return { kind: "none", why: error.message };
    throw error;
  }
}

async function isInRepository(place: GitPlace): Promise<boolean> {
  try {
    await runGit(place, ["rev-parse", "--git-dir"]);
    return true;
  } catch (error) {
    if (error instanceof GitRefused && /not a git repository/.test(error.message)) return false;
    throw error;
  }
}
