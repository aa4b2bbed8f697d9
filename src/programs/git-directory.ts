/**
 * Recognizes git directories, whatever their name: anyone who can write to one decides what git runs there. Does not run
 * git.
 */
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, parse, resolve } from "node:path";

import { hasCode } from "../model/error-code.ts";

/** Characters that some file systems ignore in names. */
const PASSED_OVER = /[\u200C-\u200F\u202A-\u202E\u206A-\u206F\uFEFF]/g;
/** `.git` on any file system: in other cases, with trailing dots and spaces, or by its short name. */
const GIT_NAME = /^(\.git|git~\d)[. ]*(:.*)?$/i;

export function isGitName(name: string): boolean {
  return GIT_NAME.test(name.replaceAll(PASSED_OVER, ""));
}

/**
 * The git directory or `.git` file that a path is, lies inside, or would complete if it were written. The path must be
 * absolute and without links; it need not exist.
 */
export function gitDirectoryOf(path: string): string | undefined {
  const { root } = parse(path);
  let found: string | undefined;
  for (let at = path; at !== root; at = dirname(at)) {
    const folder = dirname(at);
    const name = at.slice(folder.length).replace(/^[\\/]/, "");
    if (isGitName(name)) found = at;
    else if (isGitDirectory(folder, name) || wasGitDirectory(folder)) found = folder;
  }
  return found;
}

/** Whether git would recognize a folder as a repository, assuming that `added` exists in it. */
export function isGitDirectory(folder: string, added?: string): boolean {
  const has = (name: string): boolean =>
    name.toLowerCase() === added?.toLowerCase() || exists(join(folder, name));
  return has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
}

/**
 * Whether a folder is a repository that a command in the sandbox has dismantled. The files that the sandbox mounts there
 * cannot be removed; the rest can be put back later, with other content.
 */
export function wasGitDirectory(folder: string): boolean {
  return ["config", "config.worktree", "hooks"].every((name) => exists(join(folder, name)));
}

/** What we cannot access, git cannot either. */
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/**
 * The git directories that git would use in a folder: that of the nearest repository around it and, for a linked work tree,
 * that of the main one. Empty: there is no repository.
 */
export function repositoryOf(folder: string): readonly string[] {
  try {
    let at = realpathSync(folder);
    for (;;) {
      const found = isGitDirectory(at) ? at : targetOf(join(at, ".git"));
      if (found !== undefined) return [found, ...commonOf(found)].map((path) => realpathSync(path));
      if (dirname(at) === at) return [];
      at = dirname(at);
    }
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}

const MAX_GIT_FILE_BYTES = 64 * 1024;

/** The git directory of a `.git`, which may be a folder, a link or a file. */
function targetOf(entry: string): string | undefined {
  const stats = lstatSync(entry, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile()) return isGitDirectory(entry) ? entry : undefined;
  if (stats.size > MAX_GIT_FILE_BYTES) return undefined;
  const [, target] = /^gitdir: (.+)/.exec(readFileSync(entry, "utf8")) ?? [];
  return target === undefined ? undefined : resolve(dirname(entry), target.trimEnd());
}

function commonOf(folder: string): string[] {
  try {
    return [resolve(folder, readFileSync(join(folder, "commondir"), "utf8").trimEnd())];
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}
