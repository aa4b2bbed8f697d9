/**
 * Where the files of a team may be: inside its directory, even after following links. The resulting path contains no links,
 * so a link that somebody made stays a link and its target is written.
 */
import { lstatSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";

import { hasCode } from "../../model/error-code.ts";
import { CortexError } from "../../model/errors.ts";
import { gitDirectoryOf } from "../../programs/git-directory.ts";
import { teamMissing } from "./team-errors.ts";

/** Cortex's own folder in a team directory: snapshots, journals, the keeper. */
export const KEPT_FOLDER = ".cortex";

/** Relative to the team directory. */
export const MAX_TEAM_PATH_LENGTH = 1024;

export interface ConfinedTeamPath {
  /** The file itself: absolute, with all links resolved. */
  readonly file: string;
  /** Relative to the team directory, with `/`. */
  readonly path: string;
}

/** The file need not exist. Throws `path_forbidden`, and `team_missing` if the team directory does not exist. */
export function confinePath(root: string, path: string): ConfinedTeamPath {
  requirePlain(path);
  const realRoot = realRootOf(root);
  const real = realPath(join(realRoot, path), path);
  if (!real.startsWith(realRoot + sep)) throw forbidden(path, "leads out of the team directory");
  const names = real.slice(realRoot.length + 1).split(sep);
  if (names[0] === KEPT_FOLDER) throw forbidden(path, `leads into ${KEPT_FOLDER}`);
  if (gitDirectoryOf(real) !== undefined) throw forbidden(path, "leads into a git directory");
  return { file: real, path: names.join("/") };
}

/** Creates a folder in `.cortex`, hidden from version control. Throws `path_forbidden` if a link leads to it. */
export function openKeptFolder(root: string, folder: string): string {
  const wanted = join(realpathSync(root), folder);
  if (realPath(wanted, folder) !== wanted) throw forbidden(folder, "is reached through a link");
  const path = join(root, folder);
  mkdirSync(path, { recursive: true });
  createIfMissing(join(root, KEPT_FOLDER, ".gitignore"), "*\n");
  return path;
}

/** False if the file exists. */
export function createIfMissing(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: "wx" });
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

export function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function realRootOf(root: string): string {
  try {
    return realpathSync(root);
  } catch (cause) {
    if (!hasCode(cause, "ENOENT", "ENOTDIR")) throw cause;
    throw teamMissing(root, cause);
  }
}

function requirePlain(path: string): void {
  if (path.length > MAX_TEAM_PATH_LENGTH)
    throw forbidden(`${path.slice(0, 100)}…`, `is longer than ${MAX_TEAM_PATH_LENGTH} characters`);
  if (path.includes("\0")) throw forbidden(path, "contains a NUL byte");
  const names = path.split("/");
  if (path.includes("\\") || names.some((name) => name === "" || name === "." || name === ".."))
    throw forbidden(path, "is not a plain path inside the team directory");
}

function realPath(path: string, given: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (hasCode(error, "ELOOP")) throw forbidden(given, "is a circular link");
    if (!hasCode(error, "ENOENT", "ENOTDIR")) throw error;
  }
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw forbidden(given, "is a dangling link");
  return join(realPath(dirname(path), given), basename(path));
}

function forbidden(path: string, why: string): CortexError {
  return new CortexError("path_forbidden", `The path ${JSON.stringify(path)} ${why}`, {
    hint: "Use a path relative to the team directory, such as agents/billing-dev/tasks.md; links that lead out of it are not followed.",
  });
}
