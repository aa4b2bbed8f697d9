/**
 * Opens what `confine.ts` allowed, and nothing else.
 *
 * Between the check of a path and its use, a process of the agent may replace a folder by a link. So every opened file is
 * checked for its real location, and operations in a folder go through its open handle, which stays the same wherever the
 * path leads by then. Linux supports both through /proc; elsewhere the path is checked again, which leaves a short race.
 */
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { CortexError } from "../../model/errors.ts";
import type { ConfinedPath } from "./confine.ts";
import { hasCode } from "../../model/error-code.ts";

const DESCRIPTORS = process.platform === "linux" ? "/proc/self/fd" : undefined;

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;

/** Opens a regular file for reading. Pipes and devices are refused, because they may never end. */
export async function openFile(place: ConfinedPath): Promise<FileHandle> {
  // Checked before and after opening: opening a device can have side effects.
  requireFile(await lstat(place.path), place);
  const handle = await open(place.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    requireFile(await handle.stat(), place);
    await requireLocation(handle, place);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

interface Kinds {
  isFile(): boolean;
  isDirectory(): boolean;
}

export function requireFile(stats: Kinds, { shown }: ConfinedPath): void {
  if (stats.isFile()) return;
  const what = stats.isDirectory() ? "a folder" : "a pipe, a socket, a device or a link";
  throw new CortexError("tool_failed", `${JSON.stringify(shown)} is ${what}, not a file`, {
    hint: "Pass the path of a file. Use Stat to check a path, List to list a folder.",
  });
}

interface OpenFolder extends AsyncDisposable {
  /** The path of an entry, valid while the folder is open. Without a name: of the folder itself. */
  at(name?: string): string;
}

export async function openFolder(place: ConfinedPath): Promise<OpenFolder> {
  const handle = await open(place.path, O_RDONLY | O_NOFOLLOW | O_DIRECTORY);
  try {
    await requireLocation(handle, place);
    return asFolder(handle, place.path);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Opens a folder to write a file there, creating it and its missing parents: none, if one of the names is not possible.
 */
export async function openOrMakeFolder(place: ConfinedPath, file: string): Promise<OpenFolder> {
  const missing: string[] = [];
  let existing = place.path;
  while (!(await exists(existing))) {
    missing.unshift(basename(existing));
    existing = dirname(existing);
  }
  for (const name of [...missing, file]) await exists(join(existing, name));
  let folder = await openFolder({ path: existing, shown: place.shown });
  for (const name of missing) {
    await using parent = folder;
    await mkdir(parent.at(name)).catch((error: unknown) => {
      if (!hasCode(error, "EEXIST")) throw error; // another call has just created it
    });
    existing = join(existing, name);
    folder = asFolder(await open(parent.at(name), O_RDONLY | O_NOFOLLOW | O_DIRECTORY), existing);
  }
  return folder;
}

function asFolder(handle: FileHandle, path: string): OpenFolder {
  const base = DESCRIPTORS === undefined ? path : join(DESCRIPTORS, String(handle.fd));
  return {
    at: (name = ".") => `${base}/${name}`,
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

async function requireLocation(handle: FileHandle, { path, shown }: ConfinedPath): Promise<void> {
  const location =
    DESCRIPTORS === undefined ? await realpath(path) : await readlink(join(DESCRIPTORS, String(handle.fd)));
  if (location === path) return;
  throw new CortexError("path_forbidden", `${JSON.stringify(shown)} was moved while it was being opened`, {
    hint: "Another program is moving folders in this path. Retry when it is done.",
  });
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}
