/**
 * Opening what `confine.ts` allowed, and nothing else.
 *
 * Between the look at a path and its use, a process of the agent may put a link where a folder was. So what
 * was opened is asked where it is, and what happens in a folder goes through the open folder, which stays
 * the same whatever its path leads to by now. Linux offers both in /proc; elsewhere the path is looked
 * at again, which leaves a moment in between.
 */
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { CortexError } from "../../model/errors.ts";
import type { Place } from "./confine.ts";
import { hasCode } from "../../model/error-code.ts";

const DESCRIPTORS = process.platform === "linux" ? "/proc/self/fd" : undefined;

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;

/** Opens a file to read it. Refuses what is no file: a pipe or a device may never end. */
export async function openFile(place: Place): Promise<FileHandle> {
  // Opening a device may set something off, so this is asked before, and again of what was opened.
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

export function requireFile(stats: Kinds, { shown }: Place): void {
  if (stats.isFile()) return;
  const what = stats.isDirectory() ? "a folder" : "a pipe, a socket, a device or a link";
  throw new CortexError("tool_failed", `${JSON.stringify(shown)} is ${what}, not a file`, {
    hint: "Give the path of a file; Stat says what a path is, List what is in a folder.",
  });
}

interface OpenFolder extends AsyncDisposable {
  /** A path to what is in the folder, good while it is open. Without a name: to the folder itself. */
  at(name?: string): string;
}

export async function openFolder(place: Place): Promise<OpenFolder> {
  const handle = await open(place.path, O_RDONLY | O_NOFOLLOW | O_DIRECTORY);
  try {
    await requireLocation(handle, place);
    return asFolder(handle, place.path);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Opens a folder, after making it and those above it that are missing. */
export async function makeFolder(place: Place): Promise<OpenFolder> {
  const missing: string[] = [];
  let existing = place.path;
  while (!(await exists(existing))) {
    missing.unshift(basename(existing));
    existing = dirname(existing);
  }
  let folder = await openFolder({ path: existing, shown: place.shown });
  for (const name of missing) {
    await using parent = folder;
    await mkdir(parent.at(name)).catch((error: unknown) => {
      if (!hasCode(error, "EEXIST")) throw error; // Another call has just made it.
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

async function requireLocation(handle: FileHandle, { path, shown }: Place): Promise<void> {
  const location =
    DESCRIPTORS === undefined ? await realpath(path) : await readlink(join(DESCRIPTORS, String(handle.fd)));
  if (location === path) return;
  throw new CortexError("path_forbidden", `${JSON.stringify(shown)} was moved while it was opened`, {
    hint: "Try again when nothing changes the folders on the way to it.",
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
