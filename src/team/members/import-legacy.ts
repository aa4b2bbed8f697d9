/**
 * Imports a team in the layout of the protocol's first versions: notes at `agents/<slug>.md`, tasks in the project notes, a
 * `TEAM.md` in each project. It adds what today's layout needs and removes nothing; what it cannot decide is reported. Running
 * it again imports only what is new.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { expandPath } from "../../config/team-config.ts";
import { MAX_TITLE_LENGTH, type Task } from "../markdown/task.ts";
import type { TaskEdit } from "../markdown/edit.ts";
import { hasCode } from "../../model/error-code.ts";
import { unreadable } from "../files/team-errors.ts";
import { type MemberNote, readNote, readProject } from "../markdown/read-note.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import { legacyNotePath } from "./register-member.ts";
import { isStamp } from "../markdown/stamp.ts";
import type { TeamFolder } from "../files/team-folder.ts";
import { notePathOf, tasksPathOf } from "../files/team.ts";
import { findSection, type NoteSection } from "../markdown/note-sections.ts";

export interface ImportedTeam {
  readonly members: readonly { readonly slug: string; readonly from: string; readonly to: string }[];
  readonly tasks: readonly { readonly slug: string; readonly title: string; readonly from: string }[];
  /** Not imported, and why. */
  readonly left: readonly { readonly file: string; readonly why: string; readonly hint: string }[];
}

type Import = { -readonly [Key in keyof ImportedTeam]: ImportedTeam[Key][number][] };

/** `stamp` is the start of tasks in progress that have none. */
export async function importLegacy(
  folder: TeamFolder,
  { user, stamp }: { user: string | undefined; stamp: string },
): Promise<ImportedTeam> {
  const found: Import = { members: [], tasks: [], left: [] };
  for (const name of slugsIn(folder, "agents")) await importMember(folder, name, found);
  const members = await readMembers(folder);
  for (const name of slugsIn(folder, "projects")) {
    const from = `projects/${name}.md`;
    const { sections, notes } = readProject((await folder.read(from)) ?? "");
    const owners = ownersOf(name, notes, members);
    for (const entry of readWorkQueue(sections))
      await importTask(folder, { entry, from, owners, stamp, found });
  }
  for (const [, { project }] of members) {
    const file =
      project === undefined ? undefined : join(expandPath(project, { user, from: folder.root }), "TEAM.md");
    if (file === undefined || !existsSync(file)) continue;
    const hint = "Run `cortex team adapter` to write its replacement, then remove it.";
    found.left.push({ file, why: "describes the old layout to the agent", hint });
  }
  return found;
}

/** Markdown files named by a slug, which excludes conflict copies. */
function slugsIn(folder: TeamFolder, name: string): string[] {
  return namesIn(folder, name).flatMap((file) => /^([a-z0-9]+(?:-[a-z0-9]+)*)\.md$/.exec(file)?.[1] ?? []);
}

function namesIn(folder: TeamFolder, name: string): string[] {
  try {
    return readdirSync(join(folder.root, name)).toSorted();
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw unreadable(name, String(error), error);
  }
}

async function importMember(folder: TeamFolder, slug: string, found: Import): Promise<void> {
  const from = legacyNotePath(slug);
  const to = notePathOf(slug);
  const note = await folder.read(from);
  if (note === undefined) return;
  if (await folder.create(to, note)) found.members.push({ slug, from, to });
  else
    found.left.push({
      file: from,
      why: `${to} already exists`,
      hint: "Remove the old note once nothing in it is missing in the new one.",
    });
  await folder.create(tasksPathOf(slug), "");
}

async function readMembers(folder: TeamFolder): Promise<Map<string, MemberNote>> {
  const members = new Map<string, MemberNote>();
  for (const slug of namesIn(folder, "agents")) {
    if (!/^[a-z0-9-]+$/.test(slug)) continue;
    const note = await folder.read(notePathOf(slug));
    if (note !== undefined) members.set(slug, readNote(note));
  }
  return members;
}

/** The members named in the project's notes (`Agent: billing-dev at …`), else those who list the project. */
function ownersOf(
  project: string,
  notes: readonly string[],
  members: ReadonlyMap<string, MemberNote>,
): string[] {
  const named = notes.flatMap((note) => /^Agent:\s*([a-z0-9-]+)/i.exec(note)?.[1]?.toLowerCase() ?? []);
  const known = named.filter((slug) => members.has(slug));
  if (known.length > 0) return [...new Set(known)];
  return [...members].flatMap(([slug, { projects }]) => (projects.includes(project) ? [slug] : []));
}

