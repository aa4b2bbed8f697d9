/** What the artifact was like after each step, by its content. */
import { join } from "node:path";

import { forgetFiles, keepFile, readKeptFile } from "../../store/kept-files.ts";

/** Returns the hash. */
export function keepArtifact(home: string, text: string): Promise<string> {
  return keepFile(folderOf(home), Buffer.from(text));
}

/** Undefined: it is not kept any more. */
export async function readKept(home: string, hash: string): Promise<string | undefined> {
  return (await readKeptFile(folderOf(home), hash))?.toString("utf8");
}

/** Removes all that no step names. */
export async function forgetArtifacts(home: string, isNamed: (hash: string) => boolean): Promise<void> {
  await forgetFiles(folderOf(home), isNamed);
}

function folderOf(home: string): string {
  return join(home, "data", "artifacts");
}
