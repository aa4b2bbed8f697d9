/**
 * Recognises git directories, also where no `.git` says so: whoever writes into one decides what git runs there. Nothing
 * of git is run for it.
 */
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, parse, resolve } from "node:path";

/** Characters that some file systems pass over in names. */
const PASSED_OVER = /[\u200C-\u200F\u202A-\u202E\u206A-\u206F\uFEFF]/g;
/** `.git` as all file systems may read it: with other letters, with dots and blanks after it, by its short name. */
const GIT_NAME = /^(\.git|git~\d)[. ]*(:.*)?$/i;

export function isGitName(name: string): boolean {
  return GIT_NAME.test(name.replaceAll(PASSED_OVER, ""));
}

/**
 * The git directory, or the `.git` file that leads to one, that a path is, is inside of, or would complete if something were
 * written there. The path is absolute and without links, and nothing needs to be there.
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

/** Whether git would take a folder for a repository; with something that is not there yet, where that is named. */
export function isGitDirectory(folder: string, added?: string): boolean {
  const has = (name: string): boolean =>
    name.toLowerCase() === added?.toLowerCase() || isThere(join(folder, name));
  return has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
}

/**
 * Whether a folder is a repository that a command in the sandbox has taken apart. What the sandbox holds there cannot be
 * removed; the rest can be put back later, by whoever has written into it meanwhile.
 */
export function wasGitDirectory(folder: string): boolean {
  return ["config", "config.worktree", "hooks"].every((name) => isThere(join(folder, name)));
}

/** What we may not look at, git may not either. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/**
 * The git directories that git would use in a folder: that of the nearest repository around it, and for a linked work tree the
 * one that it belongs to. None: there is no repository.
 */
export function repositoryOf(folder: string): readonly string[] {
  try {
    let at = realpathSync(folder);
    for (;;) {
      const found = isGitDirectory(at) ? at : leadOf(join(at, ".git"));
      if (found !== undefined) return [found, ...commonOf(found)].map((path) => realpathSync(path));
      if (dirname(at) === at) return [];
      at = dirname(at);
    }
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

const MAX_LEAD_BYTES = 64 * 1024;

/** Where a `.git` leads, be it a folder, a link or a file. */
function leadOf(entry: string): string | undefined {
  const stats = lstatSync(entry, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile()) return isGitDirectory(entry) ? entry : undefined;
  if (stats.size > MAX_LEAD_BYTES) return undefined;
  const [, lead] = /^gitdir: (.+)/.exec(readFileSync(entry, "utf8")) ?? [];
  return lead === undefined ? undefined : resolve(dirname(entry), lead.trimEnd());
}

function commonOf(folder: string): string[] {
  try {
    return [resolve(folder, readFileSync(join(folder, "commondir"), "utf8").trimEnd())];
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
