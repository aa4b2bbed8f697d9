/** Which folders a relay or a member of a team may work in: of the home, only those that are for work. */
import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";

import type { Config } from "../config/config.ts";
import { reservedFolders } from "../config/home.ts";
import { isPathInside } from "./home-paths.ts";

interface WorkFolders {
  readonly home: string;
  readonly agents: Config["agents"];
  /** The team directory. */
  readonly team?: string;
}

/** Why work in an existing folder, without links, is refused: the end of a sentence. Undefined: it is not. */
export async function unfitForWork(
  path: string,
  { home, agents, team }: WorkFolders,
): Promise<string | undefined> {
  const at = await withoutLinks(home);
  const reserved = await Promise.all(reservedFolders(home).map(withoutLinks));
  if (reserved.some((folder) => isPathInside(path, folder))) return IN_HOME;
  const workspaces = Object.values(agents).map(({ workspace }) => workspace);
  const known = await Promise.all([...workspaces, ...(team === undefined ? [] : [team])].map(withoutLinks));
  if (isPathInside(at, path)) return known.includes(path) ? undefined : "contains the home of Cortex";
  if (!isPathInside(path, at)) return undefined;
  const parents = [join(at, "workspaces"), join(at, "tmp", "threads")];
  const isForWork =
    parents.some((folder) => isBelow(path, folder)) ||
    known.some((folder) => isBelow(folder, at) && isPathInside(path, folder));
  return isForWork ? undefined : IN_HOME;
}

const IN_HOME = "is inside the home of Cortex";

function isBelow(path: string, folder: string): boolean {
  return path !== folder && isPathInside(path, folder);
}

async function withoutLinks(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path)); // it does not exist, so nothing is inside
}
