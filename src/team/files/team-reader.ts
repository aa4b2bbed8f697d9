/**
 * Reads the whole of a team directory. What is odd in it is reported and never in the way: one broken file costs
 * one member at most.
 */
import { type Dirent, lstatSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

import { expandPath } from "../../config/team-config.ts";
import { isManagedNote, isMarkedAsOurs, whyForeign } from "./adoption.ts";
import {
  isConflictCopy,
  conflictCopy,
  externalUseless,
  folderUnreadable,
  linkOutside,
  noteMissing,
  slugOdd,
  taskRemoved,
  tasksMissing,
  tickAhead,
} from "./team-problems.ts";
import { lookAtExternal, whyUseless } from "./external.ts";
import { livenessOf } from "./liveness.ts";
import { codeOf, FolderCache, isWithin, ReadCache, type ReadFile } from "./read-cache.ts";
import { type MemberNote, readNote } from "../markdown/read-note.ts";
import { type ProjectNote, readProject } from "../markdown/read-project.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import { REMOVED_FILE } from "./set-aside.ts";
import { toSlug } from "../markdown/slug.ts";
import { stampMs } from "../markdown/stamp.ts";
import { externalPathOf, type FileProblem, isActive, type TaskFile } from "../markdown/task.ts";
import {
  COORDINATOR,
  inOrder,
  type Member,
  type Project,
  type TaskCounts,
  type Team,
  type TeamProblem,
} from "./team.ts";

export interface TeamReaderOptions {
  readonly root: string;
  readonly clock: () => number;
  readonly timezone: string;
  readonly heartbeatMinutes: number;
  /** Whether notes that do not say who runs them belong to Cortex, also where it did not make the directory. */
  readonly adopts?: boolean;
  /** The user's own folder, for paths that begin with `~`. */
  readonly user?: string | undefined;
}

/** Files are read without a pause between them, which is much the fastest; after so many folders others get their turn. */
const FOLDERS_AT_ONCE = 32;
/** Of tasks that vanished. How many there are is always said. */
const MAX_TITLES = 5;

/** What of a task file does not change with the time. */
interface ReadTasks {
  readonly file: TaskFile;
  readonly counts: TaskCounts;
  readonly tickMs: number | undefined;
}

interface MemberRead {
  readonly slug: string;
  readonly notePath: string;
  readonly tasksPath: string;
  readonly note: MemberNote;
  readonly tasks: ReadTasks;
  readonly nowMs: number;
  readonly adopts: boolean;
}

export class TeamReader {
  readonly #parts: TeamReaderOptions;
  readonly #folders: FolderCache;
  readonly #notes: ReadCache<MemberNote>;
  readonly #tasks: ReadCache<ReadTasks>;
  readonly #removed: ReadCache<TaskFile>;
  readonly #projects: ReadCache<ProjectNote>;

  constructor(parts: TeamReaderOptions) {
    const { root, clock, timezone } = parts;
    this.#parts = parts;
    this.#folders = new FolderCache({ root, clock });
    this.#notes = new ReadCache({ root, clock, parse: readNote });
    this.#tasks = new ReadCache({ root, clock, parse: (text) => summarise(readTasks(text), timezone) });
    this.#removed = new ReadCache({ root, clock, parse: readTasks });
    this.#projects = new ReadCache({ root, clock, parse: readProject });
  }

  /** How often a file had to be read so far. */
  get reads(): number {
    return this.#notes.reads + this.#tasks.reads + this.#removed.reads + this.#projects.reads;
  }

  /** A directory that is not there is a team of nobody. */
  async read(): Promise<Team> {
    const { root, clock, timezone } = this.#parts;
    const nowMs = clock();
    const problems: TeamProblem[] = [];
    const members = await this.#readMembers(nowMs, problems);
    const projects = this.#readProjects(problems);
    return { root, atMs: nowMs, timezone, members, projects, problems: inOrder(problems) };
  }

  async #readMembers(nowMs: number, problems: TeamProblem[]): Promise<Member[]> {
    const members: Member[] = [];
    const adopts = this.#parts.adopts === true || isMarkedAsOurs(this.#parts.root);
    const entries = this.#listTop("agents", problems);
    for (const [index, entry] of entries.entries()) {
      if (index % FOLDERS_AT_ONCE === FOLDERS_AT_ONCE - 1) await setImmediate();
      const member = this.#readMember(entry, { nowMs, adopts }, problems);
      if (member !== undefined) members.push(member);
    }
    this.#folders.keepOnly(new Set(["agents", "projects", ...entries.map(({ name }) => `agents/${name}`)]));
    this.#notes.keepOnly(new Set(members.map(({ notePath }) => notePath)));
    this.#tasks.keepOnly(new Set(members.map(({ tasksPath }) => tasksPath)));
    this.#removed.keepOnly(new Set(members.map(({ slug }) => removedPath(slug))));
    return members;
  }

  #readMember(
    entry: Dirent,
    now: { readonly nowMs: number; readonly adopts: boolean },
    problems: TeamProblem[],
  ): Member | undefined {
    const slug = entry.name;
    const folder = `agents/${slug}`;
    if (isConflictCopy(slug)) {
      problems.push(conflictCopy(folder));
      return undefined;
    }
    if (!this.#isFolder(entry, folder, problems)) return undefined;
    const names = this.#list(folder, problems);
    for (const { name } of names) if (isConflictCopy(name)) problems.push(conflictCopy(`${folder}/${name}`));

    const notePath = `${folder}/${slug}.md`;
    const noteFile = this.#notes.read(notePath);
    const note = take(notePath, noteFile, problems, (value) => value.problems);
    if (note === undefined) {
      const others = names.map(({ name }) => name);
      // Of a folder that may not be looked into, nobody knows what is missing.
      if (noteFile.kind === "missing" && !others.includes(`${slug}.md`))
        problems.push(noteMissing(folder, slug, others));
      return undefined;
    }
    if (slugOf(slug) !== slug) problems.push(slugOdd(folder, slug, slugOf(slug)));
    const tasksPath = `${folder}/tasks.md`;
    const readFile = this.#tasks.read(tasksPath);
    if (readFile.kind === "missing") problems.push(tasksMissing(tasksPath));
    const tasks = take(tasksPath, readFile, problems, ({ file }) => file.problems) ?? NO_TASKS;
    const read = { ...now, slug, notePath, tasksPath, note, tasks };
    const told = [...this.#removedTasks(slug, names, problems), ...this.#lostFiles(read, problems)];
    const member = this.#assemble({ ...read, told });
    if (member.liveness.state === "fresh" && member.liveness.isAhead) problems.push(tickAhead(member));
    return member;
  }

  /** What vanished from its task file, and is kept beside it. */
  #removedTasks(slug: string, names: readonly Dirent[], problems: TeamProblem[]): string[] {
    if (!names.some(({ name }) => name === REMOVED_FILE)) return [];
    const path = removedPath(slug);
    const removed = take(path, this.#removed.read(path), problems, () => [])?.tasks ?? [];
    for (const { line, title } of removed) problems.push(taskRemoved({ file: path, line }, title));
    if (removed.length === 0) return [];
    const titles = removed.slice(0, MAX_TITLES).map(({ title }) => JSON.stringify(title));
    const more = removed.length - titles.length;
    const all = `${titles.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
    return [`Removed from tasks.md, and not worked on: ${all}. Move back or delete what is in ${path}.`];
  }

  /** Task files of other runners that tasks stand for, and that are of no use. */
  #lostFiles({ note, tasks, tasksPath }: MemberRead, problems: TeamProblem[]): string[] {
    const { root, user = root } = this.#parts;
    return tasks.file.tasks.filter(isActive).flatMap((task) => {
      const path = externalPathOf(task);
      if (path === undefined) return [];
      const project = expandPath(note.project ?? "", { user, from: root });
      const external = lookAtExternal({ path, project, home: user });
      const why = whyUseless(external);
      if (why === undefined) return [];
      problems.push(externalUseless({ file: tasksPath, line: task.line }, external.kind, why));
      return [`${JSON.stringify(task.title)} waits: ${why}.`];
    });
  }

  #assemble(read: MemberRead & { readonly told: readonly string[] }): Member {
    const { slug, notePath, tasksPath, note, nowMs, told } = read;
    const { file: tasks, counts, tickMs } = read.tasks;
    const isInactive = note.status === "inactive";
    const isManaged = isManagedNote(note, read.adopts);
    const hasActive = counts.ready + counts.inProgress > 0;
    const { heartbeatMinutes } = this.#parts;
    const liveness = livenessOf({ tickMs, hasActive, nowMs, heartbeatMinutes, isInactive });
    const isCoordinator = slug === COORDINATOR;
    // Somebody who ticks is run by others, and that is well. A coordinator has something to do without any task.
    const hasWork = hasActive || (isCoordinator && note.runtime === undefined);
    const isWaitedFor = hasWork && !isManaged && !isInactive && liveness.state !== "fresh";
    return {
      slug,
      notePath,
      tasksPath,
      note,
      tasks,
      isCoordinator,
      isManaged,
      isInactive,
      isWaitedFor,
      counts,
      tickMs,
      liveness,
      notices: [...(isWaitedFor ? [whyForeign(slug, note)] : []), ...told],
    };
  }

  #readProjects(problems: TeamProblem[]): Project[] {
    const projects: Project[] = [];
    for (const { name } of this.#listTop("projects", problems)) {
      const path = `projects/${name}`;
      if (isConflictCopy(name)) problems.push(conflictCopy(path));
      else if (name.endsWith(".md")) {
        const note = take(path, this.#projects.read(path), problems, (value) => value.problems);
        if (note !== undefined) projects.push({ slug: name.slice(0, -".md".length), path, note });
      }
    }
    this.#projects.keepOnly(new Set(projects.map(({ path }) => path)));
    return projects;
  }

  #list(folder: string, problems: TeamProblem[]): readonly Dirent[] {
    try {
      return this.#folders.list(folder);
    } catch (cause) {
      const code = codeOf(cause);
      if (code !== "ENOENT") problems.push(folderUnreadable(folder, code));
      return [];
    }
  }

  #listTop(folder: string, problems: TeamProblem[]): readonly Dirent[] {
    const link = lstatSync(join(this.#parts.root, folder), { throwIfNoEntry: false })?.isSymbolicLink();
    return link === true && !this.#leadsInside(folder, problems) ? [] : this.#list(folder, problems);
  }

  /** A link to a folder of the team is one too; a file (a README, say) is none and nobody's fault. */
  #isFolder(entry: Dirent, folder: string, problems: TeamProblem[]): boolean {
    return entry.isSymbolicLink() ? this.#leadsInside(folder, problems) : entry.isDirectory();
  }

  #leadsInside(link: string, problems: TeamProblem[]): boolean {
    const full = join(this.#parts.root, link);
    try {
      if (isWithin(realpathSync(this.#parts.root), realpathSync(full))) return statSync(full).isDirectory();
    } catch {
      return false; // It leads nowhere.
    }
    problems.push(linkOutside(link));
    return false;
  }
}

function removedPath(slug: string): string {
  return `agents/${slug}/${REMOVED_FILE}`;
}

function summarise(file: TaskFile, timezone: string): ReadTasks {
  const counts = { ready: 0, inProgress: 0, done: 0, unknown: 0 };
  for (const { status } of file.tasks) {
    if (status === "ready") counts.ready += 1;
    else if (status === "in-progress") counts.inProgress += 1;
    else if (status === "done") counts.done += 1;
    else counts.unknown += 1;
  }
  return { file, counts, tickMs: file.tick === undefined ? undefined : stampMs(file.tick.stamp, timezone) };
}

const NO_TASKS: ReadTasks = {
  file: { tasks: [], tick: undefined, problems: [] },
  counts: { ready: 0, inProgress: 0, done: 0, unknown: 0 },
  tickMs: undefined,
};

/** The value of a file that could be read, with all problems of it reported. */
function take<Value>(
  file: string,
  readFile: ReadFile<Value>,
  problems: TeamProblem[],
  problemsOf: (value: Value) => readonly FileProblem[],
): Value | undefined {
  if (readFile.kind === "missing") return undefined;
  if (readFile.kind === "unreadable") {
    problems.push({ file, ...readFile.problem });
    return undefined;
  }
  for (const problem of problemsOf(readFile.value)) problems.push({ file, ...problem });
  return readFile.value;
}

function slugOf(name: string): string | undefined {
  try {
    return toSlug(name);
  } catch {
    return undefined; // Nothing of it is left.
  }
}
