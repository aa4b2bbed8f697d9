/**
 * Where an agent's file tools may go: its workspace and the folders it was given.
 *
 * A path is judged by where it really leads. The links in it are resolved here, once, and everything
 * afterwards uses the path that comes out, which has no links in it. What is swapped for a link later is
 * noticed by `open-inside.ts`.
 */
import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

import { CortexError } from "../../model/errors.ts";
import type { ToolContext } from "../../model/tool.ts";
import { hasCode } from "./file-failure.ts";

/** Linux's PATH_MAX: no call of the system takes a longer one. */
export const MAX_PATH_LENGTH = 4096;

export type Folders = Pick<ToolContext, "workspace" | "roots" | "outputFolder">;

/** A path that an agent may use. Nothing needs to be there. */
export interface Place {
  /** Absolute and without links. */
  readonly path: string;
  /** As the model is told it, and may give it back: relative inside the workspace, absolute elsewhere. */
  readonly shown: string;
}

/**
 * Finds where a path leads, or throws `path_forbidden`. What is too long for the model is kept in the
 * output folder, so that may be read, and is not to be written.
 */
export async function confine(path: string, folders: Folders, access: "read" | "write"): Promise<Place> {
  if (path.includes("\0")) throw forbidden(path, "holds a NUL byte", "Give a path without it.");
  if (path.length > MAX_PATH_LENGTH)
    throw forbidden(
      path,
      `is longer than ${MAX_PATH_LENGTH} characters`,
      "Give a shorter path, relative to the workspace.",
    );
  const workspace = await realPath(folders.workspace);
  const further = access === "read" ? [...folders.roots, folders.outputFolder] : folders.roots;
  const allowed = [workspace, ...(await Promise.all(further.map(realPath)))];

  const real = await realPath(resolve(folders.workspace, path));
  if (!allowed.some((folder) => isInside(real, folder))) {
    const list = allowed.map((folder) => JSON.stringify(folder)).join(", ");
    throw forbidden(path, "is outside the folders of this agent", `Use a path inside one of ${list}.`);
  }
  return { path: real, shown: isInside(real, workspace) ? relative(workspace, real) || "." : real };
}

/** Like `confine` to read, but where the path ends in a link, the place is that of the link itself. */
export async function confineEntry(path: string, folders: Folders): Promise<Place> {
  const absolute = resolve(folders.workspace, path);
  if (absolute.includes("\0") || !(await isLink(absolute)) || absolute === resolve(folders.workspace))
    return confine(path, folders, "read");
  return placeIn(await confine(dirname(absolute), folders, "read"), basename(absolute));
}

/** The place of a name, or of a path without links, in a folder. */
export function placeIn(folder: Place, name: string): Place {
  return { path: join(folder.path, name), shown: join(folder.shown, name) };
}

export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The path with all links resolved, where the end of it need not exist. */
async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (hasCode(error, "ELOOP")) throw forbidden(path, "is a link that leads in a circle", LINK_HINT);
    if (!hasCode(error, "ENOENT", "ENOTDIR")) throw error;
  }
  // Writing "to" such a link would make a file wherever it points.
  if (await isLink(path)) throw forbidden(path, "is a link to something that does not exist", LINK_HINT);
  return join(await realPath(dirname(path)), basename(path));
}

const LINK_HINT = "Use the path of the file or folder itself.";

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR", "ELOOP")) return false;
    throw error;
  }
}

/** Enough of a path to recognise it by. */
const MAX_PATH_SHOWN = 200;

function forbidden(path: string, why: string, hint: string): CortexError {
  const shown = path.length > MAX_PATH_SHOWN ? `${path.slice(0, MAX_PATH_SHOWN)}…` : path;
  return new CortexError("path_forbidden", `The path ${JSON.stringify(shown)} ${why}`, { hint });
}
