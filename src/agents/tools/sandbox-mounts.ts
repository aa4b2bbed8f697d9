/**
 * Plans which folders of an agent are mounted in its sandbox. Each is mounted at its own path, so a path means the same
 * inside and outside, and links that lead out of the folders are broken.
 *
 * A folder inside another one is not resolved again, because the agent may have replaced it by a link.
 */
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";

import { isInside } from "./confine.ts";
import { hasCode } from "../../model/error-code.ts";
import { guardGit, type GuardedControl, type Mount } from "./sandbox-git.ts";

interface SandboxFolders {
  readonly writable: readonly string[];
  readonly readable: readonly string[];
  readonly hidden: readonly string[];
  /** Hidden, with everything in them that is not readable. */
  readonly reserved: readonly string[];
  /** Git directories that must not be changed. */
  readonly readOnly: readonly string[];
  readonly control?: GuardedControl | undefined;
  /** The working directory. */
  readonly folder: string;
  readonly system: readonly Mount[];
}

interface MountPlan {
  /** In mount order. */
  readonly mounts: readonly Mount[];
  /** The working directory. */
  readonly place: string;
  readonly guard: AsyncDisposable;
}

export async function planMounts(wanted: SandboxFolders): Promise<MountPlan> {
  const [hidden, reserved, readable, given] = await Promise.all([
    findAll([...wanted.hidden, ...wanted.reserved]),
    findAll(wanted.reserved),
    findAll(wanted.readable),
    findAll(wanted.writable),
  ]);
  const fresh = wanted.system.filter(({ isFresh }) => isFresh === true);
  const screens = [...hidden.map(({ path }) => path), ...fresh.map(({ at }) => at)];
  // A hidden folder stays hidden even if it is itself one of the writable ones, as in `confine.ts`.
  const open = given.filter(
    ({ real }) =>
      !hidden.some((folder) => folder.real === real) &&
      !reserved.some((folder) => isInside(real, folder.real)),
  );
  const writable = open.filter((each) => !isCovered(each, open, screens) && !isInside(each.real, "/proc"));
  // Bubblewrap creates missing parents of a mount point. In an agent's folder, they would remain.
  const system = wanted.system.filter(
    ({ at, isFresh }) => isFresh !== true && !writable.some(({ real }) => isInside(at, real)),
  );
  const seen = [...system.map(({ at }) => at), ...writable.map(({ real }) => real)];
  const isSeen = (path: string): boolean => seen.some((at) => isInside(path, at));

  const guard = await guardGit({
    writable: writable.map(({ real }) => real),
    closed: [...[...hidden, ...readable].map(({ real }) => real), ...fresh.map(({ at }) => at)],
    readOnly: wanted.readOnly,
    control: wanted.control,
  });

  const mounts = [
    ...system,
    ...fresh,
    ...hidden.filter(({ real }) => isSeen(real)).map(({ real: at }) => ({ at, words: ["--tmpfs", at] })),
    ...readable.map(({ real: at }) => ({ at, words: ["--ro-bind", at, at] })),
    ...writable.map(({ real: at }) => ({ at, words: ["--bind", at, at] })),
    ...guard.mounts,
    // Also under the configured path, which the model knows.
    ...[...readable, ...writable]
      .filter(({ path, real }) => path !== real && !isSeen(path))
      .map(({ path, real }) => ({ at: path, words: ["--symlink", real, path] })),
  ];
  const start = resolve(wanted.folder);
  return {
    // Parents come before their children; of two mounts at the same path, the later one wins.
    mounts: mounts.toSorted((a, b) => depthOf(a.at) - depthOf(b.at)),
    place: writable.find(({ path }) => path === start)?.real ?? start,
    guard,
  };
}

/** Whether it is visible anyway, inside another folder that is not screened. */
function isCovered({ path }: FolderPath, given: readonly FolderPath[], screens: readonly string[]): boolean {
  const showsIt = (folder: string): boolean =>
    folder !== path &&
    isInside(path, folder) &&
    !screens.some((screen) => isInside(path, screen) && isInside(screen, folder));
  return given.some((other) => other.path !== path && (showsIt(other.path) || showsIt(other.real)));
}

interface FolderPath {
  readonly path: string;
  /** Without links. */
  readonly real: string;
}

/** Missing folders are omitted; they may be created later. */
async function findAll(paths: readonly string[]): Promise<FolderPath[]> {
  const found = await Promise.all([...new Set(paths.map((path) => resolve(path)))].map(find));
  return found.filter((each) => each !== undefined);
}

async function find(path: string): Promise<FolderPath | undefined> {
  try {
    return { path, real: await realpath(path) };
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES")) return undefined;
    throw error;
  }
}

function depthOf(path: string): number {
  return path === "/" ? 0 : path.split("/").length - 1;
}
