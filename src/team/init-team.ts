/**
 * Makes a team directory: folders, templates, the coordinator, a git repository. What is there stays as it is, so a
 * second time, or on a directory that people have made by hand, it adds what is missing and nothing else.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { CortexError } from "../model/errors.ts";
import { type GitStart, initGit } from "./init-git.ts";
import { composeMember, legacyNotePath, type Place } from "./register-member.ts";
import type { TeamFolder } from "./team-folder.ts";
import { TEMPLATES } from "./templates.ts";

export interface TeamStart extends Place {
  /** Where the coordinator works. It is made where it does not exist. */
  readonly coordinatorProject: string;
  /** Somebody else runs the coordinator. */
  readonly isForeign?: boolean | undefined;
  /** The variables of the process, for git. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface InitedTeam {
  readonly root: string;
  /** Below the root. */
  readonly written: readonly string[];
  readonly kept: readonly string[];
  readonly git: GitStart;
}

const COORDINATOR_NAME = "Chief of Staff";
const COORDINATOR_ROLE =
  "Coordinate the team: take instructions from the user, dispatch work to the agents, watch progress, report daily.";
/** Locks, drafts, and what Cortex remembers about the files: nothing that is worth a version. */
const IGNORED = ".cortex/\n.*.lock\n.*.tmp\n.*.new\n.*.moving\n";

/** Throws `team_unwritable`. */
export async function initTeam(folder: TeamFolder, start: TeamStart): Promise<InitedTeam> {
  const { root } = folder;
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
  return { root, written, kept, git };
}

/** None where the team still has the layout of before: its coordinator is to be imported. */
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
    throw new CortexError("team_unwritable", `The folder ${path} cannot be made`, {
      hint: "Check what is there and its permissions, or name another folder with --team-dir.",
      cause,
    });
  }
}
