/**
 * Which folders of an agent are in its sandbox, and where. Each is at its own path, so that a path means the same
 * inside and outside, and what lies in it leads nowhere else: a link out of it points at nothing.
 *
 * A folder inside another one is not looked up again: the agent can have put a link in its place.
 */
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";

import { isInside } from "./confine.ts";
import { hasCode } from "../../model/error-code.ts";
import { guardGit, type Mount } from "./sandbox-git.ts";

interface Wanted {
  readonly writable: readonly string[];
  readonly readable: readonly string[];
  readonly hidden: readonly string[];
  /** Git directories of which nothing may be changed. */
  readonly readOnly: readonly string[];
  /** Where the program starts. */
  readonly folder: string;
  readonly system: readonly Mount[];
}

interface Plan {
  /** In their order. */
  readonly mounts: readonly Mount[];
  /** Where the program starts. */
  readonly place: string;
  readonly guard: AsyncDisposable;
}

export async function planMounts(wanted: Wanted): Promise<Plan> {
  const [hidden, readable, given] = await Promise.all([
    findAll(wanted.hidden),
    findAll(wanted.readable),
    findAll(wanted.writable),
  ]);
  const fresh = wanted.system.filter(({ isFresh }) => isFresh === true);
  const screens = [...hidden.map(({ path }) => path), ...fresh.map(({ at }) => at)];
  // A hidden folder stays hidden also where it is given itself, as in `confine.ts`.
  const open = given.filter(({ real }) => !hidden.some((folder) => folder.real === real));
  const writable = open.filter((each) => !isCovered(each, open, screens) && !isInside(each.real, "/proc"));
  // Bubblewrap makes what is missing on the way to a mount: in a folder of the agent's, that would stay.
  const system = wanted.system.filter(
    ({ at, isFresh }) => isFresh !== true && !writable.some(({ real }) => isInside(at, real)),
  );
  const seen = [...system.map(({ at }) => at), ...writable.map(({ real }) => real)];
  const isSeen = (path: string): boolean => seen.some((at) => isInside(path, at));

  const guard = await guardGit({
    writable: writable.map(({ real }) => real),
    closed: [...[...hidden, ...readable].map(({ real }) => real), ...fresh.map(({ at }) => at)],
    readOnly: wanted.readOnly,
  });

  const mounts = [
    ...system,
    ...fresh,
    ...hidden.filter(({ real }) => isSeen(real)).map(({ real: at }) => ({ at, words: ["--tmpfs", at] })),
    ...readable.map(({ real: at }) => ({ at, words: ["--ro-bind", at, at] })),
    ...writable.map(({ real: at }) => ({ at, words: ["--bind", at, at] })),
    ...guard.mounts,
    // By the path that was given, too: it is what the model was told.
    ...[...readable, ...writable]
      .filter(({ path, real }) => path !== real && !isSeen(path))
      .map(({ path, real }) => ({ at: path, words: ["--symlink", real, path] })),
  ];
  const start = resolve(wanted.folder);
  return {
    // What a folder is in comes before the folder; of two at the same place, the later one is seen.
    mounts: mounts.toSorted((a, b) => depthOf(a.at) - depthOf(b.at)),
    place: writable.find(({ path }) => path === start)?.real ?? start,
    guard,
  };
}

/** Whether it is seen anyway, in a folder with nothing before it. */
function isCovered({ path }: Found, given: readonly Found[], screens: readonly string[]): boolean {
  const showsIt = (folder: string): boolean =>
    folder !== path &&
    isInside(path, folder) &&
    !screens.some((screen) => isInside(path, screen) && isInside(screen, folder));
  return given.some((other) => other.path !== path && (showsIt(other.path) || showsIt(other.real)));
}

interface Found {
  readonly path: string;
  /** Without links. */
  readonly real: string;
}

/** Those that are not there are left out: they may come. */
async function findAll(paths: readonly string[]): Promise<Found[]> {
  const found = await Promise.all([...new Set(paths.map((path) => resolve(path)))].map(find));
  return found.filter((each) => each !== undefined);
}

async function find(path: string): Promise<Found | undefined> {
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
