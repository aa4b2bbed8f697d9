/** A project note, made of the team's own template. */
import { CortexError } from "../model/errors.ts";
import { oneLine } from "./register-member.ts";
import { toSlug } from "./slug.ts";
import type { TeamFolder } from "./team-folder.ts";
import { fillTemplate, PROJECT_TEMPLATE_PATH, readTemplate } from "./templates.ts";

export interface NewProject {
  readonly name: string;
  readonly nextActions?: readonly string[] | undefined;
  readonly notes?: readonly string[] | undefined;
}

/** Throws `request_invalid`, where the name cannot be used, and `state_conflict`, where it is taken. */
export async function addProject(
  folder: TeamFolder,
  { name, nextActions = [], notes = [] }: NewProject,
  { today }: { today: string },
): Promise<{ slug: string; path: string }> {
  const slug = toSlug(name);
  const path = `projects/${slug}.md`;
  const text = fillTemplate(await readTemplate(folder, PROJECT_TEMPLATE_PATH), {
    fields: { type: "project", created: today, status: "active" },
    sections: {
      "Next Action": nextActions.map((line) => `- ${oneLine("next action", line)}`),
      Notes: notes.map((line) => `- ${oneLine("note", line)}`),
    },
  });
  if (await folder.create(path, text)) return { slug, path };
  throw new CortexError("state_conflict", `There is already a project ${slug}, in ${path}`, {
    hint: "Edit that file, or take another name.",
  });
}