async function importTask(
  folder: TeamFolder,
  given: { entry: QueuedTask; from: string; owners: readonly string[]; stamp: string; found: Import },
): Promise<void> {
  const { entry, from, owners, found } = given;
  const leave = (why: string, hint: string): void => {
    found.left.push({
      file: from,
      why: `the task ${JSON.stringify(entry.title || entry.time)} ${why}`,
      hint,
    });
  };
  if (entry.status === "done") return leave("is done", "It stays in the project note as history.");
  if (entry.title === "") return leave("has no title", "Add one after **Task:**, and import again.");
  if (entry.title.length > MAX_TITLE_LENGTH)
    return leave(`has a title of ${entry.title.length} characters`, "Shorten it, and import again.");
  if (entry.status !== "ready" && entry.status !== "in-progress")
    return leave(
      `has the status ${JSON.stringify(entry.status)}`,
      "Set it to ready or in-progress, and import again.",
    );
  const [slug] = owners;
  if (slug === undefined || owners.length > 1) {
    const who = slug === undefined ? "belongs to no member" : `may belong to ${owners.join(" or ")}`;
    return leave(who, "Add `- Agent: <slug>` below ## Notes of the project, and import again.");
  }
  const path = tasksPathOf(slug);
  // Identifies the task when importing again.
  const origin = `Imported from ${from}, ${entry.time}.`;
  const isIt = (task: Task): boolean => task.title === entry.title && task.body.includes(origin);
  const body = entry.scope === "" ? origin : `${entry.scope}\n\n${origin}`;
  const add: TaskEdit = { kind: "add", title: entry.title, body };
  await folder.create(path, ""); // a member may have no task file yet
  const { changed } = await folder.editFrom(path, (text) =>
    readTasks(text).tasks.some(isIt) ? undefined : { file: "tasks", edit: add },
  );
  if (changed) found.tasks.push({ slug, title: entry.title, from });
  if (entry.status === "ready") return;
  const started = isStamp(entry.time) ? entry.time : given.stamp;
  await folder.editFrom(path, (text) => {
    const task = readTasks(text).tasks.find((each) => isIt(each) && each.status === "ready");
    if (task === undefined) return undefined;
    const { title, ordinal } = task;
    return { file: "tasks", edit: { kind: "claim", task: { title, ordinal }, stamp: started } };
  });
}

interface QueuedTask {
  /** Its heading, a time as written. */
  readonly time: string;
  readonly title: string;
  readonly scope: string;
  readonly status: string;
}

/** The old task format: entries below `## Work Queue` of a project note, each with a time as its heading. */
function readWorkQueue(sections: readonly NoteSection[]): QueuedTask[] {
  const text = findSection(sections, "Work Queue")?.text ?? "";
  const [, ...parts] = `\n${text.replaceAll("\r\n", "\n")}`.split(/\n(?=###[ \t])/);
  return withOwnHeadings(parts).map((entry) => {
    const [time = "", ...lines] = entry.split("\n");
    const rest = lines.join("\n");
    return {
      time: time.slice(3).trim(),
      title: valueOf(rest, "Task").replaceAll(/\s+/g, " "),
      scope: valueOf(rest, "Scope"),
      status: valueOf(rest, "Status").split("\n", 1).join("").trim().toLowerCase(),
    };
  });
}

/** A heading that is not a time and has no task below it is part of the entry above. */
function withOwnHeadings(parts: readonly string[]): string[] {
  const entries: string[] = [];
  for (const part of parts) {
    const isEntry = /^###[ \t]+\d{4}-\d\d-\d\d/.test(part) || /^\*\*Task:\*\*/m.test(part);
    if (isEntry || entries.length === 0) entries.push(part);
    else entries.push(`${entries.pop()}\n${part}`);
  }
  return entries;
}

/** The text from a name to the next name. */
function valueOf(text: string, name: string): string {
  const start = new RegExp(String.raw`^\*\*${name}:\*\*`, "m").exec(text);
  if (start === null) return "";
  const value = text.slice(start.index + start[0].length);
  return value.slice(0, /^\*\*\w+:\*\*/m.exec(value)?.index).trim();
}
