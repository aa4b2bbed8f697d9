/** The files of one member, and the folder it works in. */
import { mkdir, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";

import type { Settings } from "../../config/settings.ts";
import { expandPath } from "../../config/team-config.ts";
import { codeOf, hasCode } from "../../model/error-code.ts";
import { CortexError } from "../../model/errors.ts";
import { type MemberNote, readNote } from "../markdown/read-note.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import type { TaskFile } from "../markdown/task.ts";
import { unfitForWork } from "../../personas/work-folder.ts";
import type { TeamDirectory } from "../files/team-directory.ts";
import type { TeamFolder } from "../files/team-folder.ts";
import { COORDINATOR, notePathOf, projectPathOf, tasksPathOf } from "../files/team.ts";

export interface MemberFiles {
  readonly slug: string;
  readonly isCoordinator: boolean;
  readonly notePath: string;
  readonly tasksPath: string;
  readonly noteText: string;
  readonly note: MemberNote;
  readonly tasks: TaskFile;
}

/** Throws `member_unknown`, and what reading throws. A member without a task file has no tasks. */
export async function readMember(slug: string, folder: TeamFolder): Promise<MemberFiles> {
  const notePath = notePathOf(slug);
  const tasksPath = tasksPathOf(slug);
  const noteText = await folder.read(notePath);
  if (noteText === undefined) throw memberUnknown(slug);
  return {
    slug,
    isCoordinator: slug === COORDINATOR,
    notePath,
    tasksPath,
    noteText,
    note: readNote(noteText),
    tasks: readTasks((await folder.read(tasksPath)) ?? ""),
  };
}

/** Its project notes that exist. */
export async function readProjects(
  { note }: Pick<MemberFiles, "note">,
  folder: TeamFolder,
): Promise<{ readonly slug: string; readonly text: string }[]> {
  const read = note.projects.map(async (slug) => ({ slug, text: await folder.read(projectPathOf(slug)) }));
  return (await Promise.all(read)).flatMap(({ slug, text }) => (text === undefined ? [] : [{ slug, text }]));
}

interface ProjectPlace {
  readonly team: TeamDirectory;
  readonly home: string;
  readonly settings: Pick<Settings, "config">;
}

type ProjectFolder =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "missing"; readonly why: string };

/** Folders of Cortex, git and the protocol in the team directory, where no member works. */
const CLOSED_FOLDERS: ReadonlySet<string> = new Set(["agents", "projects", "templates", ".cortex", ".git"]);

/**
 * Where a member works. The team directory is never a workspace, even if a note names it: a member that could write there
 * could change the tasks of others, and the git repository that Cortex commits to. Such a member, usually the coordinator,
 * gets a separate folder.
 */
export async function findProject(
  { slug, note }: Pick<MemberFiles, "slug" | "note">,
  { team: { root, user }, home, settings }: ProjectPlace,
): Promise<ProjectFolder> {
  const workspace = join(home, "workspaces", slug);
  if (note.project === undefined)
    return slug === COORDINATOR
      ? { kind: "found", path: await makeFolder(workspace) }
      : { kind: "missing", why: "its note names no project" };
  const path = expandPath(note.project, { user, from: root });
  try {
    if (!(await stat(path)).isDirectory())
      return { kind: "missing", why: `the project ${path} is not a folder` };
    const real = await realpath(path);
    const unfit = await unfitForWork(real, { home, agents: settings.config().agents, team: root });
    const [first = ""] = relative(await realpath(root), real).split(sep, 1);
    if (first === "") return { kind: "found", path: await makeFolder(workspace) };
    if (CLOSED_FOLDERS.has(first))
      return { kind: "missing", why: `the project ${path} is inside the team directory` };
    if (unfit !== undefined) return { kind: "missing", why: `the project ${path} ${unfit}` };
    return { kind: "found", path: real };
  } catch (error) {
    const isMissing = hasCode(error, "ENOENT", "ENOTDIR");
    const why = isMissing ? "does not exist" : `is not readable (${codeOf(error) ?? String(error)})`;
    return { kind: "missing", why: `the project ${path} ${why}` };
  }
}

async function makeFolder(path: string): Promise<string> {
  await mkdir(path, { recursive: true });
  return path;
}

export function memberUnknown(name: string): CortexError {
  return new CortexError("member_unknown", `Unknown team member "${name}"`, {
    hint: "Run `cortex team list` to list the members, or `cortex team register <name>` to add one.",
  });
}
