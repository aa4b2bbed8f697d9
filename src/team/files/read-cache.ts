/**
 * Parsed files of a team, cached until they change: a team of a thousand members is read every few seconds, and hardly any
 * of its files change in between.
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
import { join } from "node:path";

import { codeOf, hasCode } from "../../model/error-code.ts";
import { isWithin } from "./confine.ts";
import { excessOf, MAX_TEAM_FILE_BYTES, tooManyBytes } from "./file-state.ts";
import { isMovedAway } from "./swap-file.ts";
import type { FileProblem } from "../markdown/task.ts";
import { inOrderOfNames } from "./team.ts";

/**
 * File times have a resolution of some milliseconds: a second change right after the first may not show in them, so a file
 * changed this recently is read again.
 */
const UNSURE_MS = 100;

/** A file that is being replaced does not exist for some microseconds. */
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

interface ReadCacheOptions<Value> {
  readonly root: string;
  readonly clock: () => number;
  readonly parse: (text: string) => Value;
}

export class ReadCache<Value> {
  readonly #options: ReadCacheOptions<Value>;
  readonly #entries = new Map<string, Entry<Value>>();
  #reads = 0;

  constructor(options: ReadCacheOptions<Value>) {
    this.#options = options;
  }

  /** How often a file was read from disk so far. */
  get reads(): number {
    return this.#reads;
  }

  /** Never throws: failures are part of the result. */
  read(path: string): ReadFile<Value> {
    const before = this.#entries.get(path);
    const full = join(this.#options.root, path);
    for (let attempt = 1; ; attempt += 1) {
      const file = this.#readNow(path, full);
      if (file.kind !== "missing" || !isMovedAway(full)) return file;
      if (before !== undefined) return before.file;
      if (attempt === MAX_ATTEMPTS) return file;
    }
  }

  /** Drops everything but these, for files that no longer exist. */
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
      const isSure = isSettled(stats, this.#options.clock());
      this.#entries.set(path, { identity, isSure, file });
      return file;
    } catch (cause) {
      this.#entries.delete(path);
      return fromFailure(cause);
    }
  }

  #readAnew(full: string, stats: Stats): ReadFile<Value> {
    if (!stats.isFile()) return unreadable(NO_FILE);
    if (stats.size > MAX_TEAM_FILE_BYTES) return unreadable(tooLarge(tooManyBytes(stats.size)));
    const bytes = readFileSync(full);
    this.#reads += 1;
    if (!isUtf8(bytes)) return unreadable(notUtf8(bytes));
    const excess = excessOf(bytes);
    if (excess !== undefined) return unreadable(tooLarge(excess));
    return { kind: "read", value: this.#options.parse(bytes.toString("utf8")) };
  }

  /** Undefined: a link leads out of the team directory. */
  #statInside(full: string): Stats | undefined {
    const stats = lstatSync(full);
    if (!stats.isSymbolicLink()) return stats;
    return isWithin(realpathSync(this.#options.root), realpathSync(full)) ? statSync(full) : undefined;
  }
}

/** Cached listings of folders: checking whether a folder has changed is much faster than listing it. */
export class FolderCache {
  readonly #options: Pick<ReadCacheOptions<never>, "root" | "clock">;
  readonly #entries = new Map<string, { readonly identity: string; readonly listed: readonly Dirent[] }>();

  constructor(options: Pick<ReadCacheOptions<never>, "root" | "clock">) {
    this.#options = options;
  }

  /** Sorted by name, without hidden files, which belong to programs. Throws what the system throws. */
  list(folder: string): readonly Dirent[] {
    const full = join(this.#options.root, folder);
    const stats = statSync(full);
    const identity = identify(stats);
    const before = this.#entries.get(folder);
    if (before?.identity === identity) return before.listed;
    const listed = readdirSync(full, { withFileTypes: true })
      .filter(({ name }) => !name.startsWith("."))
      .toSorted((a, b) => inOrderOfNames(a.name, b.name));
    if (isSettled(stats, this.#options.clock())) this.#entries.set(folder, { identity, listed });
    return listed;
  }

  keepOnly(folders: ReadonlySet<string>): void {
    for (const folder of this.#entries.keys()) if (!folders.has(folder)) this.#entries.delete(folder);
  }
}

/** A time in the future is never settled: the clocks differ. */
function isSettled({ mtimeMs }: Stats, nowMs: number): boolean {
  return nowMs - mtimeMs > UNSURE_MS;
}

function identify({ dev, ino, mtimeMs, ctimeMs, size }: Stats): string {
  return `${dev}:${ino}:${mtimeMs}:${ctimeMs}:${size}`;
}

function fromFailure<Value>(cause: unknown): ReadFile<Value> {
  if (hasCode(cause, "ENOENT", "ENOTDIR")) return { kind: "missing" };
  return unreadable({
    line: 1,
    rule: "file-unreadable",
    message: `cannot read the file (${codeOf(cause) ?? String(cause)})`,
    hint: "Grant read permission to the account that runs Cortex.",
  });
}

function unreadable<Value>(problem: FileProblem): ReadFile<Value> {
  return { kind: "unreadable", problem };
}

const OUTSIDE: FileProblem = {
  line: 1,
  rule: "link-outside",
  message: "the file is a link that leads out of the team directory",
  hint: "Replace the link with the file: Cortex reads and writes nothing outside the team directory.",
};

const NO_FILE: FileProblem = {
  line: 1,
  rule: "file-unreadable",
  message: "not a regular file",
  hint: "Move it away: Cortex expects a file of this name here.",
};

function tooLarge(excess: string): FileProblem {
  return {
    line: 1,
    rule: "file-too-large",
    message: `the file has ${excess}`,
    hint: "Move finished tasks to another file: `cortex team housekeeping` removes those older than a week.",
  };
}

function notUtf8(bytes: Buffer): FileProblem {
  return {
    line: lineOfBadByte(bytes),
    rule: "not-utf8",
    message: "invalid UTF-8 from this line on, so the file is not read",
    hint: "Save it as UTF-8.",
  };
}

/** No UTF-8 sequence contains a line feed, so each line can be checked on its own. */
function lineOfBadByte(bytes: Buffer): number {
  for (let line = 1, start = 0; ; line += 1) {
    const end = bytes.indexOf(10, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}
