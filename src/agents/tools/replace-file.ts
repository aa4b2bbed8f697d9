/**
 * Writing a file so that whoever reads it, and whatever happens, it is the old one or the new one: the
 * content goes to a file beside it, which then takes its name.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access, lstat, open, rename, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";

import type { ToolContext } from "../../model/tool.ts";
import type { Place } from "./confine.ts";
import { hasCode } from "../../model/error-code.ts";
import { makeFolder, requireFile } from "./open-inside.ts";

/** Makes the folders above it too. A file that is there keeps its permissions, and one that is read-only its content. */
export async function replaceFile(
  place: Place,
  content: Buffer,
  { callKey, signal }: Pick<ToolContext, "callKey" | "signal">,
): Promise<void> {
  await using folder = await makeFolder({ path: dirname(place.path), shown: dirname(place.shown) });
  const target = folder.at(basename(place.path));
  const mode = await modeOf(target, place);
  // Named for the call, so that another attempt removes what one that was cut off has left.
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

async function modeOf(target: string, place: Place): Promise<number | undefined> {
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
  await handle.sync(); // Or a power cut could leave the new name with nothing in it.
}
