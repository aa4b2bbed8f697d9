/**
 * Files and folders that are Cortex's own: used where they are and nowhere else. A link could lead to a file that
 * another user writes, or have one of theirs overwritten. The home and the folders right in it may be links: that
 * is how an owner moves them to another disk.
 */
import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
  writeFileSync,
} from "node:fs";

import { hasCode } from "./error-code.ts";
import { CortexError } from "./errors.ts";

const OWNER_ONLY = 0o600;
const OTHERS_MAY_WRITE = 0o022;
const ROOT = 0;
const { O_RDONLY, O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Throws `file_unsafe` where it is a link, no file, or somebody else's; otherwise as the system does. */
export function readPrivate(path: string): string {
  return readAll(openPrivate(path)).toString("utf8");
}

/** As `readPrivate`, except that a link may lead to a file which nobody else can write: mounted secrets are links. */
export function readMountedBytes(path: string): Buffer {
  return readAll(open(path, O_RDONLY, checkMounted));
}

/** The descriptor of a file that is there, for reading. Throws as `readPrivate`. */
export function openPrivate(path: string): number {
  return open(path, O_RDONLY | O_NOFOLLOW);
}

/** Adds to a file, which is made where there is none. Throws as `readPrivate`. */
export function appendPrivate(path: string, content: string): void {
  const file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW);
  try {
    appendFileSync(file, content);
  } finally {
    closeSync(file);
  }
}

/** A file that was not there before, for its owner only: what has its name by accident or by intent is removed. */
export function writePrivate(path: string, content: string): void {
  const file = createPrivate(path);
  try {
    writeFileSync(file, content);
  } finally {
    closeSync(file);
  }
}

/** The descriptor of such a file, for writing. */
export function createPrivate(path: string): number {
  rmSync(path, { force: true });
  return openSync(path, "wx", OWNER_ONLY);
}

/** For what another library opens. Throws `file_unsafe` where there is something else than a file of one's own. */
export function requireOwnFile(path: string): void {
  const stats = statsOf(path);
  if (stats !== undefined) checkOwn(path, stats);
}

/** Throws `file_unsafe` where there is something else than a folder of one's own. */
export function requireOwnFolder(path: string): void {
  const stats = statsOf(path);
  if (stats !== undefined) checkOwn(path, stats, "folder");
}

/** Undefined: nothing is there. A file in place of a parent folder is reported when the path is created. */
function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (hasCode(error, "ENOTDIR")) return undefined;
    throw error;
  }
}

function readAll(file: number): Buffer {
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** A pipe is not waited for. */
function open(path: string, flags: number, check: (path: string, stats: Stats) => void = checkOwn): number {
  const file = openAt(path, flags);
  try {
    check(path, fstatSync(file));
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function openAt(path: string, flags: number): number {
  try {
    return openSync(path, flags | O_NONBLOCK, OWNER_ONLY);
  } catch (error) {
    if (hasCode(error, "ELOOP")) throw unsafe(path, "is a symbolic link", error);
    throw error;
  }
}

function checkMounted(path: string, stats: Stats): void {
  checkOwn(path, stats);
  if (lstatSync(path).isSymbolicLink() && (stats.mode & OTHERS_MAY_WRITE) !== 0)
    throw unsafe(path, "is a symbolic link to a file that other users can write");
}

/** Root is above everybody, and may read everything. */
function checkOwn(path: string, stats: Stats, kind: "file" | "folder" = "file"): void {
  if (stats.isSymbolicLink()) throw unsafe(path, "is a symbolic link");
  if (kind === "file" && !stats.isFile()) throw unsafe(path, "is not a regular file");
  if (kind === "folder" && !stats.isDirectory()) throw unsafe(path, "is not a folder");
  const self = process.geteuid?.();
  if (self === undefined || self === ROOT || stats.uid === self || stats.uid === ROOT) return;
  throw unsafe(path, `belongs to another user (uid ${stats.uid})`);
}

function unsafe(path: string, what: string, cause?: unknown): CortexError {
  return new CortexError("file_unsafe", `Refusing to use ${path}: it ${what}`, {
    hint: "Replace it with a file or folder that you own. A link's target was not touched.",
    cause,
  });
}
