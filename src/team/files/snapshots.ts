/**
 * What files of the team held before we wrote them: `.cortex/snapshots/<path>/<UTC time>-<hash>`.
 *
 * A snapshot is another name for the old file itself and not a copy. So whoever had it open and writes to it after we
 * have put a new one in its place writes to the snapshot, where it can be found: its name says what it should hold.
 */
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative, sep } from "node:path";

import { DAY_MS } from "../../model/durations.ts";
import { KEPT_FOLDER, requireOwnFolder } from "./confine.ts";
import { hasCode } from "./file-failure.ts";
import { type TeamFileState, readSettled, readState } from "./file-state.ts";

export const SNAPSHOT_DAYS = 7;
export const MAX_SNAPSHOT_BYTES = 64 * 1024 * 1024;
/** Looking at the size of each is work: it is done at one write in so many. */
const PRUNE_EVERY = 16;

const HASH_LENGTH = 8;

export interface TeamSnapshot {
  /** Of the file that it is of, relative to the team directory. */
  readonly path: string;
  readonly name: string;
  readonly atMs: number;
  /** Where it is, to be read. */
  readonly file: string;
}

/** Those of one file. */
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

  /** A path for one of now, later than all there are. Old ones go. */
  next(state: TeamFileState, nowMs: number): string {
    const folder = openKeptFolder(this.#root, this.#folder);
    const all = this.list();
    if (all.length % PRUNE_EVERY === PRUNE_EVERY - 1) prune(all, nowMs);
    const atMs = Math.max(nowMs, (all.at(-1)?.atMs ?? 0) + 1);
    return join(folder, `${stampOf(atMs)}-${state.hash.slice(0, HASH_LENGTH)}`);
  }

  /** One of this name, where it does not hold what it did any more: somebody had it open. */
  async stray(name: string, { bytes }: TeamFileState, nowMs: number): Promise<TeamFileState | undefined> {
    const file = join(this.#root, this.#folder, name);
    const isAsNamed = (state: TeamFileState | undefined) =>
      state === undefined || name.endsWith(`-${state.hash.slice(0, HASH_LENGTH)}`);
    if (isAsNamed(readState(file, this.#path))) return undefined;
    const state = await readSettled(file, this.#path, { bytesBefore: bytes, last: undefined, nowMs });
    return isAsNamed(state) ? undefined : state;
  }
}

/** Of all files that have some, relative to the team directory. */
export function snapshotPaths(root: string): string[] {
  const folder = join(root, KEPT_FOLDER, "snapshots");
  const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
  const folders = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, entry.parentPath));
  return [...new Set(folders)].map((path) => path.split(sep).join("/"));
}

/** Whether it is the file itself and not a copy of it. */
export function keepSnapshot(file: string, snapshot: string): boolean {
  try {
    linkSync(file, snapshot);
    return true;
  } catch (error) {
    // Disks of cameras, some shares and some synchronised folders have no second names for a file.
    if (!hasCode(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV")) throw error;
    copyFileSync(file, snapshot);
    return false;
  }
}

/** Makes it, in a folder that no version control sees. */
export function openKeptFolder(root: string, folder: string): string {
  const path = join(root, folder);
  requireOwnFolder(root, folder);
  mkdirSync(path, { recursive: true });
  try {
    writeFileSync(join(root, KEPT_FOLDER, ".gitignore"), "*\n", { flag: "wx" });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
  return path;
}

/** The newest one stays, whatever its size. */
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

/** `20261115T215544123Z`: in the order of time, and good as a name everywhere. */
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
