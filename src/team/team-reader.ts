/**
 * Reads the whole of a team directory. What is odd in it is reported and never in the way: one broken file costs
 * one member at most.
 */
import { type Dirent, lstatSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

import { isConflictCopy } from "./conflict-copies.ts";
import { livenessOf } from "./liveness.ts";
import { codeOf, FolderCache, isInside, ReadCache, type ReadFile } from "./read-cache.ts";
import { type MemberNote, readNote } from "./read-note.ts";
import { type ProjectNote, readProject } from "./read-project.ts";
import { readTasks } from "./read-tasks.ts";
import { toSlug } from "./slug.ts";
import { stampMs } from "./stamp.ts";
import type { FileProblem, TaskFile } from "./task.ts";
import {
  conflictCopy,
  folderUnreadable,
  linkOutside,
  noteMissing,
  slugOdd,
  tasksMissing,
  tickAhead,
} from "./team-problems.ts";
import {
  COORDINATOR,
  inOrder,
  MANAGED_RUNTIME,
  type Member,
  type Project,
  type TaskCounts,
  type Team,
  type TeamProblem,
} from "./team.ts";

export interface TeamReaderParts {
  readonly root: string;
  readonly clock: () => number;
  readonly timezone: string;
  readonly heartbeatMinutes: number;
}

/** Files are read without a pause between them, which is much the fastest; after so many folders others get their turn. */
const FOLDERS_AT_ONCE = 32;

/** What of a task file does not change with the time. */
interface ReadTasks {
  readonly file: TaskFile;
  readonly counts: TaskCounts;
  readonly tickMs: number | undefined;
}

export class TeamReader {
  readonly #parts: TeamReaderParts;
  readonly #folders: FolderCache;
  readonly #notes: ReadCache<MemberNote>;
  readonly #tasks: ReadCache<ReadTasks>;
  readonly #projects: ReadCache<ProjectNote>;

  constructor(parts: TeamReaderParts) {
    const { root, clock, timezone } = parts;
    this.#parts = parts;
    this.#folders = new FolderCache({ root, clock });
    this.#notes = new ReadCache({ root, clock, parse: readNote });
    this.#tasks = new ReadCache({ root, clock, parse: (text) => summarise(readTasks(text), timezone) });
    this.#projects = new ReadCache({ root, clock, parse: readProject });
  }

  /** How often a file had to be read so far. */
  get reads(): number {
    return this.#notes.reads + this.#tasks.reads + this.#projects.reads;
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
    const entries = this.#listTop("agents", problems);
    for (const [index, entry] of entries.entries()) {
      if (index % FOLDERS_AT_ONCE === FOLDERS_AT_ONCE - 1) await setImmediate();
      const member = this.#readMember(entry, nowMs, problems);
      if (member !== undefined) members.push(member);
    }
    this.#folders.keepOnly(new Set(["agents", "projects", ...entries.map(({ name }) => `agents/${name}`)]));
    this.#notes.keepOnly(new Set(members.map(({ notePath }) => notePath)));
    this.#tasks.keepOnly(new Set(members.map(({ tasksPath }) => tasksPath)));
    return members;
  }

  #readMember(entry: Dirent, nowMs: number, problems: TeamProblem[]): Member | undefined {
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
    const member = this.#assemble({ slug, notePath, tasksPath, note, tasks, nowMs });
    if (member.liveness.state === "fresh" && member.liveness.isAhead) problems.push(tickAhead(member));
    return member;
  }

  #assemble(read: {
    readonly slug: string;
    readonly notePath: string;
    readonly tasksPath: string;
    readonly note: MemberNote;
    readonly tasks: ReadTasks;
    readonly nowMs: number;
  }): Member {
    const { slug, notePath, tasksPath, note, nowMs } = read;
    const { file: tasks, counts, tickMs } = read.tasks;
    const isInactive = note.status === "inactive";
    const hasActive = counts.ready + counts.inProgress > 0;
    const { heartbeatMinutes } = this.#parts;
    return {
      slug,
      notePath,
      tasksPath,
      note,
      tasks,
      isCoordinator: slug === COORDINATOR,
      isManaged: note.runtime === MANAGED_RUNTIME,
      isInactive,
      counts,
      tickMs,
      liveness: livenessOf({ tickMs, hasActive, nowMs, heartbeatMinutes, isInactive }),
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
      if (isInside(realpathSync(this.#parts.root), realpathSync(full))) return statSync(full).isDirectory();
    } catch {
      return false; // It leads nowhere.
    }
    problems.push(linkOutside(link));
    return false;
  }
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
