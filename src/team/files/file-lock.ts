/**
 * A lock file next to a file, for our own processes and every program that respects it. Creating `.<name>.lock` exclusively
 * takes the lock, removing it releases it; a shell does this with `set -o noclobber`. It contains
 * `<pid> <host> <time> <token>`. A lock is stale when its process on this host is gone, or when it is too old.
 *
 * A slow holder may lose the lock to another process, so a holder checks again before it replaces the file.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, rmSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { CortexError } from "../../model/errors.ts";
import { isAlive } from "../../programs/is-alive.ts";
import { createIfMissing } from "./confine.ts";
import { hasCode } from "../../model/error-code.ts";
import { unwritable } from "./team-errors.ts";

/** A lock older than this is stale. Writing takes milliseconds. */
export const STALE_LOCK_MS = 30_000;
/** How often a writer tries, and the longest pause between: together longer than a lock takes to become stale. */
const MAX_TRIES = 4_000;
const MAX_PAUSE_MS = 10;

export interface FileLock extends Disposable {
  isHeld(): boolean;
}

/** `shown` is the path for error messages. Throws `state_conflict` (transient) if others do not release the lock. */
export async function lockFile(
  path: string,
  { shown, clock, maxTries = MAX_TRIES }: { shown: string; clock: () => number; maxTries?: number },
): Promise<FileLock> {
  const lock = lockPath(path);
  const mark = `${process.pid} ${hostname()} ${new Date(clock()).toISOString()} ${randomUUID()}\n`;
  for (let tries = 0; tries < maxTries; tries++) {
    if (create(lock, mark, shown)) return held(lock, mark);
    if (!removeStale(lock, clock())) await pause(Math.min(1 + tries, MAX_PAUSE_MS));
  }
  throw new CortexError("state_conflict", `Another process is changing ${shown}`, {
    hint: `Try again. If no other process is changing it, remove ${lock}.`,
    transient: true,
  });
}

export function lockPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.lock`);
}

function held(lock: string, mark: string): FileLock {
  const isHeld = () => read(lock)?.text === mark;
  return {
    isHeld,
    [Symbol.dispose]: () => {
      if (isHeld()) rmSync(lock, { force: true });
    },
  };
}

function create(lock: string, mark: string, shown: string): boolean {
  try {
    return createIfMissing(lock, mark);
  } catch (error) {
    if (hasCode(error, "ENOSPC", "EDQUOT", "EFBIG")) rmSync(lock, { force: true }); // it was created empty
    throw unwritable(shown, error);
  }
}

interface LockState {
  readonly text: string;
  readonly inode: bigint;
  readonly changedMs: number;
}

function read(lock: string): LockState | undefined {
  try {
    const { ino, mtimeMs } = statSync(lock, { bigint: true });
    return { text: readFileSync(lock, "utf8"), inode: ino, changedMs: Number(mtimeMs) };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Whether to try again at once. */
function removeStale(lock: string, nowMs: number): boolean {
  const seen = read(lock);
  if (seen === undefined) return true;
  if (!isStale(seen, nowMs)) return false;
  // Two processes may find it stale at once, and the second would remove the new lock of the first. So they take turns and
  // check again.
  const turn = `${lock}.stale`;
  if (!takeTurn(turn, nowMs)) return false;
  try {
    const now = read(lock);
    if (now?.text === seen.text && now.inode === seen.inode) rmSync(lock, { force: true });
  } finally {
    rmSync(turn, { force: true });
  }
  return true;
}

function takeTurn(turn: string, nowMs: number): boolean {
  if (createIfMissing(turn, "")) return true;
  const other = read(turn);
  if (other !== undefined && isStale(other, nowMs)) rmSync(turn, { force: true }); // its process was killed during its turn
  return false;
}

function isStale({ text, changedMs }: LockState, nowMs: number): boolean {
  if (Math.abs(nowMs - changedMs) > STALE_LOCK_MS) return true; // a time in the future: the clock was set back
  const [, pid, host] = /^([1-9]\d*) (\S+)/.exec(text) ?? [];
  return pid !== undefined && host === hostname() && !isAlive(Number(pid));
}
