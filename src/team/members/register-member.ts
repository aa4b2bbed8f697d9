/**
 * Takes somebody into a team: a folder with a note, made of the team's own template, and an empty task file; and a note for
 * each of its projects that has none.
 */
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { expandPath, shortenPath } from "../../config/team-config.ts";
import { CortexError } from "../../model/errors.ts";
import { DEFAULT_AGENT } from "../../model/ids.ts";
import { MAIN_SESSION } from "../../model/session-key.ts";
import { FOREIGN_RUNTIME, MANAGED_RUNTIME } from "../files/adoption.ts";
import { addProject } from "./add-project.ts";
import { toSlug } from "../markdown/slug.ts";
import type { TeamFolder } from "../files/team-folder.ts";
import { AGENT_TEMPLATE_PATH, fillTemplate, templateLine, readTemplate } from "./templates.ts";

export interface NewMember {
  /** `Billing Dev`. */
  readonly name: string;
  /** The folder it works in. */
  readonly project: string;
  readonly role?: string | undefined;
  /** Their names, each with a remark or without: `billing-service — primary project`. That of its folder, unless given. */
  readonly projects?: readonly string[] | undefined;
  readonly capabilities?: readonly string[] | undefined;
  /** Somebody else runs it: Cortex gives it neither ticks nor turns. */
  readonly isForeign?: boolean | undefined;
}

export interface RegistrationContext {
  /** `2026-03-28`. */
  readonly today: string;
  /** The user's own folder, for paths that start with `~/`. */
  readonly user: string | undefined;
  /** From where relative paths count. */
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
  /** The notes that were made for its projects, because they had none. */
  readonly projectPaths: readonly string[];
}

export const MAX_NAME_LENGTH = 100;

/** Throws `request_invalid`, where the name or the project cannot be used, and `state_conflict`, where the slug is taken. */
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
  // The note first: it is what makes somebody a member, and of two that register the same name one does.
  if (!(await folder.create(notePath, note))) throw taken(name, slug, notePath);
  await folder.create(tasksPath, "");
  return { ...member, projectPaths: await addMissingProjects(folder, { projects, agent }, place) };
}

/** Where notes were before members had folders. Whoever has one there is on the team, and is to be imported. */
export function legacyNotePath(slug: string): string {
  return `agents/${slug}.md`;
}

/** What registering would write. */
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
  const notePath = `agents/${slug}/${slug}.md`;
  const tasksPath = `agents/${slug}/tasks.md`;
  return {
    member: { slug, name, project, notePath, tasksPath, isManaged: !isForeign },
    note,
    projects: projects.map((one) => one.slug),
  };
}

/** So that what its note names is there, and `cortex team lint` has nothing to tell. Notes that are there stay as they are. */
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

/** A role that begins as a heading does would end the section that it is in. */
function roleLines(role: string): string[] {
  const text = role.replace(/^[\s#]+/, "");
  return text === "" ? [] : [templateLine("role", text)];
}

interface OwnProject {
  readonly slug: string;
  /** What stands behind the slug. */
  readonly remark: string;
}

function toProject(text: string): OwnProject {
  const line = templateLine("project", text);
  const end = line.search(/ [—–-] /);
  return end === -1
    ? { slug: toSlug(line), remark: "" }
    : { slug: toSlug(line.slice(0, end)), remark: line.slice(end) };
}

/** A folder whose name leaves no slug has no project note. */
function ownProject(project: string): OwnProject[] {
  try {
    return [{ slug: toSlug(basename(project)), remark: " — primary project" }];
  } catch {
    return [];
  }
}

async function checkProject(project: string): Promise<void> {
  let why = "is not a folder";
  try {
    if ((await stat(project)).isDirectory()) return;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    why = code === "ENOENT" ? "does not exist" : `cannot be looked at (${code ?? String(error)})`;
  }
  throw new CortexError("request_invalid", `The project ${project} ${why}`, {
    hint: "Name the folder that the member works in with --project, and make it first if it is new.",
  });
}

/** What a member may do, its session may do: the owner's own would lose the rest. */
export function checkManagedSlug(name: string, slug: string): void {
  if (slug !== DEFAULT_AGENT) return;
  const message = `"${name}" would work in ${MAIN_SESSION}, which is your own session`;
  throw new CortexError("state_conflict", message, { hint: "Take another name." });
}

function taken(name: string, slug: string, path: string): CortexError {
  return new CortexError("state_conflict", `"${name}" would be ${slug}, which ${path} is already`, {
    hint: "Take another name. Somebody who has left is back with `status: active` in that note.",
  });
}
