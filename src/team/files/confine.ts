/**
 * Where the files of a team may be: inside its directory, also when the links on the way are followed. What comes out has
 * no links in it, so that a link somebody made stays one and the file it leads to is written.
 */
import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";

import { CortexError } from "../../model/errors.ts";
import { gitDirectoryOf } from "../../programs/git-directory.ts";
import { hasCode } from "./file-failure.ts";

/** What Cortex keeps beside the files of a team: snapshots and journals. */
export const KEPT_FOLDER = ".cortex";

/** Of a path relative to the team directory. */
export const MAX_TEAM_PATH_LENGTH = 1024;

export interface ConfinedPath {
  /** The file itself, absolute and without links. */
  readonly file: string;
  /** Relative to the team directory, with `/`. */
  readonly path: string;
}

/** Nothing needs to be there. Throws `path_forbidden`, and `team_missing` where there is no team directory. */
export function confinePath(root: string, path: string): ConfinedPath {
  requirePlain(path);
  const realRoot = realRootOf(root);
  const real = realPath(join(realRoot, path), path);
  if (!real.startsWith(realRoot + sep)) throw forbidden(path, "leads out of the team directory");
  const names = real.slice(realRoot.length + 1).split(sep);
  if (names[0] === KEPT_FOLDER) throw forbidden(path, `leads into ${KEPT_FOLDER}`);
  if (gitDirectoryOf(real) !== undefined) throw forbidden(path, "leads into a git directory");
  return { file: real, path: names.join("/") };
}

/** A folder for what Cortex keeps, before it is made. That nobody has put a link in its place is looked at each time. */
export function requireOwnFolder(root: string, folder: string): void {
  const wanted = join(realpathSync(root), folder);
  if (realPath(wanted, folder) !== wanted) throw forbidden(folder, "is reached by a link");
}

function realRootOf(root: string): string {
  try {
    return realpathSync(root);
  } catch (cause) {
    if (!hasCode(cause, "ENOENT", "ENOTDIR")) throw cause;
    throw new CortexError("team_missing", `There is no team directory ${root}`, {
      hint: "`cortex team init` makes one; `--team-dir` names another.",
      cause,
    });
  }
}

function requirePlain(path: string): void {
  if (path.length > MAX_TEAM_PATH_LENGTH)
    throw forbidden(`${path.slice(0, 100)}…`, `is longer than ${MAX_TEAM_PATH_LENGTH} characters`);
  if (path.includes("\0")) throw forbidden(path, "holds a NUL byte");
  const names = path.split("/");
  if (path.includes("\\") || names.some((name) => name === "" || name === "." || name === ".."))
    throw forbidden(path, "is not a plain path inside the team directory");
}

function realPath(path: string, given: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (hasCode(error, "ELOOP")) throw forbidden(given, "is a link that leads in a circle");
    if (!hasCode(error, "ENOENT", "ENOTDIR")) throw error;
  }
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw forbidden(given, "is a link to something that does not exist");
  return join(realPath(dirname(path), given), basename(path));
}

function forbidden(path: string, why: string): CortexError {
  return new CortexError("path_forbidden", `The path ${JSON.stringify(path)} ${why}`, {
    hint: "Files of a team are given relative to its directory, such as agents/billing-dev/tasks.md; links that lead out of it are not followed.",
  });
}
