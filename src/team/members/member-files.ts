/** The files of one member, read for its next move. */
import { mkdir, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";

import { expandPath } from "../../config/team-config.ts";
import { CortexError } from "../../model/errors.ts";
import { type MemberNote, readNote } from "../markdown/read-note.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import type { TaskFile } from "../markdown/task.ts";
import type { TeamDirectory } from "../files/team-directory.ts";
import type { TeamFolder } from "../files/team-folder.ts";
import { COORDINATOR } from "../files/team.ts";

export interface MemberFiles {
  readonly slug: string;
  readonly isCoordinator: boolean;
  readonly notePath: string;
  readonly tasksPath: string;
  readonly noteText: string;
  readonly note: MemberNote;
  readonly tasks: TaskFile;
}

/** Throws `member_unknown`, and what reading does. A member without a task file has no tasks. */
export async function readMember(slug: string, folder: TeamFolder): Promise<MemberFiles> {
  const notePath = `agents/${slug}/${slug}.md`;
  const tasksPath = `agents/${slug}/tasks.md`;
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

/** Its project notes, as far as they are there. */
export async function readProjects(
  { note }: Pick<MemberFiles, "note">,
  folder: TeamFolder,
): Promise<{ readonly slug: string; readonly text: string }[]> {
  const read = note.projects.map(async (slug) => ({ slug, text: await folder.read(`projects/${slug}.md`) }));
  return (await Promise.all(read)).flatMap(({ slug, text }) => (text === undefined ? [] : [{ slug, text }]));
}

export type ProjectFolder =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "missing"; readonly why: string };

/** What Cortex, git and the protocol keep in the team directory: nobody works in there. */
const CLOSED_FOLDERS: ReadonlySet<string> = new Set(["agents", "projects", "templates", ".cortex", ".git"]);

/**
 * Where a member works. The team directory is nobody's workspace, also where a note names it: whoever could write there
 * could change the tasks of others, and the git repository that Cortex commits to. That member, usually the coordinator,
 * gets a folder of its own.
 */
export async function findProject(
  { slug, note }: Pick<MemberFiles, "slug" | "note">,
  { team: { root, user }, home }: { readonly team: TeamDirectory; readonly home: string },
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
    const way = relative(await realpath(root), await realpath(path)); // by a link, it is still the same folder
    if (way === "") return { kind: "found", path: await makeFolder(workspace) };
    if (CLOSED_FOLDERS.has(way.split(sep, 1)[0]!))
      return { kind: "missing", why: `the project ${path} is among the files of the team` };
    return { kind: "found", path };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" || code === "ENOTDIR" ? "does not exist" : `cannot be read (${code})`;
    return { kind: "missing", why: `the project ${path} ${why}` };
  }
}

async function makeFolder(path: string): Promise<string> {
  await mkdir(path, { recursive: true });
  return path;
}

export function memberUnknown(name: string): CortexError {
  return new CortexError("member_unknown", `Nobody on the team is called "${name}"`, {
    hint: "`cortex team list` shows who is, and `cortex team register <name>` takes somebody in.",
  });
}
