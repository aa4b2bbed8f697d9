/**
 * Reads the beginning of a file that must be inside a folder. Agents can write to the folders that their instructions are
 * read from, so nothing there is trusted: not the size, not the kind, and not that a name leads where it seems to.
 *
 * The text is cached until the file changes, so reading it again costs one system call.
 */
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open, readdir, readlink, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { codeOf } from "../model/error-code.ts";

export type FileRead =
  | {
      readonly kind: "read";
      /** Without links, and inside the folder when it was opened. */
      readonly path: string;
      readonly text: string;
      readonly size: number;
      readonly isCut: boolean;
    }
  | { readonly kind: "absent" }
  /** It exists and is not used; the reason follows "it". */
  | { readonly kind: "refused"; readonly reason: string };

export const MAX_KEPT_FILES = 1_000;

interface Kept {
  readonly stats: BigIntStats;
  readonly read: FileRead;
}

const kept = new Map<string, Kept>();

/** The first characters of a file in a folder. Links are followed if they stay inside. */
export async function readInside(name: string, folder: string, maxLength: number): Promise<FileRead> {
  const path = join(folder, name);
  const key = `${maxLength}\0${path}`;
  try {
    const stats = await stat(path, { bigint: true });
    const before = kept.get(key);
    if (before !== undefined && isSame(before.stats, stats)) return before.read;
    if (!stats.isFile()) return refused("is not a file");
    const read = await readAnew(path, folder, maxLength);
    if (read.kind === "read") keep(key, { stats: read.stats, read: read.read });
    return read.kind === "read" ? read.read : read;
  } catch (error) {
    return failed(error);
  }
}

type Fresh =
  | { readonly kind: "read"; readonly stats: BigIntStats; readonly read: FileRead }
  | Extract<FileRead, { kind: "refused" }>;

async function readAnew(path: string, folder: string, maxLength: number): Promise<Fresh> {
  const [real, root] = await Promise.all([realpath(path), realpath(folder)]);
  if (!real.startsWith(root.endsWith(sep) ? root : root + sep)) {
    return refused(`is a symbolic link out of ${root} and is not followed`);
  }
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  await using handle = await open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const stats = await handle.stat({ bigint: true });
  if (!stats.isFile()) return refused("is not a file");
  if ((await locationOf(handle, real)) !== real) return refused("was moved while being opened");
  const bytes = await readBytes(handle, maxLength * MAX_BYTES_PER_CHARACTER);
  if (bytes.includes(0)) return refused("is not a text file");
  const decoded = new TextDecoder().decode(bytes);
  const isCut = decoded.length > maxLength || BigInt(bytes.length) < stats.size;
  const text = isCut ? decoded.slice(0, maxLength).toWellFormed() : decoded;
  return { kind: "read", stats, read: { kind: "read", path: real, text, size: Number(stats.size), isCut } };
}

/** In UTF-8, per UTF-16 unit. */
const MAX_BYTES_PER_CHARACTER = 3;

/** Where an open file really is: a folder on its path may have become a link meanwhile. */
function locationOf(handle: FileHandle, path: string): Promise<string> {
  return process.platform === "linux" ? readlink(`/proc/self/fd/${handle.fd}`) : realpath(path);
}

async function readBytes(handle: FileHandle, maxBytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(Math.min(maxBytes, (await handle.stat()).size));
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return (
    a.dev === b.dev &&
    a.ino === b.ino &&
    a.size === b.size &&
    a.mtimeNs === b.mtimeNs &&
    a.ctimeNs === b.ctimeNs
  );
}

function keep(key: string, entry: Kept): void {
  kept.delete(key);
  kept.set(key, entry);
  const [oldest] = kept.keys();
  if (oldest !== undefined && kept.size > MAX_KEPT_FILES) kept.delete(oldest);
}

function refused(reason: string): Extract<FileRead, { kind: "refused" }> {
  return { kind: "refused", reason };
}

function failed(error: unknown): FileRead {
  const code = codeOf(error);
  if (code === undefined) throw error;
  if (code === "ENOENT" || code === "ENOTDIR") return { kind: "absent" };
  return refused(
    code === "EACCES" || code === "EPERM"
      ? "is not readable (permission denied)"
      : `cannot be read (${code})`,
  );
}

/** The names of the folders in a folder, links included, sorted. None if it cannot be read. */
export async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map(({ name }) => name)
      .toSorted();
  } catch {
    return []; // most of these folders do not exist
  }
}
