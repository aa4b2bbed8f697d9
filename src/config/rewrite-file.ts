/**
 * Changes a file of the home that people and other processes may change at the same time.
 *
 * The new text goes to a temporary file that only one process can create, and replaces the old file atomically. So a
 * reader never sees part of it, and a second writer starts from the result of the first.
 */
import { type FileHandle, mkdir, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { hasCode } from "../model/error-code.ts";
import { CortexError } from "../model/errors.ts";

export interface Composed<Result> {
  readonly text: string;
  readonly result: Result;
}

interface RewriteOptions {
  readonly pauseMs?: number | undefined;
  /** Of the file from then on. Default: as it was. */
  readonly mode?: number;
}

/** How often a writer checks whether another one is done, and the delay between checks. */
const MAX_TRIES = 200;
const PAUSE_MS = 25;

const BYTE_ORDER_MARK = Buffer.from("\uFEFF");

/**
 * Writes the text from `compose`, which reads the file itself and is called again if the file changed meanwhile. Throws
 * what `compose` throws, `state_conflict` if another writer does not finish, and `home_unwritable`; then it writes
 * nothing.
 */
export async function rewriteFile<Result>(
  file: string,
  compose: () => Promise<Composed<Result>>,
  options: RewriteOptions = {},
): Promise<Result> {
  const path = await targetPath(file);
  const draft = `${path}.new`;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const handle = await openDraft(draft, options.mode ?? (await modeOf(path)), path);
    if (handle !== undefined) {
      const written = await writeOnce(compose, { path, draft, handle });
      if (written !== undefined) return written.result;
    }
    await pause(options.pauseMs ?? PAUSE_MS);
  }
  throw stillEdited(path, draft);
}

/** Undefined: the file changed meanwhile and must be read again. */
async function writeOnce<Result>(
  compose: () => Promise<Composed<Result>>,
  { path, draft, handle }: { path: string; draft: string; handle: FileHandle },
): Promise<Composed<Result> | undefined> {
  let isFile = false;
  try {
    const before = await bytesOf(path);
    const composed = await compose();
    const hasMark = before?.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) === true;
    await handle.writeFile(hasMark ? `\uFEFF${composed.text}` : composed.text);
    await handle.sync();
    const now = await bytesOf(path);
    const isSame = before === undefined ? now === undefined : now?.equals(before) === true;
    if (!isSame) return undefined;
    await rename(draft, path);
    isFile = true;
    return composed;
  } catch (error) {
    throw error instanceof CortexError ? error : unwritable(path, error);
  } finally {
    await handle.close();
    if (!isFile) await rm(draft, { force: true }); // else it may be the draft of the next writer by now
  }
}

/** The target of a link, so that the link stays a link. */
async function targetPath(path: string): Promise<string> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 }); // it may be the home that is new
    return await realpath(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return path;
    throw unwritable(path, error);
  }
}

/** Undefined: another writer has it. */
async function openDraft(draft: string, mode: number, path: string): Promise<FileHandle | undefined> {
  try {
    return await open(draft, "wx", mode);
  } catch (error) {
    if (hasCode(error, "EEXIST")) return undefined;
    throw unwritable(path, error);
  }
}

async function modeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).mode & 0o777;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return 0o644;
    throw unwritable(path, error);
  }
}

async function bytesOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

function stillEdited(path: string, draft: string): CortexError {
  return new CortexError("state_conflict", `Another process is changing ${path}`, {
    hint: `Retry. If no other Cortex process is running, delete ${draft}, left behind by a killed process.`,
  });
}

function unwritable(path: string, cause: unknown): CortexError {
  return new CortexError("home_unwritable", `Cannot write ${path}`, {
    hint: "Check the permissions of the file and its folder, and free disk space.",
    cause,
  });
}
