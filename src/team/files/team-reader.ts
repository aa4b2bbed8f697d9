/**
 * Reads a whole team directory. Problems are reported and stop nothing: a broken file affects one member at most.
 */
import { type Dirent, lstatSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

import { expandPath } from "../../config/team-config.ts";
import { codeOf, hasCode } from "../../model/error-code.ts";
import { isWithin } from "./confine.ts";
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
import { FolderCache, ReadCache, type ReadFile } from "./read-cache.ts";
import { type MemberNote, readNote, type ProjectNote, readProject } from "../markdown/read-note.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import { REMOVED_FILE } from "./set-aside.ts";
import { slugOf } from "../markdown/slug.ts";
import { stampMs } from "../markdown/stamp.ts";
import { externalPathOf, type FileProblem, isActive, type TaskFile } from "../markdown/task.ts";
import {
  COORDINATOR,
  inOrder,
  type TeamMember,
  type Project,
  type TaskCounts,
  type Team,
  type TeamProblem,
} from "./team.ts";

interface TeamReaderOptions {
  readonly root: string;
  readonly clock: () => number;
  readonly timezone: string;
  readonly heartbeatMinutes: number;
  /** Whether Cortex runs members whose notes name no runtime, even in a directory that it did not create. */
  readonly adopts?: boolean;
  /** The user's home folder, for paths that begin with `~`. */
  readonly user?: string | undefined;
}

/** Folders are read synchronously, which is much faster; after this many, other work gets a turn. */
const FOLDERS_AT_ONCE = 32;
/** Of vanished tasks to list. The total is always shown. */
const MAX_TITLES = 5;

/** A task file with what follows from it alone, whatever the time. */
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
  readonly #options: TeamReaderOptions;
  readonly #folders: FolderCache;
  readonly #notes: ReadCache<MemberNote>;
  readonly #tasks: ReadCache<ReadTasks>;
  readonly #removed: ReadCache<TaskFile>;
  readonly #projects: ReadCache<ProjectNote>;

  constructor(options: TeamReaderOptions) {
    const { root, clock, timezone } = options;
    this.#options = options;
    this.#folders = new FolderCache({ root, clock });
    this.#notes = new ReadCache({ root, clock, parse: readNote });
    this.#tasks = new ReadCache({ root, clock, parse: (text) => summarize(readTasks(text), timezone) });
    this.#removed = new ReadCache({ root, clock, parse: readTasks });
    this.#projects = new ReadCache({ root, clock, parse: readProject });
  }

  /** How often a file was read from disk so far. */
  get reads(): number {
    return this.#notes.reads + this.#tasks.reads + this.#removed.reads + this.#projects.reads;
  }

  /** A missing directory is a team without members. */
  async read(): Promise<Team> {
    const { root, clock, timezone } = this.#options;
    const nowMs = clock();
    const problems: TeamProblem[] = [];
    const members = await this.#readMembers(nowMs, problems);
    const projects = this.#readProjects(problems);
    return { root, atMs: nowMs, timezone, members, projects, problems: inOrder(problems) };
  }

  async #readMembers(nowMs: number, problems: TeamProblem[]): Promise<TeamMember[]> {
    const members: TeamMember[] = [];
    const adopts = this.#options.adopts === true || isMarkedAsOurs(this.#options.root);
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
  ): TeamMember | undefined {
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
      // In an unreadable folder, whether the note is missing is unknown.
      if (noteFile.kind === "missing" && !others.includes(`${slug}.md`))
        problems.push(noteMissing(folder, slug, others));
      return undefined;
    }
    const better = slugOf(slug);
    if (better !== slug) problems.push(slugOdd(folder, slug, better));
    const tasksPath = `${folder}/tasks.md`;
    const readFile = this.#tasks.read(tasksPath);
    if (readFile.kind === "missing") problems.push(tasksMissing(tasksPath));
    const tasks = take(tasksPath, readFile, problems, ({ file }) => file.problems) ?? NO_TASKS;
    const read = { ...now, slug, notePath, tasksPath, note, tasks };
    const notices = [...this.#removedTasks(slug, names, problems), ...this.#lostFiles(read, problems)];
    const member = this.#assemble(read, notices);
    const { liveness } = member;
    const { tick } = tasks.file;
    if (tick !== undefined && liveness.state === "fresh" && liveness.isAhead)
      problems.push(tickAhead(tasksPath, tick));
    return member;
  }

  /** Tasks that vanished from the task file and were set aside. */
  #removedTasks(slug: string, names: readonly Dirent[], problems: TeamProblem[]): string[] {
    if (!names.some(({ name }) => name === REMOVED_FILE)) return [];
    const path = removedPath(slug);
    const removed = take(path, this.#removed.read(path), problems, () => [])?.tasks ?? [];
    for (const { line, title } of removed) problems.push(taskRemoved({ file: path, line }, title));
    if (removed.length === 0) return [];
    const titles = removed.slice(0, MAX_TITLES).map(({ title }) => JSON.stringify(title));
    const more = removed.length - titles.length;
    const all = `${titles.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
    return [
      `Removed from tasks.md, and no longer worked on: ${all}. Move them back or delete them in ${path}.`,
    ];
  }

  /** Tasks whose external task file gives no progress. */
  #lostFiles({ note, tasks, tasksPath }: MemberRead, problems: TeamProblem[]): string[] {
    const { root, user = root } = this.#options;
    return tasks.file.tasks.filter(isActive).flatMap((task) => {
      const path = externalPathOf(task);
      if (path === undefined) return [];
      const project = expandPath(note.project ?? "", { user, from: root });
      const external = lookAtExternal({ path, project, home: user });
      const why = whyUseless(external);
      if (why === undefined) return [];
      problems.push(externalUseless({ file: tasksPath, line: task.line }, external.kind, why));
      return [`${JSON.stringify(task.title)} is waiting: ${why}.`];
    });
  }

  #assemble(read: MemberRead, notices: readonly string[]): TeamMember {
    const { slug, notePath, tasksPath, note, nowMs } = read;
    const { file: tasks, counts, tickMs } = read.tasks;
    const isInactive = note.status === "inactive";
    const isManaged = isManagedNote(note, read.adopts);
    const hasActive = counts.ready + counts.inProgress > 0;
    const { heartbeatMinutes } = this.#options;
    const liveness = livenessOf({ tickMs, hasActive, nowMs, heartbeatMinutes, isInactive });
    const isCoordinator = slug === COORDINATOR;
    // A fresh tick means that another program runs the member. A coordinator has work even without tasks.
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
      notices: [...(isWaitedFor ? [whyForeign(slug, note)] : []), ...notices],
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
      if (!hasCode(cause, "ENOENT")) problems.push(folderUnreadable(folder, codeOf(cause) ?? String(cause)));
      return [];
    }
  }

  #listTop(folder: string, problems: TeamProblem[]): readonly Dirent[] {
    const link = lstatSync(join(this.#options.root, folder), { throwIfNoEntry: false })?.isSymbolicLink();
    return link === true && !this.#leadsInside(folder, problems) ? [] : this.#list(folder, problems);
  }

  /** A link to a folder of the team counts; a file, such as a README, is ignored. */
  #isFolder(entry: Dirent, folder: string, problems: TeamProblem[]): boolean {
    return entry.isSymbolicLink() ? this.#leadsInside(folder, problems) : entry.isDirectory();
  }

  #leadsInside(link: string, problems: TeamProblem[]): boolean {
    const full = join(this.#options.root, link);
    try {
      if (isWithin(realpathSync(this.#options.root), realpathSync(full))) return statSync(full).isDirectory();
    } catch {
      return false; // dangling
    }
    problems.push(linkOutside(link));
    return false;
  }
}

function removedPath(slug: string): string {
  return `agents/${slug}/${REMOVED_FILE}`;
}

function summarize(file: TaskFile, timezone: string): ReadTasks {
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

/** The value of a readable file. Reports all its problems. */
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
