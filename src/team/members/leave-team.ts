/** Somebody leaves: the note says so, and the project loses what adapters have written. Files of the team all stay. */
import { existsSync } from "node:fs";
import { expandPath } from "../../config/team-config.ts";
import { type AdapterFile, removeAdapters } from "./adapter.ts";
import { memberUnknown } from "./member-files.ts";
import { readNote } from "../markdown/read-note.ts";
import { toSlug } from "../markdown/slug.ts";
import type { TeamFolder } from "../files/team-folder.ts";

export interface Departure {
  readonly slug: string;
  readonly notePath: string;
  /** False: it had left already. */
  readonly changed: boolean;
  /** Undefined: the note names none, or it is not on this machine. */
  readonly project: string | undefined;
  /** What was removed from it. */
  readonly files: readonly AdapterFile[];
}

/** Twice is once. Throws `member_unknown`, and what `removeAdapters` does; the note says `inactive` by then. */
export async function leaveTeam(
  folder: TeamFolder,
  name: string,
  { user }: { user: string | undefined },
): Promise<Departure> {
  const slug = toSlug(name);
  const notePath = `agents/${slug}/${slug}.md`;
  const note = await folder.read(notePath);
  if (note === undefined) throw memberUnknown(name);
  // First of all it gets no more ticks and tasks; the rest can be done again.
  const edit = { kind: "field", name: "status", value: "inactive" } as const;
  const { changed } = await folder.edit(notePath, { file: "note", edit });
  const written = readNote(note).project;
  const project = written === undefined ? undefined : expandPath(written, { user, from: folder.root });
  if (project === undefined || !existsSync(project)) {
    return { slug, notePath, changed, project: undefined, files: [] };
  }
  return { slug, notePath, changed, project, files: await removeAdapters({ project, slug }) };
}
