/** A member leaves: its note says so, and adapter text is removed from its project. All files of the team stay. */
import { existsSync } from "node:fs";
import { expandPath } from "../../config/team-config.ts";
import { type AdapterFile, removeAdapters } from "./adapter.ts";
import { memberUnknown } from "./member-files.ts";
import { readNote } from "../markdown/read-note.ts";
import { notePathOf } from "../files/team.ts";
import { toSlug } from "../markdown/slug.ts";
import type { TeamFolder } from "../files/team-folder.ts";

export interface Departure {
  readonly slug: string;
  readonly notePath: string;
  /** False: it had left already. */
  readonly changed: boolean;
  /** Undefined: the note names none, or the folder is not on this machine. */
  readonly project: string | undefined;
  /** Files changed in the project. */
  readonly files: readonly AdapterFile[];
}

/** Idempotent. Throws `member_unknown`, and what `removeAdapters` throws; the note says `inactive` by then. */
export async function leaveTeam(
  folder: TeamFolder,
  name: string,
  { user }: { user: string | undefined },
): Promise<Departure> {
  const slug = toSlug(name);
  const notePath = notePathOf(slug);
  const note = await folder.read(notePath);
  if (note === undefined) throw memberUnknown(name);
  // First stop its ticks and tasks; the rest can be repeated.
  const edit = { kind: "field", name: "status", value: "inactive" } as const;
  const { changed } = await folder.edit(notePath, { file: "note", edit });
  const written = readNote(note).project;
  const project = written === undefined ? undefined : expandPath(written, { user, from: folder.root });
  if (project === undefined || !existsSync(project)) {
    return { slug, notePath, changed, project: undefined, files: [] };
  }
  return { slug, notePath, changed, project, files: await removeAdapters({ project, slug }) };
}
