/**
 * Earlier contents of the team's files: `.cortex/snapshots/<path>/<UTC time>-<hash>`.
 *
 * A snapshot is a hard link to the old file, not a copy. A program that had the file open and writes to it after we replaced
 * it writes to the snapshot, where we can find the change: the hash in the name no longer matches.
 */
import { copyFileSync, existsSync, linkSync, readdirSync, rmSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";

import { DAY_MS } from "../../model/durations.ts";
import { KEPT_FOLDER, openKeptFolder } from "./confine.ts";
import { hasCode } from "../../model/error-code.ts";
import { type TeamFileState, readSettled, readState } from "./file-state.ts";

export const SNAPSHOT_DAYS = 7;
export const MAX_SNAPSHOT_BYTES = 64 * 1024 * 1024;
/** Pruning reads the size of every snapshot, so it runs once in this many writes. */
const PRUNE_EVERY = 16;

const HASH_LENGTH = 8;

export interface TeamSnapshot {
  /** The original file, relative to the team directory. */
  readonly path: string;
  readonly name: string;
  readonly atMs: number;
  /** The snapshot itself. Absolute. */
  readonly file: string;
}

/** The snapshots of one file. */
export class Snapshots {
  readonly #root: string;
  readonly #path: string;
  readonly #folder: string;

  constructor(root: string, path: string) {
    this.#root = root;
    this.#path = path;
    this.#folder = join(KEPT_FOLDER, "snapshots", path);
  }

  /** Oldest first. */
  list(): TeamSnapshot[] {
    const folder = join(this.#root, this.#folder);
    return namesIn(folder)
      .flatMap((name) => {
        const atMs = timeOf(name);
        return atMs === undefined ? [] : [{ path: this.#path, name, atMs, file: join(folder, name) }];
      })
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** A path for a new snapshot, which sorts after all others. Old ones are pruned. */
  next(state: TeamFileState, nowMs: number): string {
    const folder = openKeptFolder(this.#root, this.#folder);
    const all = this.list();
    if (all.length % PRUNE_EVERY === PRUNE_EVERY - 1) prune(all, nowMs);
    const atMs = Math.max(nowMs, (all.at(-1)?.atMs ?? 0) + 1);
    return join(folder, `${stampOf(atMs)}-${state.hash.slice(0, HASH_LENGTH)}`);
  }

  /** The snapshot of this name if its content has changed: another program had the file open. */
  async stray(name: string, { bytes }: TeamFileState, nowMs: number): Promise<TeamFileState | undefined> {
    const file = join(this.#root, this.#folder, name);
    const isAsNamed = (state: TeamFileState | undefined) =>
      state === undefined || name.endsWith(`-${state.hash.slice(0, HASH_LENGTH)}`);
    if (isAsNamed(readState(file, this.#path))) return undefined;
    const state = await readSettled(file, this.#path, { bytesBefore: bytes, last: undefined, nowMs });
    return isAsNamed(state) ? undefined : state;
  }
}

/** All files with snapshots, relative to the team directory. */
export function snapshotPaths(root: string): string[] {
  const folder = join(root, KEPT_FOLDER, "snapshots");
  const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
  const folders = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, entry.parentPath));
  return [...new Set(folders)].map((path) => path.split(sep).join("/"));
}

/** True if the snapshot is a hard link, false if it is a copy. */
export function keepSnapshot(file: string, snapshot: string): boolean {
  try {
    linkSync(file, snapshot);
    return true;
  } catch (error) {
    if (!hasCode(error, ...NO_LINKS)) throw error;
    copyFileSync(file, snapshot);
    return false;
  }
}

/** What file systems without hard links answer: FAT, some network shares, some synced folders. */
export const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV"];

/** The newest snapshot stays, whatever its size. */
function prune(all: readonly TeamSnapshot[], nowMs: number): void {
  let bytes = 0;
  for (const [index, { file, atMs }] of all.toReversed().entries()) {
    bytes += statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    const isOld = nowMs - atMs > SNAPSHOT_DAYS * DAY_MS;
    if (index > 0 && (isOld || bytes > MAX_SNAPSHOT_BYTES)) rmSync(file, { force: true });
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

/** `20261115T215544123Z`: sorts by time, and is a valid file name everywhere. */
function stampOf(atMs: number): string {
  return new Date(atMs).toISOString().replaceAll(/[-:.]/g, "");
}

function timeOf(name: string): number | undefined {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-[0-9a-f]{8}$/.exec(name);
  if (parts === null) return undefined;
  const [, year, month, day, hour, minute, second, ms] = parts;
  const atMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
  return Number.isNaN(atMs) ? undefined : atMs;
}
