/**
 * What the artifact was like after each step, by its content, so that equal contents are kept once.
 *
 * A content is written before the record that names it. A crash in between leaves a file that nobody names, and that is
 * removed with the old ones. It is checked when it is read: what a power cut has left half written is not there.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "./write-whole.ts";

const HASH = /^[0-9a-f]{64}$/;

/** Returns the hash. */
export async function keepArtifact(home: string, text: string): Promise<string> {
  const hash = hashOf(text);
  if ((await readKept(home, hash)) !== undefined) return hash;
  const folder = folderOf(home);
  await mkdir(folder, { recursive: true });
  await writeWhole(join(folder, hash), text, { mode: 0o600 });
  return hash;
}

/** Undefined: it is not kept any more. */
export async function readKept(home: string, hash: string): Promise<string | undefined> {
  if (!HASH.test(hash)) return undefined;
  try {
    const text = await readFile(join(folderOf(home), hash), "utf8");
    return hashOf(text) === hash ? text : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Removes all that nobody names. */
export async function forgetArtifacts(home: string, isNamed: (hash: string) => boolean): Promise<void> {
  const names = await readdir(folderOf(home)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  for (const name of names) {
    if (!HASH.test(name) || !isNamed(name)) await rm(join(folderOf(home), name), { force: true });
  }
}

function folderOf(home: string): string {
  return join(home, "data", "artifacts");
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
