/**
 * Adds a member to a team: a folder with a note from the team's template and an empty task file, and notes for its projects
 * that have none.
 */
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { expandPath, shortenPath } from "../../config/team-config.ts";
import { codeOf } from "../../model/error-code.ts";
import { CortexError } from "../../model/errors.ts";
import { DEFAULT_AGENT } from "../../model/ids.ts";
import { MAIN_SESSION } from "../../model/session-key.ts";
import { FOREIGN_RUNTIME, MANAGED_RUNTIME } from "../files/adoption.ts";
import { addProject } from "./add-project.ts";
import { slugOf, toSlug } from "../markdown/slug.ts";
import { MAX_NAME_LENGTH, notePathOf, tasksPathOf } from "../files/team.ts";
import type { TeamFolder } from "../files/team-folder.ts";
import { AGENT_TEMPLATE_PATH, fillTemplate, templateLine, readTemplate } from "./templates.ts";

export interface NewMember {
  /** `Billing Dev`. */
  readonly name: string;
  /** The folder it works in. */
  readonly project: string;
  readonly role?: string | undefined;
  /** Project names, with an optional remark: `billing-service — primary project`. Defaults to that of the folder. */
  readonly projects?: readonly string[] | undefined;
  readonly capabilities?: readonly string[] | undefined;
  /** Another program runs it: Cortex gives it no ticks and no turns. */
  readonly isForeign?: boolean | undefined;
}

export interface RegistrationContext {
  /** `2026-03-28`. */
  readonly today: string;
  /** The user's home folder, for paths that start with `~/`. */
  readonly user: string | undefined;
  /** The base of relative paths. */
  readonly workingDir: string;
}

export interface Registration {
  readonly slug: string;
  readonly name: string;
  /** Absolute. */
  readonly project: string;
  readonly notePath: string;
  readonly tasksPath: string;
  readonly isManaged: boolean;
  /** Notes created for projects that had none. */
  readonly projectPaths: readonly string[];
}

/** Throws `request_invalid` for an invalid name or project, and `state_conflict` if the slug is taken. */
export async function registerMember(
  folder: TeamFolder,
  newMember: NewMember,
  place: RegistrationContext,
): Promise<Registration> {
  const { member, note, projects } = await composeMember(folder, newMember, place);
  const { name, slug, notePath, tasksPath } = member;
  const agent = templateLine("project", `Agent: ${slug} at ${shortenPath(member.project, place.user)}`);
  const legacy = legacyNotePath(slug);
  if ((await folder.read(legacy)) !== undefined) throw taken(name, slug, legacy);
  // The note first: creating it makes the member, so of two that register the same name only one succeeds.
  if (!(await folder.create(notePath, note))) throw taken(name, slug, notePath);
  await folder.create(tasksPath, "");
  return { ...member, projectPaths: await addMissingProjects(folder, { projects, agent }, place) };
}

/** The path of a note in the old layout. Its member is on the team and needs importing. */
export function legacyNotePath(slug: string): string {
  return `agents/${slug}.md`;
}

/** What registering writes. */
export async function composeMember(
  folder: TeamFolder,
  { isForeign = false, ...given }: NewMember,
  { today, user, workingDir }: RegistrationContext,
): Promise<{ member: Omit<Registration, "projectPaths">; note: string; projects: readonly string[] }> {
  const name = templateLine("name", given.name, MAX_NAME_LENGTH);
  const slug = toSlug(name);
  if (!isForeign) checkManagedSlug(name, slug);
  const project = expandPath(given.project, { user, from: workingDir });
  await checkProject(project);
  const projects = given.projects?.map(toProject) ?? ownProject(project);
  const note = fillTemplate(await readTemplate(folder, AGENT_TEMPLATE_PATH), {
    fields: {
      name,
      project: shortenPath(project, user),
      status: "active",
      joined: today,
      runtime: isForeign ? FOREIGN_RUNTIME : MANAGED_RUNTIME,
    },
    sections: {
      Role: roleLines(given.role ?? ""),
      Projects: projects.map(({ slug, remark }) => `- ${slug}${remark}`),
      Capabilities: (given.capabilities ?? []).map((line) => `- ${templateLine("capability", line)}`),
    },
  });
  const paths = { notePath: notePathOf(slug), tasksPath: tasksPathOf(slug) };
  return {
    member: { slug, name, project, ...paths, isManaged: !isForeign },
    note,
    projects: projects.map((one) => one.slug),
  };
}

/** Creates the project notes that the member's note names, so that `cortex team lint` stays clean. Existing notes stay. */
async function addMissingProjects(
  folder: TeamFolder,
  { projects, agent }: { projects: readonly string[]; agent: string },
  place: RegistrationContext,
): Promise<string[]> {
  const paths: string[] = [];
  for (const name of projects) {
    if ((await folder.read(`projects/${name}.md`)) !== undefined) continue;
    const { path, isNew } = await addProject(folder, { name, notes: [agent] }, place);
    if (isNew) paths.push(path);
  }
  return paths;
}

/** A role that starts like a heading would end its section. */
function roleLines(role: string): string[] {
  const text = role.replace(/^[\s#]+/, "");
  return text === "" ? [] : [templateLine("role", text)];
}

interface OwnProject {
  readonly slug: string;
  /** The text after the slug. */
  readonly remark: string;
}

function toProject(text: string): OwnProject {
  const line = templateLine("project", text);
  const end = line.search(/ [—–-] /);
  return end === -1
    ? { slug: toSlug(line), remark: "" }
    : { slug: toSlug(line.slice(0, end)), remark: line.slice(end) };
}

/** A folder whose name yields no slug has no project note. */
function ownProject(project: string): OwnProject[] {
  const slug = slugOf(basename(project));
  return slug === undefined ? [] : [{ slug, remark: " — primary project" }];
}

async function checkProject(project: string): Promise<void> {
  let why = "is not a folder";
  try {
    if ((await stat(project)).isDirectory()) return;
  } catch (error) {
    const code = codeOf(error) ?? String(error);
    why = code === "ENOENT" ? "does not exist" : `is not accessible (${code})`;
  }
  throw new CortexError("request_invalid", `The project ${project} ${why}`, {
    hint: "Pass the member's folder with --project; create it first if necessary.",
  });
}

/** The session of a member has only the member's permissions, which would restrict the owner's own session. */
export function checkManagedSlug(name: string, slug: string): void {
  if (slug !== DEFAULT_AGENT) return;
  const message = `"${name}" would work in ${MAIN_SESSION}, which is your own session`;
  throw new CortexError("state_conflict", message, { hint: "Choose another name." });
}

function taken(name: string, slug: string, path: string): CortexError {
  return new CortexError("state_conflict", `The slug ${slug} of "${name}" is taken by ${path}`, {
    hint: "Choose another name. To bring back a member who has left, set `status: active` in that note.",
  });
}
