/**
 * Reads a file of a watched folder. Those who can put files there must gain nothing else: links are not followed, and the
 * opened path must be a file in the folder.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, readlink, realpath } from "node:fs/promises";
import { codeOf } from "../../model/error-code.ts";

interface FileContent {
  readonly size: number;
  readonly modifiedMs: number;
  /** Of the first MAX_HASHED_BYTES. */
  readonly sha256: string;
  /** Null: larger than the limit, or not text. */
  readonly text: string | null;
}

/** Larger files with the same beginning differ by size and time. */
export const MAX_HASHED_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;

/** The path contains no links. Undefined: the file is gone or changed. Throws system errors. */
export async function readWatched(path: string, maxTextBytes: number): Promise<FileContent | undefined> {
  try {
    return await readAll(path, maxTextBytes);
  } catch (error) {
    if (GONE.has(codeOf(error))) return undefined;
    throw error;
  }
}

/** Deleted, or replaced by a link, between being found and being opened. */
const GONE = new Set<unknown>(["ENOENT", "ENOTDIR", "ELOOP"]);

async function readAll(path: string, maxTextBytes: number): Promise<FileContent | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  await using handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const before = await handle.stat();
  if (!before.isFile() || (await locationOf(handle, path)) !== path) return undefined;
  const hash = createHash("sha256");
  const kept: Buffer[] = [];
  let length = 0;
  for (const chunk = Buffer.alloc(CHUNK_BYTES); length < MAX_HASHED_BYTES;) {
    const wanted = Math.min(chunk.length, MAX_HASHED_BYTES - length);
    const { bytesRead } = await handle.read(chunk, 0, wanted, length);
    if (bytesRead === 0) break;
    const bytes = chunk.subarray(0, bytesRead);
    hash.update(bytes);
    length += bytesRead;
    if (length <= maxTextBytes) kept.push(Buffer.from(bytes));
  }
  const after = await handle.stat();
  if (after.size !== before.size || after.mtimeMs !== before.mtimeMs) return undefined;
  return {
    size: after.size,
    modifiedMs: Math.trunc(after.mtimeMs),
    sha256: hash.digest("hex"),
    text: after.size <= maxTextBytes ? decode(Buffer.concat(kept)) : null,
  };
}

/** Where an open file really is: a folder on the way to it may have become a link meanwhile. */
function locationOf(handle: FileHandle, path: string): Promise<string> {
  return process.platform === "linux" ? readlink(`/proc/self/fd/${handle.fd}`) : realpath(path);
}

function decode(bytes: Buffer): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null; // not text
  }
}
