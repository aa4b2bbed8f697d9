/** What the file system knows about a file: where it really is, how long it is, when it changed, what it holds. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readdir, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

import { hasCode } from "../model/error-code.ts";

export interface FileFacts {
  readonly real: string;
  readonly size: number;
  /** How many names it has. */
  readonly links: number;
  readonly bornMs: number;
  readonly changedMs: number;
}

const NOT_THERE = ["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENAMETOOLONG"] as const;

/** Undefined: it does not exist, or is no file. */
export async function factsOf(path: string): Promise<FileFacts | undefined> {
  try {
    const real = await realpath(path);
    const stats = await stat(real);
    const { size, nlink: links, birthtimeMs, ctimeMs } = stats;
    if (!stats.isFile()) return undefined;
    // Some file systems do not know when a file was made: then it may always have been there.
    const bornMs = birthtimeMs > 0 && birthtimeMs <= ctimeMs ? birthtimeMs : 0;
    return { real, size, links, bornMs, changedMs: ctimeMs };
  } catch (error) {
    if (hasCode(error, ...NOT_THERE)) return undefined;
    throw error;
  }
}

export async function hashOf(path: string | Buffer): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

/** Undefined: it is gone, as an empty identity file is when the command that it was made for has ended. */
export async function hashIfThere(path: string | Buffer): Promise<string | undefined> {
  try {
    return await hashOf(path);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

/** Folders, links and special files hold words, too: a name, and where a link leads. */
export interface EntryWords {
  readonly sha256: string;
  readonly bytes: number;
}

/** Undefined: it is a file, or does not exist. */
export async function wordsAt(path: string): Promise<EntryWords | undefined> {
  try {
    const stats = await lstat(path);
    if (stats.isFile()) return undefined;
    return stats.isSymbolicLink() ? await targetWords(path) : nameWords(Buffer.from(basename(path)));
  } catch (error) {
    if (hasCode(error, ...NOT_THERE, "EINVAL")) return undefined;
    throw error;
  }
}

export function nameWords(name: Buffer): EntryWords {
  return wordsOf("name", name);
}

export async function targetWords(path: string | Buffer): Promise<EntryWords> {
  return wordsOf("target", await readlink(path, { encoding: "buffer" }));
}

function wordsOf(kind: "name" | "target", words: Buffer): EntryWords {
  return { sha256: `${kind}:${createHash("sha256").update(words).digest("hex")}`, bytes: words.length };
}

/** Without links. What does not exist is where its folder is. */
export async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasCode(error, ...NOT_THERE)) throw error;
    const folder = dirname(path);
    return folder === path ? resolve(path) : placeOf(path);
  }
}

/** Where a file is or will be: the file itself is no link. */
export async function placeOf(path: string): Promise<string> {
  return join(await realOf(dirname(path)), basename(path));
}

/** The folders on the way to a path that do not exist, outermost first. */
export async function missingFolders(path: string): Promise<string[]> {
  const folder = dirname(path);
  try {
    await lstat(folder);
    return [];
  } catch (error) {
    if (!hasCode(error, ...NOT_THERE)) throw error;
    return folder === path ? [] : [...(await missingFolders(folder)), folder];
  }
}

/** The folder, and others beside it whose name differs only in the case of its letters. */
export async function spellingsOf(folder: string): Promise<string[]> {
  const [parent, name] = [dirname(folder), basename(folder)];
  const others = (await namesIn(parent)).filter(
    (other) => other !== name && other.toLowerCase() === name.toLowerCase(),
  );
  return [folder, ...others.map((other) => join(parent, other))];
}

/** None, if it cannot be read. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, ...NOT_THERE)) return [];
    throw error;
  }
}
