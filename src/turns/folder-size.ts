/**
 * How much a folder holds, known at any time at a small price: it is walked in the background, one entry at a time, and
 * rests after each walk for a multiple of the time that the walk took.
 */
import type { BigIntStats, Dirent } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

import { within } from "../programs/run-group.ts";

/** A walk ends after this many entries; what is beyond them does not count. */
const MAX_ENTRIES = 1_000_000;
/** The rest after a walk, as a multiple of its duration. */
const REST = 20;
/** How long anyone waits for a walk. After that, they get the size before it. */
const MAX_WAIT_MS = 100;
/** The unit of `Stats.blocks`. */
const BLOCK_BYTES = 512n;
/** What a file takes besides its content. */
const ENTRY_BYTES = 256n;

export class FolderSize {
  readonly #path: string;
  readonly #except: () => readonly string[];
  readonly #rest: number;
  readonly #maxWaitMs: number;
  #bytes: number | undefined;
  #walk: Promise<void> | undefined;
  #dueAtMs = 0;

  /** Folders in `except` do not count. */
  constructor(
    path: string,
    { except = () => [], rest = REST, maxWaitMs = MAX_WAIT_MS }: FolderSizeOptions = {},
  ) {
    this.#path = path;
    this.#except = except;
    this.#rest = rest;
    this.#maxWaitMs = maxWaitMs;
  }

  /** The last known size. Undefined: the first walk takes its time. */
  async bytes(): Promise<number | undefined> {
    if (this.#walk === undefined && performance.now() >= this.#dueAtMs) this.#walk = this.#refresh();
    if (this.#walk !== undefined) await within(this.#walk, this.#maxWaitMs);
    return this.#bytes;
  }

  async #refresh(): Promise<void> {
    const begunMs = performance.now();
    this.#bytes = await measureFolder(this.#path, this.#except());
    const endedMs = performance.now();
    this.#dueAtMs = endedMs + (endedMs - begunMs) * this.#rest;
    this.#walk = undefined;
  }
}

export interface FolderSizeOptions {
  readonly except?: () => readonly string[];
  readonly rest?: number;
  readonly maxWaitMs?: number;
}

/** The space that a folder takes on its disk, links not followed. 0 if it does not exist. Never rejects. */
export async function measureFolder(
  path: string,
  except: readonly string[] = [],
  maxEntries = MAX_ENTRIES,
): Promise<number> {
  const folders = [path];
  let bytes = 0n;
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const entry of entriesOf(folder)) {
      if (++entries > maxEntries) return Number(bytes);
      const at = join(folder, entry.name);
      if (except.includes(at)) continue;
      if (entry.isDirectory()) folders.push(at);
      bytes += spaceOf(await statsOf(at));
    }
  }
  return Number(bytes);
}

async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder);
  } catch {
    // It is gone, or may not be read.
  }
}

async function statsOf(path: string): Promise<BigIntStats | undefined> {
  return lstat(path, { bigint: true }).catch(() => undefined);
}

/** A sparse file takes less than its length. */
function spaceOf(stats: BigIntStats | undefined): bigint {
  return stats === undefined ? 0n : stats.blocks * BLOCK_BYTES + ENTRY_BYTES;
}
