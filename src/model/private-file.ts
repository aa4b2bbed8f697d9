/**
 * Files with secrets, and those that say where to send them: opened where they are and nowhere else. A link could
 * lead to a file that somebody else writes, or have one of theirs overwritten.
 */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
  writeFileSync,
} from "node:fs";

import { CortexError } from "./errors.ts";

const OWNER_ONLY = 0o600;
const ROOT = 0;

/** Throws `file_unsafe` where it is a link, no file, or somebody else's; otherwise as the system does. */
export function readPrivate(path: string): string {
  return readPrivateBytes(path).toString("utf8");
}

export function readPrivateBytes(path: string): Buffer {
  const file = openPrivate(path);
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** The descriptor of a file that is there, for reading. Throws as `readPrivate`. */
export function openPrivate(path: string): number {
  const file = open(path);
  try {
    checkOwn(path, fstatSync(file));
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** A file that was not there before, for its owner only: what has its name by accident or by intent is removed. */
export function writePrivate(path: string, content: string): void {
  rmSync(path, { force: true });
  writeFileSync(path, content, { flag: "wx", mode: OWNER_ONLY });
}

function open(path: string): number {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ELOOP") throw unsafe(path, "is a symbolic link", error);
    throw error;
  }
}

/** Root is above everybody, and may read everything. */
function checkOwn(path: string, stats: Stats): void {
  if (!stats.isFile()) throw unsafe(path, "is not a regular file");
  const self = process.geteuid?.();
  if (self === undefined || self === ROOT || stats.uid === self || stats.uid === ROOT) return;
  throw unsafe(path, `belongs to another user (uid ${stats.uid})`);
}

function unsafe(path: string, what: string, cause?: unknown): CortexError {
  return new CortexError("file_unsafe", `${path} ${what}, and Cortex does not use it`, {
    hint: "Put a regular file of your own in its place; remove the link, if it is one.",
    cause,
  });
}
