/**
 * Replaces a file. Readers see either the old or the new file. The old one stays as a snapshot, which is checked afterwards
 * for late writes by other programs.
 *
 * Renaming the new file over the old one is atomic, but does not reveal what it replaced: a file that another program
 * renamed into place just before would be lost. So while others are known to be writing, the old file is moved away
 * first, and the new one takes its name only if the name is free. For some microseconds between the two steps there is
 * no file. A process killed there leaves its draft behind, which tells the next writer to restore the old file.
 */
import { randomUUID } from "node:crypto";
import { existsSync, linkSync, readdirSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { hasCode } from "../../model/error-code.ts";
import { type TeamFileState, holds, isSame, readSettled } from "./file-state.ts";
import { keepSnapshot, NO_LINKS, type Snapshots } from "./snapshots.ts";

interface Swap {
  readonly path: string;
  readonly shown: string;
  readonly text: string;
  /** The file to replace. */
  readonly before: TeamFileState;
  /** Path of the snapshot to keep of it. */
  readonly snapshot: string;
  readonly nowMs: number;
  readonly areOthersAtWork: boolean;
  /** Whether we still hold the lock. Called just before the swap. */
  readonly isHeld: () => boolean;
}

type SwapOutcome =
  | { readonly kind: "done" }
  /** Nothing was written: the file has changed since it was read. */
  | { readonly kind: "changed" }
  /** The file was written, but it replaced this instead of `before`. */
  | { readonly kind: "overtaken"; readonly by: TeamFileState };

export async function swapFile(swap: Swap): Promise<SwapOutcome> {
  const { path, shown, before, snapshot } = swap;
  const draft = draftPath(path);
  try {
    await writeDraft(draft, swap.text, before);
    if (!swap.isHeld() || !isSame(path, before)) return { kind: "changed" };
    if (!(swap.areOthersAtWork ? move(swap, draft) : replace(swap, draft))) return { kind: "changed" };
  } finally {
    rmSync(draft, { force: true });
  }
  await syncFolder(dirname(path));
  if (holds(snapshot, before)) return { kind: "done" };
  const kept = await readSettled(snapshot, shown, {
    bytesBefore: before.bytes,
    last: before.hash,
    nowMs: swap.nowMs,
  });
  return kept === undefined || kept.hash === before.hash ? { kind: "done" } : { kind: "overtaken", by: kept };
}

/** Creates a file. False if it exists. */
export async function makeFile(path: string, text: string): Promise<boolean> {
  const draft = draftPath(path);
  try {
    await writeDraft(draft, text, undefined);
    linkSync(draft, path);
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    if (!hasCode(error, ...NO_LINKS)) throw error;
    if (existsSync(path)) return false;
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  await syncFolder(dirname(path));
  return true;
}

/** Restores the file that a killed process had moved away, and removes its drafts. Needs the lock. */
export function clearUp(path: string, snapshots: Snapshots): void {
  if (isMovedAway(path)) {
    const old = snapshots.list().at(-1)?.file;
    linkSync(old ?? movingPath(path), path);
    if (old !== undefined) rmSync(old); // a write to the file would also change the snapshot
  }
  rmSync(movingPath(path), { force: true });
  const folder = dirname(path);
  for (const name of readdirSync(folder))
    if (name.startsWith(`.${basename(path)}.`) && name.endsWith(".tmp"))
      rmSync(join(folder, name), { force: true });
}

export function isMovedAway(path: string): boolean {
  return !existsSync(path) && existsSync(movingPath(path)) && !existsSync(path);
}

function replace({ path, before, snapshot }: Swap, draft: string): boolean {
  const isFileItself = keepSnapshot(path, snapshot);
  // If the snapshot is a hard link, later writes to the file show up in it.
  if (!isFileItself && !isSame(path, before)) return false;
  try {
    renameSync(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false; // the next holder of the lock has cleaned up
    throw error;
  }
}

function move(swap: Swap, draft: string): boolean {
  const { path, snapshot } = swap;
  const moving = movingPath(path);
  try {
    linkSync(draft, moving);
  } catch (error) {
    if (hasCode(error, ...NO_LINKS)) return replace(swap, draft);
    if (hasCode(error, "EEXIST", "ENOENT")) return false; // another process holds the lock by now
    throw error;
  }
  try {
    renameSync(path, snapshot);
    linkSync(moving, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EXDEV")) return replace(swap, draft);
    // The file is gone, or another program has just created one.
    if (hasCode(error, "ENOENT", "EEXIST")) return false;
    throw error;
  } finally {
    rmSync(moving, { force: true });
  }
}

async function writeDraft(draft: string, text: string, before: TeamFileState | undefined): Promise<void> {
  await using handle = await open(draft, "wx");
  await handle.writeFile(text);
  if (before !== undefined) {
    const { uid, gid } = await handle.stat();
    if (uid !== before.owner || gid !== before.group)
      await handle.chown(before.owner, before.group).catch(() => {}); // needs root; otherwise the owner is right already
    await handle.chmod(before.mode);
  }
  await handle.sync(); // a power cut could otherwise leave an empty file under the new name
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}

/** Unique for each write: a writer that has lost the lock must not swap in the draft of the next one. */
function draftPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
}

function movingPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.moving`);
}
