/** The files of one member, read for its next move. */
import { realpath, stat } from "node:fs/promises";
import { join, relative } from "node:path";

import { expandPath } from "../config/team-config.ts";
import { CortexError } from "../model/errors.ts";
import { type MemberNote, readNote } from "./read-note.ts";
import { readTasks } from "./read-tasks.ts";
import type { TaskFile } from "./task.ts";
import type { TeamFolder } from "./team-folder.ts";
import { COORDINATOR } from "./team.ts";

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

export type FoundProject =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "missing"; readonly why: string };

/** Where a member works. The notes and tasks of the team are nobody's project. */
export async function findProject(
  { note }: Pick<MemberFiles, "note">,
  { root, user }: { readonly root: string; readonly user: string },
): Promise<FoundProject> {
  if (note.project === undefined) return { kind: "missing", why: "its note names no project" };
  const path = expandPath(note.project, { user, from: root });
  const way = relative(join(root, "agents"), path);
  if (way === "" || !way.startsWith(".."))
    return { kind: "missing", why: `the project ${path} is among the notes of the team` };
  try {
    if ((await stat(path)).isDirectory()) {
      const isRoot = (await realpath(path)) === (await realpath(root)); // by a link, it is still the team directory
      return { kind: "found", path: isRoot ? root : path };
    }
    return { kind: "missing", why: `the project ${path} is not a folder` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" || code === "ENOTDIR" ? "does not exist" : `cannot be read (${code})`;
    return { kind: "missing", why: `the project ${path} ${why}` };
  }
}

export function memberUnknown(name: string): CortexError {
  return new CortexError("member_unknown", `Nobody on the team is called "${name}"`, {
    hint: "`cortex team list` shows who is, and `cortex team register <name>` takes somebody in.",
  });
}
