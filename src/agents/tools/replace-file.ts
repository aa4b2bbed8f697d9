/**
 * Replaces a file atomically: readers see the old or the new content, even after a crash. The content is written to a
 * temporary file in the same folder, which is then renamed.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access, lstat, open, rename, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";

import type { ToolContext } from "../../model/tool.ts";
import type { ConfinedPath } from "./confine.ts";
import { hasCode } from "../../model/error-code.ts";
import { openOrMakeFolder, requireFile } from "./open-inside.ts";

/** Creates missing parent folders. An existing file keeps its permissions; a read-only file is not replaced. */
export async function replaceFile(
  place: ConfinedPath,
  content: Buffer,
  { callKey, signal, labels }: Pick<ToolContext, "callKey" | "signal" | "labels">,
): Promise<void> {
  // The label is recorded before anything is made: also a folder has words, in its name.
  const replace = (): Promise<void> => replaceNow(place, content, { callKey, signal });
  await (labels === undefined ? replace() : labels.write(place.path, content, replace));
}

async function replaceNow(
  place: ConfinedPath,
  content: Buffer,
  { callKey, signal }: Pick<ToolContext, "callKey" | "signal">,
): Promise<void> {
  const name = basename(place.path);
  await using folder = await openOrMakeFolder(
    { path: dirname(place.path), shown: dirname(place.shown) },
    name,
  );
  const target = folder.at(name);
  const mode = await modeOf(target, place);
  // Named after the call, so that a repeated attempt removes the remains of an interrupted one.
  const temporary = folder.at(
    `.cortex-${createHash("sha256").update(callKey).digest("hex").slice(0, 16)}.tmp`,
  );
  await rm(temporary, { force: true });
  try {
    await writeNew(temporary, content, mode);
    signal.throwIfAborted();
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function modeOf(target: string, place: ConfinedPath): Promise<number | undefined> {
  try {
    const stats = await lstat(target);
    requireFile(stats, place);
    await access(target, constants.W_OK);
    return stats.mode & 0o7777;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

async function writeNew(path: string, content: Buffer, mode: number | undefined): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  await using handle = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  await handle.writeFile(content);
  if (mode !== undefined) await handle.chmod(mode);
  await handle.sync(); // otherwise a power failure could leave an empty file
}
