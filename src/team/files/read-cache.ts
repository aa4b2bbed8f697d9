/**
 * Files of a team as they were read, kept until they change: a team of a thousand is looked at every few seconds, and
 * hardly any of its files are other than before.
 */
import { isUtf8 } from "node:buffer";
import {
  type Dirent,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { join, sep } from "node:path";

import { excessOf, MAX_TEAM_FILE_BYTES } from "./file-state.ts";
import { isMovedAway } from "./swap-file.ts";
import type { FileProblem } from "../markdown/task.ts";
import { inOrderOfNames } from "./team.ts";

/**
 * The clock of a file system goes in steps of some milliseconds: of a file that was changed just before it was
 * read, a second change may not show in its times.
 */
const UNSURE_MS = 100;

/** Who replaces a file leaves its name free for some microseconds. */
const MAX_ATTEMPTS = 100;

export type ReadFile<Value> =
  | { readonly kind: "read"; readonly value: Value }
  | { readonly kind: "missing" }
  | { readonly kind: "unreadable"; readonly problem: FileProblem };

interface Entry<Value> {
  readonly identity: string;
  readonly isSure: boolean;
  readonly file: ReadFile<Value>;
}

export interface ReadCacheOptions<Value> {
  readonly root: string;
  readonly clock: () => number;
  readonly parse: (text: string) => Value;
}

export class ReadCache<Value> {
  readonly #parts: ReadCacheOptions<Value>;
  readonly #entries = new Map<string, Entry<Value>>();
  #reads = 0;

  constructor(parts: ReadCacheOptions<Value>) {
    this.#parts = parts;
  }

  /** How often a file had to be read so far. */
  get reads(): number {
    return this.#reads;
  }

  /** Never throws: what the disk says is part of the answer. */
  read(path: string): ReadFile<Value> {
    const before = this.#entries.get(path);
    const full = join(this.#parts.root, path);
    for (let attempt = 1; ; attempt += 1) {
      const file = this.#readNow(path, full);
      if (file.kind !== "missing" || !isMovedAway(full)) return file;
      if (before !== undefined) return before.file;
      if (attempt === MAX_ATTEMPTS) return file;
    }
  }

  /** What has gone from the disk need not be kept here. */
  keepOnly(paths: ReadonlySet<string>): void {
    for (const path of this.#entries.keys()) if (!paths.has(path)) this.#entries.delete(path);
  }

  #readNow(path: string, full: string): ReadFile<Value> {
    try {
      const stats = this.#statInside(full);
      if (stats === undefined) return unreadable(OUTSIDE);
      const identity = identify(stats);
      const before = this.#entries.get(path);
      if (before?.identity === identity && before.isSure) return before.file;
      const file = this.#readAnew(full, stats);
      const isSure = isSettled(stats, this.#parts.clock());
      this.#entries.set(path, { identity, isSure, file });
      return file;
    } catch (cause) {
      this.#entries.delete(path);
      return fromFailure(cause);
    }
  }

  #readAnew(full: string, stats: Stats): ReadFile<Value> {
    if (!stats.isFile()) return unreadable(NO_FILE);
    if (stats.size > MAX_TEAM_FILE_BYTES)
      return unreadable(tooLarge(`${stats.size} bytes, and at most ${MAX_TEAM_FILE_BYTES} are read`));
    const bytes = readFileSync(full);
    this.#reads += 1;
    if (!isUtf8(bytes)) return unreadable(notUtf8(bytes));
    const excess = excessOf(bytes);
    if (excess !== undefined) return unreadable(tooLarge(excess));
    return { kind: "read", value: this.#parts.parse(bytes.toString("utf8")) };
  }

  /** Undefined: a link leads out of the team directory, where nothing is ours to read. */
  #statInside(full: string): Stats | undefined {
    const stats = lstatSync(full);
    if (!stats.isSymbolicLink()) return stats;
    return isWithin(realpathSync(this.#parts.root), realpathSync(full)) ? statSync(full) : undefined;
  }
}

/** What is in folders, kept in the same way: looking whether a folder has changed is much faster than listing it. */
export class FolderCache {
  readonly #parts: Pick<ReadCacheOptions<never>, "root" | "clock">;
  readonly #entries = new Map<string, { readonly identity: string; readonly listed: readonly Dirent[] }>();

  constructor(parts: Pick<ReadCacheOptions<never>, "root" | "clock">) {
    this.#parts = parts;
  }

  /** By name. What is hidden is left out: it belongs to programs, ours or an editor's. Throws what the system says. */
  list(folder: string): readonly Dirent[] {
    const full = join(this.#parts.root, folder);
    const stats = statSync(full);
    const identity = identify(stats);
    const before = this.#entries.get(folder);
    if (before?.identity === identity) return before.listed;
    const listed = readdirSync(full, { withFileTypes: true })
      .filter(({ name }) => !name.startsWith("."))
      .toSorted((a, b) => inOrderOfNames(a.name, b.name));
    if (isSettled(stats, this.#parts.clock())) this.#entries.set(folder, { identity, listed });
    return listed;
  }

  keepOnly(folders: ReadonlySet<string>): void {
    for (const folder of this.#entries.keys()) if (!folders.has(folder)) this.#entries.delete(folder);
  }
}

/** What the system calls it: `EACCES`. */
export function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
}

export function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** What is from the future by our clock is never settled: then the clocks are not the same. */
function isSettled({ mtimeMs }: Stats, nowMs: number): boolean {
  return nowMs - mtimeMs > UNSURE_MS;
}

function identify({ dev, ino, mtimeMs, ctimeMs, size }: Stats): string {
  return `${dev}:${ino}:${mtimeMs}:${ctimeMs}:${size}`;
}

function fromFailure<Value>(cause: unknown): ReadFile<Value> {
  const code = codeOf(cause);
  if (code === "ENOENT" || code === "ENOTDIR") return { kind: "missing" };
  return unreadable({
    line: 1,
    rule: "file-unreadable",
    message: `the file cannot be read (${code})`,
    hint: "Let the account that runs Cortex read it.",
  });
}

function unreadable<Value>(problem: FileProblem): ReadFile<Value> {
  return { kind: "unreadable", problem };
}

const OUTSIDE: FileProblem = {
  line: 1,
  rule: "link-outside",
  message: "the file is a link that leads out of the team directory",
  hint: "Put the file itself here: Cortex reads and writes nothing outside the team directory.",
};

const NO_FILE: FileProblem = {
  line: 1,
  rule: "file-unreadable",
  message: "this is no file",
  hint: "A file of this name is expected here; move what is in its place.",
};

function tooLarge(excess: string): FileProblem {
  return {
    line: 1,
    rule: "file-too-large",
    message: `the file has ${excess}`,
    hint: "Move tasks that are done to another file: `cortex team housekeeping` takes out those older than a week.",
  };
}

function notUtf8(bytes: Buffer): FileProblem {
  return {
    line: lineOfBadByte(bytes),
    rule: "not-utf8",
    message: "the file is not in UTF-8 from this line on, so it is not read",
    hint: "Save it as UTF-8.",
  };
}

/** A character of UTF-8 never contains a line end, so each line can be looked at alone. */
function lineOfBadByte(bytes: Buffer): number {
  for (let line = 1, start = 0; ; line += 1) {
    const end = bytes.indexOf(10, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}
