/** What a file is at one moment, so that it can be seen later whether it still is. */
import { hash } from "node:crypto";
import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

import { CortexError } from "../../model/errors.ts";
import { hasCode, unreadable } from "./file-failure.ts";

/**
 * A file that somebody else has just written is read until it is the same for so long. One that is shorter than before
 * may be cut off in the middle of being written, and one that lost half of its text most likely is.
 */
const SETTLE_MS = 5;
export const SHORTER_SETTLE_MS = 50;
const HALVED_SETTLE_MS = 400;
const STEP_MS = 5;
/** Then it is taken as it is. Who goes on writing is noticed later. */
const MAX_SETTLE_READS = 200;
/** A whole file that nobody has touched for so long is not being written. */
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

/** Undefined: there is none. `shown` is the path as errors name it. Throws `team_unreadable`. */
export function readState(path: string, shown: string): TeamFileState | undefined {
  let descriptor: number | undefined;
  try {
    const before = lstatSync(path);
    // Opening a pipe could wait for ever.
    if (!before.isFile()) throw unreadable(shown, "it is not a file");
    if (before.size > MAX_TEAM_FILE_BYTES)
      throw unreadable(shown, `it has ${before.size} bytes, and at most ${MAX_TEAM_FILE_BYTES} are read`);
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor, { bigint: true });
    const content = readFileSync(descriptor);
    if (!isUtf8(content)) throw unreadable(shown, "it is not UTF-8");
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
    if (hasCode(error, "EACCES", "EPERM", "EISDIR", "ELOOP", "EIO"))
      throw unreadable(shown, (error as Error).message, error);
    throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

export function hashOf(content: string | Buffer): string {
  return hash("sha256", content, "hex");
}

/** Whether nobody has written the file, or put another in its place. */
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
 * Reads a file that somebody else has changed. Editors that write in place empty it first: whoever wrote back what
 * can be read then would save the emptiness. A letter may be cut in two as well, so that it is no UTF-8 for a moment.
 * What has the hash `last` is taken at once. Where it was changed several times meanwhile, the first of them is told.
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

/** As `readState`, for a file that others may be writing at this moment. */
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
 * Of any file of a team: ten thousand tasks are less. Larger ones are neither read nor written, because reading one takes
 * time of the server's own, for each line of it.
 */
export const MAX_TEAM_FILE_BYTES = 4 * 1_048_576;
export const MAX_TEAM_FILE_LINES = 100_000;

/** What is too much about it, as it follows "it has". Undefined: nothing. */
export function excessOf(content: Buffer): string | undefined {
  if (content.length > MAX_TEAM_FILE_BYTES)
    return `${content.length} bytes, and at most ${MAX_TEAM_FILE_BYTES} are read`;
  let lines = 1;
  for (let at = content.indexOf(LINE_FEED); at !== -1; at = content.indexOf(LINE_FEED, at + 1))
    if (++lines > MAX_TEAM_FILE_LINES) return `more than the ${MAX_TEAM_FILE_LINES} lines that are read`;
  return undefined;
}

const LINE_FEED = 10;
