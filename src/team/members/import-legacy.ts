/**
 * Brings a team of the first versions of the protocol up to date: notes at `agents/<slug>.md`, tasks in the project
 * notes, a `TEAM.md` in each project. It adds what the layout of today needs and removes nothing; what it could not
 * decide is told. A second time adds what is new since.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { expandPath } from "../../config/team-config.ts";
import { MAX_TITLE_LENGTH } from "../markdown/block-text.ts";
import type { TaskEdit } from "../markdown/edit.ts";
import { hasCode, unreadable } from "../files/file-failure.ts";
import { type MemberNote, readNote } from "../markdown/read-note.ts";
import { readProject } from "../markdown/read-project.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import { legacyNotePath } from "./register-member.ts";
import { isStamp } from "../markdown/stamp.ts";
import type { Task } from "../markdown/task.ts";
import type { TeamFolder } from "../files/team-folder.ts";
import { findSection, type NoteSection } from "../markdown/note-sections.ts";

export interface ImportedTeam {
  readonly members: readonly { readonly slug: string; readonly from: string; readonly to: string }[];
  readonly tasks: readonly { readonly slug: string; readonly title: string; readonly from: string }[];
  /** What stays where it is, and why. */
  readonly left: readonly { readonly file: string; readonly why: string; readonly hint: string }[];
}

type Found = { -readonly [Key in keyof ImportedTeam]: ImportedTeam[Key][number][] };

/** `stamp` is the time of tasks in progress that have none. */
export async function importLegacy(
  folder: TeamFolder,
  { user, stamp }: { user: string | undefined; stamp: string },
): Promise<ImportedTeam> {
  const found: Found = { members: [], tasks: [], left: [] };
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
    const hint = "`cortex team adapter` writes what comes after it; remove it then.";
    found.left.push({ file, why: "tells the agent the layout of before", hint });
  }
  return found;
}

/** The names of its markdown files that are slugs. Copies of conflicts are none. */
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

async function importMember(folder: TeamFolder, slug: string, found: Found): Promise<void> {
  const from = legacyNotePath(slug);
  const to = `agents/${slug}/${slug}.md`;
  const note = await folder.read(from);
  if (note === undefined) return;
  if (await folder.create(to, note)) found.members.push({ slug, from, to });
  else
    found.left.push({
      file: from,
      why: `${to} is there already`,
      hint: "Remove it when nothing in it is missing there.",
    });
  await folder.create(`agents/${slug}/tasks.md`, "");
}

async function readMembers(folder: TeamFolder): Promise<Map<string, MemberNote>> {
  const members = new Map<string, MemberNote>();
  for (const slug of namesIn(folder, "agents")) {
    if (!/^[a-z0-9-]+$/.test(slug)) continue;
    const note = await folder.read(`agents/${slug}/${slug}.md`);
    if (note !== undefined) members.set(slug, readNote(note));
  }
  return members;
}

/** As the project's notes say (`Agent: billing-dev at …`), else those who have it among their projects. */
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
  given: { entry: QueuedTask; from: string; owners: readonly string[]; stamp: string; found: Found },
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
  if (entry.title === "") return leave("has no title", "Write one after **Task:**, and import again.");
  if (entry.title.length > MAX_TITLE_LENGTH)
    return leave(`has a title of ${entry.title.length} characters`, "Shorten it, and import again.");
  if (entry.status !== "ready" && entry.status !== "in-progress")
    return leave(
      `has the status ${JSON.stringify(entry.status)}`,
      "Write ready or in-progress, and import again.",
    );
  const [slug] = owners;
  if (slug === undefined || owners.length > 1) {
    const who = slug === undefined ? "belongs to nobody" : `may belong to ${owners.join(" or ")}`;
    return leave(who, "Write `- Agent: <slug>` below ## Notes of the project, and import again.");
  }
  const path = `agents/${slug}/tasks.md`;
  // By this line it is known the next time.
  const origin = `Imported from ${from}, ${entry.time}.`;
  const isIt = (task: Task): boolean => task.title === entry.title && task.body.includes(origin);
  const body = entry.scope === "" ? origin : `${entry.scope}\n\n${origin}`;
  const add: TaskEdit = { kind: "add", title: entry.title, body };
  await folder.create(path, ""); // a member of today may have none yet
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
  /** Its heading: a time, as written. */
  readonly time: string;
  readonly title: string;
  readonly scope: string;
  readonly status: string;
}

/** The old format of tasks: entries below `## Work Queue` of a project note, each headed by its time. */
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
      status: valueOf(rest, "Status").split("\n", 1)[0]!.trim().toLowerCase(),
    };
  });
}

/** A heading that is no time, and has no task below it, belongs to what the entry above says. */
function withOwnHeadings(parts: readonly string[]): string[] {
  const entries: string[] = [];
  for (const part of parts) {
    const isEntry = /^###[ \t]+\d{4}-\d\d-\d\d/.test(part) || /^\*\*Task:\*\*/m.test(part);
    if (isEntry || entries.length === 0) entries.push(part);
    else entries.push(`${entries.pop()}\n${part}`);
  }
  return entries;
}

/** From its name to the next one. */
function valueOf(text: string, name: string): string {
  const start = new RegExp(String.raw`^\*\*${name}:\*\*`, "m").exec(text);
  if (start === null) return "";
  const value = text.slice(start.index + start[0].length);
  return value.slice(0, /^\*\*\w+:\*\*/m.exec(value)?.index).trim();
}
