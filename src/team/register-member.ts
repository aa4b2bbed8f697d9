/** Takes somebody into a team: a folder with a note, made of the team's own template, and an empty task file. */
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { expandPath, shortenPath } from "../config/team-config.ts";
import { CortexError } from "../model/errors.ts";
import { toSlug } from "./slug.ts";
import type { TeamFolder } from "./team-folder.ts";
import { MANAGED_RUNTIME } from "./team.ts";
import { AGENT_TEMPLATE_PATH, fillTemplate, readTemplate } from "./templates.ts";

export interface NewMember {
  /** `Billing Dev`. */
  readonly name: string;
  /** The folder it works in. */
  readonly project: string;
  readonly role?: string | undefined;
  /** Slugs of project notes. That of its folder, unless given. */
  readonly projects?: readonly string[] | undefined;
  readonly capabilities?: readonly string[] | undefined;
  /** Somebody else runs it: Cortex gives it neither ticks nor turns. */
  readonly isForeign?: boolean | undefined;
}

export interface Place {
  /** `2026-03-28`. */
  readonly today: string;
  /** The user's own folder, for paths that start with `~/`. */
  readonly user: string | undefined;
  /** From where relative paths count. */
  readonly workingDir: string;
}

export interface Registered {
  readonly slug: string;
  readonly name: string;
  /** Absolute. */
  readonly project: string;
  readonly notePath: string;
  readonly tasksPath: string;
  readonly isManaged: boolean;
}

export const MAX_NAME_LENGTH = 100;
export const MAX_LINE_LENGTH = 1_000;

/** Throws `request_invalid`, where the name or the project cannot be used, and `state_conflict`, where the slug is taken. */
export async function registerMember(
  folder: TeamFolder,
  newMember: NewMember,
  place: Place,
): Promise<Registered> {
  const { member, note } = await composeMember(folder, newMember, place);
  const { name, slug, notePath, tasksPath } = member;
  const legacy = legacyNotePath(slug);
  if ((await folder.read(legacy)) !== undefined) throw taken(name, slug, legacy);
  // The note first: it is what makes somebody a member, and of two that register the same name one does.
  if (!(await folder.create(notePath, note))) throw taken(name, slug, notePath);
  await folder.create(tasksPath, "");
  return member;
}

/** Where notes were before members had folders. Whoever has one there is on the team, and is to be imported. */
export function legacyNotePath(slug: string): string {
  return `agents/${slug}.md`;
}

/** What registering would write. */
export async function composeMember(
  folder: TeamFolder,
  { isForeign = false, ...given }: NewMember,
  { today, user, workingDir }: Place,
): Promise<{ member: Registered; note: string }> {
  const name = oneLine("name", given.name, MAX_NAME_LENGTH);
  const slug = toSlug(name);
  const project = expandPath(given.project, { user, from: workingDir });
  await checkProject(project);
  const note = fillTemplate(await readTemplate(folder, AGENT_TEMPLATE_PATH), {
    fields: {
      name,
      project: shortenPath(project, user),
      status: "active",
      joined: today,
      ...(isForeign ? {} : { runtime: MANAGED_RUNTIME }),
    },
    sections: {
      Role: roleLines(given.role ?? ""),
      Projects: (given.projects ?? ownProject(project)).map((line) => `- ${oneLine("project", line)}`),
      Capabilities: (given.capabilities ?? []).map((line) => `- ${oneLine("capability", line)}`),
    },
  });
  const notePath = `agents/${slug}/${slug}.md`;
  const tasksPath = `agents/${slug}/tasks.md`;
  return { member: { slug, name, project, notePath, tasksPath, isManaged: !isForeign }, note };
}

/** Text that stays the one line that it is. */
export function oneLine(what: string, text: string, maxLength: number = MAX_LINE_LENGTH): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  if (line !== "" && line.length <= maxLength) return line;
  const message =
    line === ""
      ? `The ${what} is empty`
      : `The ${what} has ${line.length} characters, ${maxLength} are allowed`;
  throw new CortexError("request_invalid", message, { hint: "Write it in one short line." });
}

/** A role that begins as a heading does would end the section that it is in. */
function roleLines(role: string): string[] {
  const text = role.replace(/^[\s#]+/, "");
  return text === "" ? [] : [oneLine("role", text)];
}

/** A folder whose name leaves no slug has no project note. */
function ownProject(project: string): string[] {
  try {
    return [`${toSlug(basename(project))} — primary project`];
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

function taken(name: string, slug: string, path: string): CortexError {
  return new CortexError("state_conflict", `"${name}" would be ${slug}, which ${path} is already`, {
    hint: "Take another name. Somebody who has left is back with `status: active` in that note.",
  });
}
