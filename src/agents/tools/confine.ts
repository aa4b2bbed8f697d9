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
import { gitDirectoryOf } from "../../programs/git-directory.ts";
import { hasCode } from "../../model/error-code.ts";

/** Linux's PATH_MAX: no call of the system takes a longer one. */
export const MAX_PATH_LENGTH = 4096;

export type Folders = Pick<ToolContext, "workspace" | "roots" | "outputFolder" | "readable" | "hidden">;

/** A path that an agent may use. Nothing needs to be there. */
export interface Place {
  /** Absolute and without links. */
  readonly path: string;
  /** As the model is told it, and may give it back: relative inside the workspace, absolute elsewhere. */
  readonly shown: string;
}

/**
 * Finds where a path leads, or throws `path_forbidden`. What is too long for the model is kept in the
 * output folder, so that may be read, and is not to be written. Nor is a git directory.
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
  const roots = outermost(folders);
  const further = access === "read" ? [...roots, folders.outputFolder, ...folders.readable] : roots;
  const allowed = [workspace, ...(await Promise.all(further.map(realPath)))];

  const real = await realPath(resolve(folders.workspace, path));
  const hidden = await Promise.all(folders.hidden.map(realPath));
  if (!isOpen(real, allowed, hidden)) {
    const list = [...new Set(allowed)].map((folder) => JSON.stringify(folder)).join(", ");
    throw forbidden(path, "is outside the folders of this agent", `Use a path inside one of ${list}.`);
  }
  const repository = access === "write" ? gitDirectoryOf(real) : undefined;
  if (repository !== undefined)
    throw forbidden(path, `leads into the git directory ${JSON.stringify(repository)}`, GIT_HINT);
  return { path: real, shown: isInside(real, workspace) ? relative(workspace, real) || "." : real };
}

/** What is in there decides which programs git runs, and not only in a sandbox. */
const GIT_HINT = "Files of git are not written by hand: use git itself, with Bash.";

/**
 * The home of Cortex is closed although the folder around it may be open, or the home itself: whoever can write there
 * decides what agents may do. The workspace in it is open again.
 */
function isOpen(path: string, allowed: readonly string[], hidden: readonly string[]): boolean {
  const around = allowed.filter((folder) => isInside(path, folder));
  const closed = hidden.filter((folder) => isInside(path, folder));
  return around.length > 0 && closed.every((folder) => around.some((open) => isBelow(open, folder)));
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && isInside(path, folder);
}

/**
 * The roots that are not inside the workspace or another root. Those are allowed anyway; and an agent that may write
 * there could put a link in their place, which would then lead anywhere.
 */
function outermost({ workspace, roots }: Folders): string[] {
  const all = [workspace, ...roots].map((folder) => resolve(folder));
  return roots.filter((root) => {
    const path = resolve(root);
    return !all.some((other) => other !== path && isInside(path, other));
  });
}

/** The folders that are not to be entered on the way through an open one. */
export async function closedFolders({ hidden }: Pick<Folders, "hidden">): Promise<ReadonlySet<string>> {
  return new Set(await Promise.all(hidden.map(realPath)));
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
