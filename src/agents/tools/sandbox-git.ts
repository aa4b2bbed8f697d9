/**
 * What a command in the sandbox may not change of git: whatever decides which programs git runs, for its owner runs git
 * there too, outside. Objects, refs and the index stay as they are, so that an agent can commit.
 *
 * Each of these is mounted over itself, read-only. What is mounted cannot be renamed or removed, and nor can what is mounted
 * above it: otherwise a command could move the whole repository aside and put another one in its place. What is not there is
 * made first, empty, which means the same to git. The one file for which that is not so is `commondir`, which says that the
 * configuration is elsewhere: one that a command has made is taken away when it has ended.
 */
import { lstat, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { gitDirectoryOf, isGitDirectory, isGitName, wasGitDirectory } from "../../programs/git-directory.ts";
import { isInside } from "./confine.ts";
import { hasCode } from "../../model/error-code.ts";

interface Wanted {
  /** All without links. */
  readonly writable: readonly string[];
  /** What lies in these is seen in another way, or not at all. */
  readonly closed: readonly string[];
  /** Git directories of which nothing may be changed. */
  readonly readOnly: readonly string[];
}

/** To be disposed of when the command has ended. */
interface GitGuard extends AsyncDisposable {
  readonly mounts: readonly Mount[];
}

/** How deep repositories are looked for in a folder, and in how many folders: beyond that they are not guarded. */
export const MAX_REPOSITORY_DEPTH = 4;
export const MAX_FOLDERS_SEARCHED = 1_000;

/** Nobody works on repositories in there, and there are many folders. */
const PASSED_OVER = "node_modules";

type How = "--bind" | "--ro-bind";

/** A command that may be running: where it can write, and what it cannot move. */
interface Running {
  readonly roots: readonly string[];
  readonly held: ReadonlyMap<string, How>;
  /** Each `commondir` that must not be there when it has ended. */
  readonly unwanted: readonly string[];
}

/**
 * A command that runs at the same time could put a link where we mount, and what the link leads to would be mounted. So
 * where another one can write, only that is guarded which it cannot move either; and commands are prepared one after
 * the other.
 */
const running = new Set<Running>();
let preparing: Promise<unknown> = Promise.resolve();

export async function guardGit(wanted: Wanted): Promise<GitGuard> {
  const mine = preparing.then(() => prepare(wanted));
  preparing = mine.catch(() => {});
  return mine;
}

async function prepare(wanted: Wanted): Promise<GitGuard> {
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
  const own: Running = { roots: wanted.writable, held, unwanted };
  running.add(own);
  return {
    mounts: Array.from(held, ([at, how]) => ({ at, words: [how, at, at] })),
    async [Symbol.asyncDispose]() {
      running.delete(own);
      await Promise.all(unwanted.map((path) => rm(path, { recursive: true, force: true })));
    },
  };
}

/** What each of them holds, of those that can reach it. */
function heldByAll(others: readonly Running[]): [path: string, how: How][] {
  return others
    .flatMap(({ held }) => [...held])
    .filter(([path]) =>
      others.every(({ roots, held }) => held.has(path) || !roots.some((root) => isInside(path, root))),
    );
}

class Guarding {
  readonly held = new Map<string, How>();
  readonly unwanted: string[] = [];
  readonly #wanted: Wanted;
  #left = MAX_FOLDERS_SEARCHED;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  /** `isOurs`: nobody else can change what is in there. */
  async guardRoot(root: string, { isOurs }: { readonly isOurs: boolean }): Promise<void> {
    const around = gitDirectoryOf(join(root, "a file"));
    if (around !== undefined && around !== root) this.hold(root, "--ro-bind", root); // in the middle of one
    else if (isOurs && around === root) await this.#guardFolder(root, root, isLinkedTree(root));
    else if (isOurs) await this.#search(root, root);
  }

  /** The nearest first, so that the limit is reached by what lies deepest. */
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

  /** Guards what is git's in a folder, and gives the folders to look into. */
  async #enter(folder: string, root: string): Promise<string[]> {
    const further: string[] = [];
    for (const entry of await entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (this.#wanted.closed.includes(path)) continue;
      if (isGitName(entry.name)) {
        if (entry.isDirectory()) await this.#guardFolder(path, root);
        else if (entry.isFile()) this.hold(path, "--ro-bind", root); // it says where the git directory is
      } else if (entry.isDirectory() && entry.name !== PASSED_OVER) further.push(path);
    }
    return further;
  }

  /** `isLinked`: the git directory of a linked work tree, which has its configuration in that of the main one. */
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

  /** Links cannot be held; and a main repository that has its configuration elsewhere was tampered with. */
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

  /** With all above it, up to the folder that is mounted anyway. */
  hold(path: string, how: How, root: string): void {
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

/** Where nothing can be made, a command can make nothing either. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch(() => {});
}

async function makeFile(path: string): Promise<void> {
  await writeFile(path, "", { flag: "wx" }).catch(() => {});
}

/** Something that is put into the sandbox. */
export interface Mount {
  readonly at: string;
  /** As bubblewrap is told. */
  readonly words: readonly string[];
  /** It is made for the sandbox, and is there whatever the agent may use. */
  readonly isFresh?: true;
}
