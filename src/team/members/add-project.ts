/** Project notes: made of the team's own template, and added to. */
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
  /** False: there was such a note, and the lines were added to it. */
  readonly isNew: boolean;
}

/**
 * Makes the note, or adds the lines to the one there is, at the top of their sections. Throws `request_invalid`, where
 * the name or a line cannot be used, and `state_conflict`, where there is such a note and nothing to add to it.
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
    throw new CortexError("state_conflict", `There is already a project ${slug}, in ${path}`, {
      hint: "--next and --note add to it; for everything else, edit that file.",
    });
  }
  await folder.rewrite(path, (now) => fillTemplate(now, { fields: {}, sections }));
  return { slug, path, isNew: false };
}
