/**
 * A folder of files named by the hash of their content, so that equal contents are kept once.
 *
 * A file is written before the row that names it. A crash in between leaves a file that no row names, which is
 * removed later. A file is checked when it is read: half a file, after a power cut, counts as none.
 * A link in place of the folder is refused with `file_unsafe`: files of others are behind it.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";

import { requireOwnFolder } from "../model/private-file.ts";
import { writeWhole } from "./write-whole.ts";

const HASH = /^[0-9a-f]{64}$/;

/** Returns the hash. A file that is there already counts as new: see `forgetFiles`. */
export async function keepFile(folder: string, content: Uint8Array): Promise<string> {
  requireOwnFolder(folder);
  const hash = sha256(content);
  if ((await readKeptFile(folder, hash)) === undefined) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeWhole(join(folder, hash), content, { mode: 0o600, flush: true });
  } else {
    const now = new Date();
    await utimes(join(folder, hash), now, now);
  }
  return hash;
}

/** Undefined: it is not kept, or is damaged. */
export async function readKeptFile(folder: string, hash: string): Promise<Buffer | undefined> {
  if (!HASH.test(hash)) return undefined;
  try {
    const content = await readFile(join(folder, hash));
    return sha256(content) === hash ? content : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Removes the files that no row names. Those younger than `beforeMs` stay: their row may be on its way. */
export async function forgetFiles(
  folder: string,
  isNamed: (hash: string) => boolean,
  beforeMs = Infinity,
): Promise<number> {
  requireOwnFolder(folder);
  const names = await readdir(folder).catch(ifMissing([]));
  let forgotten = 0;
  for (const name of names) {
    if (HASH.test(name) && isNamed(name)) continue;
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(ifMissing({ mtimeMs: Infinity }));
    if (mtimeMs >= beforeMs) continue;
    await rm(path, { force: true });
    forgotten++;
  }
  return forgotten;
}

function ifMissing<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === "ENOENT") return value;
    throw error;
  };
}

function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
