/**
 * Puts a new file in the place of an old one. Whoever reads has the one or the other; the old one stays as a snapshot,
 * and is looked at afterwards: did somebody write to it until the last moment?
 *
 * Renaming the new file over the old one is one step, but nobody learns what it replaced: if another program has renamed
 * a file of its own there just before, that is gone. So while others are known to be at work, the old file is moved
 * away first, whatever it is by then, and the new one gets its name only if the name is free. Between the two, for some
 * microseconds, there is no file. Who is killed there leaves the draft, by which the next one knows to put the old
 * file back.
 */
import { randomUUID } from "node:crypto";
import { existsSync, linkSync, readdirSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { hasCode } from "./file-failure.ts";
import { type TeamFileState, holds, isSame, readSettled } from "./file-state.ts";
import { keepSnapshot, type Snapshots } from "./snapshots.ts";

export interface Swap {
  readonly path: string;
  readonly shown: string;
  readonly text: string;
  /** What it takes the place of. */
  readonly before: TeamFileState;
  /** Where that is kept. */
  readonly snapshot: string;
  readonly nowMs: number;
  readonly areOthersAtWork: boolean;
  /** Asked at the last moment. */
  readonly isHeld: () => boolean;
}

export type Swapped =
  | { readonly kind: "done" }
  /** Nothing was written: the file is not what was read any more. */
  | { readonly kind: "changed" }
  /** It was written, and what it took the place of was not what was read: this. */
  | { readonly kind: "overtaken"; readonly by: TeamFileState };

export async function swapFile(swap: Swap): Promise<Swapped> {
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

/** Makes a file that is not there. False: it is. */
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

/** Puts back what somebody who was killed has moved away, and removes what they left. Under the lock. */
export function clearUp(path: string, snapshots: Snapshots): void {
  if (isMovedAway(path)) {
    const old = snapshots.list().at(-1)?.file;
    linkSync(old ?? movingPath(path), path);
    if (old !== undefined) rmSync(old); // or whoever writes to the file writes to the snapshot too
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

const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV"];

function replace({ path, before, snapshot }: Swap, draft: string): boolean {
  const isFileItself = keepSnapshot(path, snapshot);
  // What is written to the file from here on is found in the snapshot, if that is the file itself.
  if (!isFileItself && !isSame(path, before)) return false;
  try {
    renameSync(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false; // whoever has the lock by now has cleared up
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
    if (hasCode(error, "EEXIST", "ENOENT")) return false; // somebody else has the lock by now
    throw error;
  }
  try {
    renameSync(path, snapshot);
    linkSync(moving, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EXDEV")) return replace(swap, draft);
    // It is gone, or somebody has made a new one in that moment.
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
      await handle.chown(before.owner, before.group).catch(() => {}); // only root may, and nobody else needs to
    await handle.chmod(before.mode);
  }
  await handle.sync(); // or a power cut could leave the new name with nothing in it
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}

/** Of one write only: whoever has lost the lock must not put the draft of the next one in its place. */
function draftPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
}

function movingPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.moving`);
}
