/**
 * Confines an agent's file tools to its workspace and its allowed folders.
 *
 * A path is judged by its real target. Its links are resolved here, once, and from then on only the resolved path is used.
 * If a part of that is replaced by a link later, `open-inside.ts` detects it.
 */
import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

import { CortexError } from "../../model/errors.ts";
import type { ToolContext } from "../../model/tool.ts";
import { truncate } from "../../model/truncate.ts";
import { gitDirectoryOf } from "../../programs/git-directory.ts";
import { hasCode } from "../../model/error-code.ts";

/** Linux's PATH_MAX: no system call accepts a longer path. */
export const MAX_PATH_LENGTH = 4096;

export type AgentFolders = Pick<
  ToolContext,
  "workspace" | "roots" | "outputFolder" | "readable" | "hidden" | "reserved"
>;

/** A path that an agent may use. It need not exist. */
export interface ConfinedPath {
  /** Absolute and without links. */
  readonly path: string;
  /** The form for the model, which is also valid as input: relative inside the workspace, absolute elsewhere. */
  readonly shown: string;
}

/**
 * Resolves a path, or throws `path_forbidden`. The output folder, where results are kept that are too long for the model,
 * may be read but not written. Git directories may not be written either.
 */
export async function confine(
  path: string,
  folders: AgentFolders,
  access: "read" | "write",
): Promise<ConfinedPath> {
  if (path.includes("\0")) throw forbidden(path, "contains a NUL byte", "Remove it.");
  if (path.length > MAX_PATH_LENGTH)
    throw forbidden(
      path,
      `is longer than ${MAX_PATH_LENGTH} characters`,
      "Use a shorter path, relative to the workspace.",
    );
  const workspace = await realPath(folders.workspace);
  const [roots, readable, hidden, reserved] = await Promise.all([
    realPaths(outermost(folders)),
    realPaths(access === "read" ? [folders.outputFolder, ...folders.readable] : []),
    realPaths(folders.hidden),
    realPaths(folders.reserved),
  ]);
  const allowed = [workspace, ...roots, ...readable];

  const real = await realPath(resolve(folders.workspace, path));
  if (!isOpen(real, allowed, hidden) || isReserved(real, readable, reserved)) {
    const list = [...new Set(allowed)].map((folder) => JSON.stringify(folder)).join(", ");
    throw forbidden(path, "is outside this agent's folders", `Use a path inside one of ${list}.`);
  }
  const repository = access === "write" ? gitDirectoryOf(real) : undefined;
  if (repository !== undefined)
    throw forbidden(path, `leads into the git directory ${JSON.stringify(repository)}`, GIT_HINT);
  return { path: real, shown: isInside(real, workspace) ? relative(workspace, real) || "." : real };
}

/** Its files decide which programs git runs, and not only in a sandbox. */
const GIT_HINT = "Do not write git's files directly: run git with Bash.";

/**
 * The home of Cortex is closed even if a folder around it, or the home itself, is open: write access to it would allow
 * changing permissions. The workspace inside the home is open.
 */
function isOpen(path: string, allowed: readonly string[], hidden: readonly string[]): boolean {
  const around = allowed.filter((folder) => isInside(path, folder));
  const closed = hidden.filter((folder) => isInside(path, folder));
  return around.length > 0 && closed.every((folder) => around.some((open) => isBelow(open, folder)));
}

/** Who could write to these folders could have Cortex run anything: only what is readable there is open. */
function isReserved(path: string, readable: readonly string[], reserved: readonly string[]): boolean {
  const closed = reserved.filter((folder) => isInside(path, folder));
  const open = readable.filter((folder) => isInside(path, folder));
  return !closed.every((folder) => open.some((each) => isInside(each, folder)));
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && isInside(path, folder);
}

/**
 * The roots outside the workspace and all other roots. Nested ones are allowed anyway, and an agent with write access could
 * replace them by a link to anywhere.
 */
function outermost({ workspace, roots }: AgentFolders): string[] {
  const all = [workspace, ...roots].map((folder) => resolve(folder));
  return roots.filter((root) => {
    const path = resolve(root);
    return !all.some((other) => other !== path && isInside(path, other));
  });
}

/** The folders that a walk through an open folder must not enter. */
export async function closedFolders({
  hidden,
  reserved,
}: Pick<AgentFolders, "hidden" | "reserved">): Promise<ReadonlySet<string>> {
  return new Set(await realPaths([...hidden, ...reserved]));
}

/** Like `confine` for reading, but a link at the end of the path is not resolved. */
export async function confineEntry(path: string, folders: AgentFolders): Promise<ConfinedPath> {
  const absolute = resolve(folders.workspace, path);
  if (absolute.includes("\0") || !(await isLink(absolute)) || absolute === resolve(folders.workspace))
    return confine(path, folders, "read");
  return placeIn(await confine(dirname(absolute), folders, "read"), basename(absolute));
}

/** The path of a name, or of a relative path without links, in a folder. */
export function placeIn(folder: ConfinedPath, name: string): ConfinedPath {
  return { path: join(folder.path, name), shown: join(folder.shown, name) };
}

export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function realPaths(paths: readonly string[]): Promise<string[]> {
  return Promise.all(paths.map(realPath));
}

/** Resolves all links of a path. The end of the path need not exist. */
async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (hasCode(error, "ELOOP")) throw forbidden(path, "is a circular link", LINK_HINT);
    if (!hasCode(error, "ENOENT", "ENOTDIR")) throw error;
  }
  // Writing to such a link would create a file at its target.
  if (await isLink(path)) throw forbidden(path, "is a broken link", LINK_HINT);
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

/** Enough to recognize a path. */
const MAX_PATH_SHOWN = 200;

function forbidden(path: string, why: string, hint: string): CortexError {
  const shown = JSON.stringify(truncate(path, MAX_PATH_SHOWN));
  return new CortexError("path_forbidden", `The path ${shown} ${why}`, { hint });
}
