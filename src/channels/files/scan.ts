/** Scans a watched folder for included files and subfolders. */
import { lstat, readdir } from "node:fs/promises";
import { join, posix, relative, sep } from "node:path";
import { codeOf } from "../../model/error-code.ts";

export interface Found {
  readonly size: number;
  readonly modifiedMs: number;
}

interface Scan {
  /** By path. */
  readonly files: ReadonlyMap<string, Found>;
  readonly folders: readonly string[];
  /** Unreadable folders and exceeded limits. */
  readonly problems: readonly string[];
}

/** The limits of one watched folder. */
const MAX_FILES = 20_000;
const MAX_FOLDERS = 2_000;
const LIMITS = { files: MAX_FILES, folders: MAX_FOLDERS };

export interface Globs {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/**
 * Skips dotfiles and links: a link's target inside the folder is found anyway, and one outside must not be read. Throws
 * system errors of the folder itself.
 */
export async function scanFolder(root: string, globs: Globs, limits = LIMITS): Promise<Scan> {
  const files = new Map<string, Found>();
  const folders = [root];
  const problems: string[] = [];
  let isCut = false;
  for (const folder of folders) {
    const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
      if (folder === root) throw error;
      if (!isGone(error)) problems.push(`Cannot read ${folder}: ${(error as Error).message}`);
      return [];
    });
    for (const entry of entries) {
      if (entry.name.startsWith(".")) continue;
      const path = join(folder, entry.name);
      const isWanted = entry.isDirectory() || (entry.isFile() && isAskedFor(relativeTo(root, path), globs));
      if (!isWanted) continue;
      if (entry.isDirectory() ? folders.length >= limits.folders : files.size >= limits.files) isCut = true;
      else if (entry.isDirectory()) folders.push(path);
      else {
        const found = await lookAt(path);
        if (found !== undefined) files.set(path, found);
      }
    }
  }
  if (isCut)
    problems.push(
      `${root} has more than ${limits.files} files or ${limits.folders} folders; the rest is not watched`,
    );
  return { files, folders, problems };
}

/** With slashes, for globs. */
export function relativeTo(root: string, path: string): string {
  return relative(root, path).split(sep).join(posix.sep);
}

export function isAskedFor(name: string, { include, exclude }: Globs): boolean {
  const matches = (glob: string): boolean => posix.matchesGlob(name, glob);
  return include.some(matches) && !exclude.some(matches);
}

/** Undefined: no such file. */
export async function lookAt(path: string): Promise<Found | undefined> {
  try {
    const stats = await lstat(path);
    if (!stats.isFile()) return undefined;
    return { size: stats.size, modifiedMs: Math.trunc(stats.mtimeMs) };
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}
