/**
 * A lock file beside a file keeps our own processes apart, and everybody who knows of it. Whoever makes `.<name>.lock`
 * while there is none has the lock, until they remove it; a shell does so with `set -o noclobber`. It holds
 * `<pid> <host> <time> <token>`. Whoever died with it is noticed by their pid; what names no process of this host, by
 * its age.
 *
 * A holder that was only slow may lose it to somebody else, so it is asked for again before the file is replaced.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { CortexError } from "../../model/errors.ts";
import { hasCode, unwritable } from "./file-failure.ts";

/** A lock of this age is nobody's any more. Writing takes milliseconds. */
export const STALE_LOCK_MS = 30_000;
/** How often a writer looks whether the lock is free, and after how long each time: longer than a lock can be stale. */
const MAX_TRIES = 4_000;
const MAX_PAUSE_MS = 10;

export interface FileLock extends Disposable {
  isHeld(): boolean;
}

/** `shown` is the file as errors name it. Throws `state_conflict` (transient), where others do not let go of it. */
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
    hint: `Try again. If none is, remove ${lock}.`,
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
    writeFileSync(lock, mark, { flag: "wx" });
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    if (hasCode(error, "ENOSPC", "EDQUOT", "EFBIG")) rmSync(lock, { force: true }); // it was made, and is empty
    throw unwritable(shown, error);
  }
}

interface Seen {
  readonly text: string;
  readonly inode: bigint;
  readonly changedMs: number;
}

function read(lock: string): Seen | undefined {
  try {
    const { ino, mtimeMs } = statSync(lock, { bigint: true });
    return { text: readFileSync(lock, "utf8"), inode: ino, changedMs: Number(mtimeMs) };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Whether it is worth trying again at once. */
function removeStale(lock: string, nowMs: number): boolean {
  const seen = read(lock);
  if (seen === undefined) return true;
  if (!isStale(seen, nowMs)) return false;
  // Two may find it stale at once, and the second of them would remove the new lock of the first. So they take turns,
  // and look again: whoever is dead has not let go of it and come back in between.
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
  try {
    writeFileSync(turn, "", { flag: "wx" });
    return true;
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
  const other = read(turn);
  if (other !== undefined && isStale(other, nowMs)) rmSync(turn, { force: true }); // killed in that very moment
  return false;
}

function isStale({ text, changedMs }: Seen, nowMs: number): boolean {
  if (Math.abs(nowMs - changedMs) > STALE_LOCK_MS) return true; // in the future: the clock was set back
  const [, pid, host] = /^([1-9]\d*) (\S+)/.exec(text) ?? [];
  return pid !== undefined && host === hostname() && !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasCode(error, "ESRCH");
  }
}
