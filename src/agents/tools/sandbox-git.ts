/**
 * Protects those files of a repository that decide which programs git runs: the owner also runs git there, outside the
 * sandbox. Objects, refs and the index stay writable, so that an agent can commit.
 *
 * Each protected file is mounted over itself, read-only. A mount point cannot be renamed or removed. Its parent folders are
 * mounted, too: otherwise a command could move the whole repository aside and create another one. Missing files are first
 * created empty, which means the same to git. The exception is `commondir`, which redirects the configuration: if a command
 * creates one, it is removed after the command has ended.
 */
import { lstat, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { gitDirectoryOf, isGitDirectory, isGitName, wasGitDirectory } from "../../programs/git-directory.ts";
import { isInside } from "./confine.ts";
import type { ControlledFolders } from "./control-file.ts";
import {
  findControlFiles,
  findLinks,
  makePlaceholders,
  removePlaceholders,
  restoreLinks,
} from "./sandbox-control.ts";
import { hasCode } from "../../model/error-code.ts";

interface GuardedFolders {
  /** All without links. */
  readonly writable: readonly string[];
  /** Folders that are mounted differently, or hidden. */
  readonly closed: readonly string[];
  /** Git directories that must not be changed. */
  readonly readOnly: readonly string[];
  /** In a session with text from others: files of people that must not be changed either. */
  readonly control?: GuardedControl | undefined;
}

export interface GuardedControl {
  /** Without links. */
  readonly workspace: string;
  readonly folders: ControlledFolders;
}

/** Dispose of it when the command has ended. */
interface GitGuard extends AsyncDisposable {
  readonly mounts: readonly Mount[];
}

/** The bounds of the search for repositories, by depth and by number of folders. Beyond them, repositories are unprotected. */
export const MAX_REPOSITORY_DEPTH = 4;
export const MAX_SEARCHED_FOLDERS = 1_000;

/** Repositories in there are not worked on, and it has many folders. */
const PASSED_OVER = "node_modules";

type BindMode = "--bind" | "--ro-bind";

/** A command that may be running: its writable folders, and the paths that it cannot move. */
interface RunningCommand {
  readonly roots: readonly string[];
  readonly held: ReadonlyMap<string, BindMode>;
  /** Each `commondir` that must not exist after it has ended. */
  readonly unwanted: readonly string[];
  /** The control files that it cannot change. Undefined: it may change any. */
  readonly control: readonly string[] | undefined;
}

/**
 * A concurrent command could replace a mount point by a link, and then the target of the link would be mounted. So in
 * folders that another command can write to, we only guard paths that it cannot move either. Commands are prepared one at
 * a time.
 */
const running = new Set<RunningCommand>();
let preparing: Promise<unknown> = Promise.resolve();

export async function guardGit(wanted: GuardedFolders): Promise<GitGuard> {
  const mine = preparing.then(() => prepare(wanted));
  preparing = mine.catch(() => {});
  return mine;
}

async function prepare(wanted: GuardedFolders): Promise<GitGuard> {
  const others = [...running].filter(({ roots }) =>
    roots.some((theirs) => wanted.writable.some((ours) => isInside(ours, theirs) || isInside(theirs, ours))),
  );
  const theirs = others.flatMap(({ roots }) => roots);
  const guarding = new Guarding({ ...wanted, closed: [...wanted.closed, ...theirs] });
  for (const root of wanted.writable) {
    await guarding.guardRoot(root, { isOurs: !theirs.some((other) => isInside(root, other)) });
    for (const [path, how] of heldByAll(others)) if (isInside(path, root)) guarding.hold(path, how, root);
  }
  const { held, unwanted } = guarding;
  unwanted.push(...others.flatMap((other) => other.unwanted).filter((path) => held.has(dirname(path))));
  const control = await findControl(wanted, others);
  for (const path of control ?? []) {
    const root = wanted.writable.find((each) => isInside(path, each));
    if (root !== undefined) guarding.hold(path, "--ro-bind", root);
  }
  const links = wanted.control === undefined ? undefined : await findLinks(wanted.control.workspace);
  const own: RunningCommand = { roots: wanted.writable, held, unwanted, control };
  running.add(own);
  return {
    mounts: Array.from(held, ([at, how]) => ({ at, words: [how, at, at] })),
    async [Symbol.asyncDispose]() {
      running.delete(own);
      await Promise.all(unwanted.map((path) => rm(path, { recursive: true, force: true })));
      if (links !== undefined) await restoreLinks(links);
      // After a command that is being prepared now: it may need them, too.
      const earlier = preparing;
      const clean = async (): Promise<void> => {
        await earlier;
        const needed = new Set([...running].flatMap((other) => other.control ?? []));
        await removePlaceholders((control ?? []).filter((path) => !needed.has(path)));
      };
      const cleaned = clean();
      preparing = cleaned.catch(() => {});
      await cleaned;
    },
  };
}

/**
 * What the command must not change of people's files. Where another command of a session with text from others runs,
 * only paths that this one cannot move either. Commands of the owner's own sessions are trusted not to move any.
 */
async function findControl(
  { writable, closed, control }: GuardedFolders,
  others: readonly RunningCommand[],
): Promise<readonly string[] | undefined> {
  if (control === undefined) return undefined;
  const suspect = others.filter((other) => other.control !== undefined);
  const theirs = suspect.flatMap(({ roots }) => roots);
  const isTheirs = (path: string): boolean => theirs.some((other) => isInside(path, other));
  const free = writable.filter((root) => !isTheirs(root));
  if (free.some((root) => isInside(control.workspace, root)) && !isTheirs(control.workspace))
    await makePlaceholders(control.workspace);
  const found = await Promise.all(
    free.map((root) => findControlFiles(root, control.folders, [...closed, ...theirs])),
  );
  const inherited = suspect
    .flatMap((other) => other.control ?? [])
    .filter((path) =>
      suspect.every((other) => other.held.has(path) || !other.roots.some((root) => isInside(path, root))),
    );
  return [...new Set([...found.flat(), ...inherited])];
}

/** The paths that are held by every command that can reach them. */
function heldByAll(others: readonly RunningCommand[]): [path: string, how: BindMode][] {
  return others
    .flatMap(({ held }) => [...held])
    .filter(([path]) =>
      others.every(({ roots, held }) => held.has(path) || !roots.some((root) => isInside(path, root))),
    );
}

class Guarding {
  readonly held = new Map<string, BindMode>();
  readonly unwanted: string[] = [];
  readonly #wanted: GuardedFolders;
  #left = MAX_SEARCHED_FOLDERS;

  constructor(wanted: GuardedFolders) {
    this.#wanted = wanted;
  }

  /** `isOurs`: no other command can write to it. */
  async guardRoot(root: string, { isOurs }: { readonly isOurs: boolean }): Promise<void> {
    const around = gitDirectoryOf(join(root, "a file"));
    if (around !== undefined && around !== root) this.hold(root, "--ro-bind", root); // inside a git directory
    else if (isOurs && around === root) await this.#guardFolder(root, root, isLinkedTree(root));
    else if (isOurs) await this.#search(root, root);
  }

  /** Breadth-first, so that the limit cuts off the deepest folders. */
  async #search(start: string, root: string): Promise<void> {
    let level = [start];
    for (let depth = 0; depth <= MAX_REPOSITORY_DEPTH && level.length > 0; depth++) {
      const next: string[] = [];
      for (const folder of level) {
        if (this.#left-- <= 0) return;
        const isRepository = isGitDirectory(folder) || wasGitDirectory(folder);
        if (folder !== root && isRepository) await this.#guardFolder(folder, root);
        else next.push(...(await this.#enter(folder, root)));
      }
      level = next;
    }
  }

  /** Guards git's entries in a folder, and returns the subfolders to search. */
  async #enter(folder: string, root: string): Promise<string[]> {
    const further: string[] = [];
    for (const entry of await entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (this.#wanted.closed.includes(path)) continue;
      if (isGitName(entry.name)) {
        if (entry.isDirectory()) await this.#guardFolder(path, root);
        else if (entry.isFile()) this.hold(path, "--ro-bind", root); // it points to the git directory
      } else if (entry.isDirectory() && entry.name !== PASSED_OVER) further.push(path);
    }
    return further;
  }

  /** `isLinked`: the git directory of a linked work tree, whose configuration is in the main one. */
  async #guardFolder(folder: string, root: string, isLinked = false): Promise<void> {
    const isClosed = this.#wanted.readOnly.some((closed) => isInside(folder, closed));
    const isWhole = isClosed || (await this.#isOdd(folder, isLinked));
    this.hold(folder, isWhole ? "--ro-bind" : "--bind", root);
    if (isWhole) return;
    if (!isLinked) {
      this.unwanted.push(join(folder, "commondir"));
      for (const name of ["info", "hooks"]) await makeFolder(join(folder, name));
    }
    for (const name of isLinked ? ["config.worktree"] : FILES) await makeFile(join(folder, name));
    for (const name of [...FILES, "hooks", "commondir", "gitdir"])
      await this.#holdThere(join(folder, name), root);
    for (const tree of await entriesOf(join(folder, "worktrees")))
      if (tree.isDirectory()) await this.#guardFolder(join(folder, "worktrees", tree.name), root, true);
    await this.#search(join(folder, "modules"), root);
  }

  /** Links cannot be held, and a main repository with a `commondir` was tampered with. */
  async #isOdd(folder: string, isLinked: boolean): Promise<boolean> {
    const kinds = await Promise.all(
      [...FILES, "info", "hooks", "modules", "worktrees"].map((name) => kindOf(join(folder, name))),
    );
    if (kinds.includes("link")) return true;
    return !isLinked && (await kindOf(join(folder, "commondir"))) !== undefined;
  }

  async #holdThere(path: string, root: string): Promise<void> {
    if ((await kindOf(path)) !== undefined) this.hold(path, "--ro-bind", root);
  }

  /** Holds a path and its parents, up to the folder that is mounted anyway. */
  hold(path: string, how: BindMode, root: string): void {
    for (let above = dirname(path); above !== root && isInside(above, root); above = dirname(above))
      if (!this.held.has(above)) this.held.set(above, "--bind");
    if (this.held.get(path) !== "--ro-bind") this.held.set(path, how);
  }
}

const FILES = ["config", "config.worktree", "info/attributes"];

/** `.git/worktrees/<name>`. */
function isLinkedTree(folder: string): boolean {
  const above = dirname(folder);
  return basename(above) === "worktrees" && isGitDirectory(dirname(above));
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR", "EACCES")) return [];
    throw error;
  }
}

async function kindOf(path: string): Promise<"link" | "other" | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? "link" : "other";
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR", "EACCES")) return undefined;
    throw error;
  }
}

/** If this fails, the command cannot create it either. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch(() => {});
}

async function makeFile(path: string): Promise<void> {
  await writeFile(path, "", { flag: "wx" }).catch(() => {});
}

/** A path in the sandbox. */
export interface Mount {
  readonly at: string;
  /** Arguments for bubblewrap. */
  readonly words: readonly string[];
  /** Created for the sandbox, regardless of the agent's folders. */
  readonly isFresh?: true;
}
