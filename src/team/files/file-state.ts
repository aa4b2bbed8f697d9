/** The state of a file at one moment, to notice later whether it has changed. */
import { hash } from "node:crypto";
import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

import { CortexError } from "../../model/errors.ts";
import { hasCode } from "../../model/error-code.ts";
import { unreadable } from "./team-errors.ts";

/**
 * A file that another program has just written is read again until it stays the same for this long. A file that is shorter
 * than before may be half-written, and one that has lost half of its text most likely is.
 */
const SETTLE_MS = 5;
export const SHORTER_SETTLE_MS = 50;
const HALVED_SETTLE_MS = 400;
const STEP_MS = 5;
/** After this many reads the file is taken as it is; later writes are noticed later. */
const MAX_SETTLE_READS = 200;
/** A complete file that has not changed for this long is not being written. */
const QUIET_MS = 1_000;

export interface TeamFileState {
  readonly content: Buffer;
  readonly text: string;
  readonly hash: string;
  readonly bytes: number;
  readonly inode: bigint;
  readonly changedMs: number;
  readonly mode: number;
  readonly owner: number;
  readonly group: number;
}

/** Undefined: no such file. `shown` is the path for error messages. Throws `team_unreadable`. */
export function readState(path: string, shown: string): TeamFileState | undefined {
  let descriptor: number | undefined;
  try {
    const before = lstatSync(path);
    // Opening a pipe could block forever.
    if (!before.isFile()) throw unreadable(shown, "not a file");
    if (before.size > MAX_TEAM_FILE_BYTES) throw unreadable(shown, `it has ${tooManyBytes(before.size)}`);
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor, { bigint: true });
    const content = readFileSync(descriptor);
    if (!isUtf8(content)) throw unreadable(shown, "not UTF-8");
    const excess = excessOf(content);
    if (excess !== undefined) throw unreadable(shown, `it has ${excess}`);
    return {
      content,
      text: content.toString("utf8"),
      hash: hashOf(content),
      bytes: content.length,
      inode: stats.ino,
      changedMs: Number(stats.mtimeNs / 1_000n) / 1_000,
      mode: Number(stats.mode) & 0o7777,
      owner: Number(stats.uid),
      group: Number(stats.gid),
    };
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    if (error instanceof Error && hasCode(error, "EACCES", "EPERM", "EISDIR", "ELOOP", "EIO"))
      throw unreadable(shown, error.message, error);
    throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

export function hashOf(content: string | Buffer): string {
  return hash("sha256", content, "hex");
}

/** Whether the file was neither written nor replaced. */
export function isSame(path: string, state: TeamFileState): boolean {
  return holds(path, state) && lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ino === state.inode;
}

export function holds(path: string, { content }: TeamFileState): boolean {
  try {
    return readFileSync(path).equals(content);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}

/**
 * Reads a file that other programs may be writing. Editors that write in place truncate it first, so reading at once could
 * return an empty file or half a character. Content with the hash `last` is returned at once. If the file changes several
 * times meanwhile, `changedMs` is the time of the first change.
 */
export async function readSettled(
  path: string,
  shown: string,
  { bytesBefore, last, nowMs }: { bytesBefore: number; last: string | undefined; nowMs: number },
): Promise<TeamFileState | undefined> {
  let before = tryRead(path, shown);
  if (before.state !== undefined && before.state.hash === last) return before.state;
  const firstMs = before.state?.changedMs ?? Infinity;
  let sameMs = 0;
  for (let reads = 0; reads < MAX_SETTLE_READS; reads++) {
    const settleMs = settleMsOf(before.state, bytesBefore);
    const isQuiet = nowMs - (before.state?.changedMs ?? nowMs) > QUIET_MS;
    if (sameMs >= settleMs || (isQuiet && settleMs === SETTLE_MS)) break;
    await pause(STEP_MS);
    const now = tryRead(path, shown);
    const isSteady = now.state?.hash === before.state?.hash && now.state?.inode === before.state?.inode;
    sameMs = isSteady ? sameMs + STEP_MS : 0;
    before = now;
  }
  if (before.failure !== undefined) throw before.failure;
  return before.state && { ...before.state, changedMs: Math.min(before.state.changedMs, firstMs) };
}

function settleMsOf(state: TeamFileState | undefined, bytesBefore: number): number {
  if (state === undefined || state.bytes < bytesBefore / 2) return HALVED_SETTLE_MS;
  return state.bytes < bytesBefore ? SHORTER_SETTLE_MS : SETTLE_MS;
}

/** As `readState`, but returns the failure: the file may be half-written at this moment. */
export function tryRead(
  path: string,
  shown: string,
): { state?: TeamFileState | undefined; failure?: CortexError } {
  try {
    return { state: readState(path, shown) };
  } catch (error) {
    if (error instanceof CortexError) return { failure: error };
    throw error;
  }
}

/**
 * The limits of every file of a team; ten thousand tasks are below them. Larger files are neither read nor written: parsing
 * one blocks the server.
 */
export const MAX_TEAM_FILE_BYTES = 4 * 1_048_576;
export const MAX_TEAM_FILE_LINES = 100_000;

export function tooManyBytes(bytes: number): string {
  return `${bytes} bytes; the limit is ${MAX_TEAM_FILE_BYTES}`;
}

/** Which limit it exceeds, to follow "it has". Undefined: none. */
export function excessOf(content: Buffer): string | undefined {
  if (content.length > MAX_TEAM_FILE_BYTES) return tooManyBytes(content.length);
  let lines = 1;
  for (let at = content.indexOf(LINE_FEED); at !== -1; at = content.indexOf(LINE_FEED, at + 1))
    if (++lines > MAX_TEAM_FILE_LINES) return `more than ${MAX_TEAM_FILE_LINES} lines`;
  return undefined;
}

const LINE_FEED = 10;
