/** Creates project notes from the team's template, and adds to existing ones. */
import { CortexError } from "../../model/errors.ts";
import { toSlug } from "../markdown/slug.ts";
import type { TeamFolder } from "../files/team-folder.ts";
import { fillTemplate, templateLine, PROJECT_TEMPLATE_PATH, readTemplate } from "./templates.ts";

export interface NewProject {
  readonly name: string;
  readonly nextActions?: readonly string[] | undefined;
  readonly notes?: readonly string[] | undefined;
}

export interface AddedProject {
  readonly slug: string;
  readonly path: string;
  /** False: the lines were added to an existing note. */
  readonly isNew: boolean;
}

/**
 * Creates the note, or adds the lines to the top of their sections in an existing one. Throws `request_invalid` for an invalid
 * name or line, and `state_conflict` if the note exists and there is nothing to add.
 */
export async function addProject(
  folder: TeamFolder,
  { name, nextActions = [], notes = [] }: NewProject,
  { today }: { today: string },
): Promise<AddedProject> {
  const slug = toSlug(name);
  const path = `projects/${slug}.md`;
  const sections = {
    "Next Action": nextActions.map((line) => `- ${templateLine("next action", line)}`),
    Notes: notes.map((line) => `- ${templateLine("note", line)}`),
  };
  const fields = { type: "project", created: today, status: "active" };
  const text = fillTemplate(await readTemplate(folder, PROJECT_TEMPLATE_PATH), { fields, sections });
  if (await folder.create(path, text)) return { slug, path, isNew: true };
  if (nextActions.length + notes.length === 0) {
    throw new CortexError("state_conflict", `The project ${slug} already exists in ${path}`, {
      hint: "Add to it with --next and --note, or edit the file.",
    });
  }
  await folder.rewrite(path, (now) => fillTemplate(now, { fields: {}, sections }));
  return { slug, path, isNew: false };
}
