/**
 * Watches a folder: each file that was created, changed or deleted becomes an event, once it has settled.
 *
 * The system tells when something happens, and that only asks for a look. A look compares what is there with what
 * is known, which is kept by whoever takes the events in, in the same commit. So it does not matter whether something
 * happened while nobody watched, how often the system tells of it, or whether it forgets to: a slow poll is
 * the floor.
 */
import { type FSWatcher, watch } from "node:fs";
import { realpath } from "node:fs/promises";

import { CortexError } from "../../model/errors.ts";
import { FILES_ADAPTER } from "../../model/event.ts";
import { MAX_HASHED_BYTES, readWatched } from "./read-file.ts";
import type { FileState, WatchedFile } from "../../store/store.ts";
import { type Found, type Globs, isAskedFor, lookAt, relativeTo, scanFolder } from "./scan.ts";

export interface WatchedFolder extends Globs {
  readonly name: string;
  readonly folder: string;
  /** A file that has not changed for so long is complete. */
  readonly settleMs: number;
  /** Larger files come without their content. */
  readonly maxBytes: number;
  /** What becomes of files that are there before the folder is watched for the first time. */
  readonly existing: "report" | "ignore";
}

interface FileWatchPorts {
  readonly clock: () => number;
  /** What is known of all files under a path. */
  readonly known: (under: string) => Promise<readonly WatchedFile[]>;
  /** Takes an event in, once, and notes what is known of its file in the same commit. */
  readonly accept: (event: FileEvent, file: FileState) => Promise<unknown>;
  /** Notes what is known of files of which there is nothing to tell. */
  readonly note: (files: readonly FileState[]) => Promise<void>;
  /** Told in a sentence what does not work; of the same thing once, until it changes. */
  readonly onProblem: (problem: string) => void;
}

export interface FileEvent {
  readonly adapter: typeof FILES_ADAPTER;
  readonly sourceId: {
    readonly kind: "file";
    readonly path: string;
    readonly modifiedMs: number;
    readonly change: Change;
    readonly sha256: string;
  };
  readonly channel: "files";
  readonly sender: string;
  readonly content: string | null;
  readonly contentType: "text" | "file";
  readonly metadata: {
    readonly type: Change;
    readonly watch: string;
    readonly path: string;
    /** From the watched folder. */
    readonly name: string;
    readonly size: number;
    readonly modifiedAt: string;
    /** Null: the file is so large that only its beginning was looked at. */
    readonly sha256: string | null;
  };
  readonly timestampMs: number;
}

type Change = "created" | "changed" | "deleted";

/** So that a burst of changes is looked at together. */
const LOOK_MS = 50;
/** A look at many files takes its time, so a large folder is looked at less often. */
const FILES_PER_MS = 10;
/** Where the system tells nothing, as with many network drives. */
const POLL_MS = 30_000;
/** What failed is tried again after so long. */
export const RETRY_MS = 60_000;

/** What a file was like when it was last looked at, and since when. */
interface Unsettled {
  readonly found: Found | undefined;
  readonly sinceMs: number;
}

export class FileWatch implements AsyncDisposable {
  readonly #watched: WatchedFolder;
  readonly #parts: FileWatchPorts;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #unsettled = new Map<string, Unsettled>();
  readonly #stopping = new AbortController();
  #known: Map<string, WatchedFile> | undefined;
  #next: { readonly timeout: NodeJS.Timeout; readonly waitMs: number } | undefined;
  #looking: Promise<void> = Promise.resolve();
  #problems: ReadonlySet<string> = new Set();
  #size = 0;

  constructor(watched: WatchedFolder, parts: FileWatchPorts) {
    this.#watched = watched;
    this.#parts = parts;
  }

  start(): void {
    void this.look();
  }

  /** Looks at the folder now. Resolves when all that has settled was taken in. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#compare());
    return this.#looking;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#next?.timeout);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    await this.#looking;
  }

  /** Whatever fails here is told, and tried again: nothing is known of it until it was taken in. */
  async #compare(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    const problems = new Set<string>();
    let waitMs = POLL_MS;
    try {
      const root = await realpath(this.#watched.folder);
      const { files, folders, problems: found } = await scanFolder(root, this.#watched);
      for (const problem of found) problems.add(problem);
      this.#size = files.size;
      this.#watchFolders(folders, problems);
      this.#known ??= await this.#firstLook(root, files);
      waitMs = await this.#settleAll(root, files, problems);
    } catch (error) {
      // A disk that was unplugged is not a folder whose files were all deleted.
      problems.add(`Cannot watch ${this.#watched.folder} for now: ${reason(error)}`);
    }
    for (const problem of problems) if (!this.#problems.has(problem)) this.#parts.onProblem(problem);
    this.#problems = problems;
    this.#lookIn(waitMs);
  }

  async #firstLook(root: string, files: ReadonlyMap<string, Found>): Promise<Map<string, WatchedFile>> {
    const under = `${root}/`;
    const known = await this.#parts.known(under);
    if (known.length === 0) {
      // The folder itself is noted too: an empty folder that is known is not one that is new.
      const isIgnored = this.#watched.existing === "ignore";
      const old = isIgnored ? Array.from(files, ([path, found]) => ({ path, ...found, sha256: "" })) : [];
      const noted = [{ path: under, modifiedMs: 0, size: 0, sha256: "" }, ...old];
      await this.#parts.note(noted);
      return mapOf(old);
    }
    return mapOf(known.filter(({ path }) => path !== under));
  }

  /** Gives how long it is until the next file may have settled. */
  async #settleAll(root: string, files: ReadonlyMap<string, Found>, problems: Set<string>): Promise<number> {
    const known = this.#known!;
    const settled: (readonly [path: string, found: Found | undefined])[] = [];
    let waitMs = POLL_MS;
    for (const path of new Set([...files.keys(), ...known.keys(), ...this.#unsettled.keys()])) {
      const found = files.get(path);
      if (isSame(found, known.get(path))) this.#unsettled.delete(path);
      else {
        const leftMs = this.#leftMs(path, found);
        if (leftMs <= 0) settled.push([path, found]);
        else waitMs = Math.min(waitMs, leftMs);
      }
    }
    for (const [path, found] of settled.toSorted(byTime)) {
      if (this.#stopping.signal.aborted) break;
      try {
        if (found === undefined) await this.#settleAbsent(root, path);
        else await this.#settlePresent(root, path);
        this.#unsettled.delete(path);
      } catch (error) {
        if (error instanceof CortexError && error.transient) throw error;
        problems.add(`${path} was not reported: ${reason(error)}`);
        this.#unsettled.set(path, {
          found,
          sinceMs: this.#parts.clock() + RETRY_MS - this.#watched.settleMs,
        });
      }
    }
    return waitMs;
  }

  /** How long a file must stay as it is to have settled. */
  #leftMs(path: string, found: Found | undefined): number {
    const { settleMs } = this.#watched;
    const nowMs = this.#parts.clock();
    const before = this.#unsettled.get(path);
    const isClockBack = before !== undefined && before.sinceMs > nowMs + RETRY_MS;
    if (before !== undefined && isSame(before.found, found) && !isClockBack)
      return before.sinceMs + settleMs - nowMs;
    this.#unsettled.set(path, { found, sinceMs: nowMs });
    return settleMs;
  }

  async #settlePresent(root: string, path: string): Promise<void> {
    const content = await readWatched(path, this.#watched.maxBytes);
    if (content === undefined) return; // it changed while it was read: the next look sees it anew
    const { text, ...facts } = content;
    const state: WatchedFile = { path, ...facts };
    const before = this.#known!.get(path);
    const isWhole = state.size <= MAX_HASHED_BYTES; // of what is larger, nobody knows what the rest is
    if (isWhole && before?.sha256 === state.sha256) await this.#parts.note([state]);
    else {
      const change = before === undefined ? "created" : "changed";
      await this.#parts.accept(this.#eventOf(root, state, change, text), state);
    }
    this.#known!.set(path, state);
  }

  async #settleAbsent(root: string, path: string): Promise<void> {
    const before = this.#known!.get(path);
    if (before === undefined) return; // it came and went
    const gone = { path, gone: true } as const;
    if ((await lookAt(path)) === undefined)
      await this.#parts.accept(this.#eventOf(root, before, "deleted", null), gone);
    // It is there, and was only not looked at: because there are too many, or because nobody asks for it now.
    else if (isAskedFor(relativeTo(root, path), this.#watched)) return;
    else await this.#parts.note([gone]);
    this.#known!.delete(path);
  }

  #eventOf(root: string, file: WatchedFile, change: Change, text: string | null): FileEvent {
    const { path, size, modifiedMs, sha256 } = file;
    const { name: watchName } = this.#watched;
    return {
      adapter: FILES_ADAPTER,
      sourceId: { kind: "file", path, modifiedMs, change, sha256 },
      channel: "files",
      sender: watchName,
      content: text,
      contentType: text === null ? "file" : "text",
      metadata: {
        type: change,
        watch: watchName,
        path,
        name: relativeTo(root, path),
        size,
        modifiedAt: new Date(modifiedMs).toISOString(),
        sha256: size > MAX_HASHED_BYTES || sha256 === "" ? null : sha256,
      },
      timestampMs: this.#parts.clock(),
    };
  }

  #watchFolders(folders: readonly string[], problems: Set<string>): void {
    const wanted = new Set(folders);
    for (const [folder, watcher] of this.#watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of folders) {
      if (this.#watchers.has(folder) || this.#stopping.signal.aborted) continue;
      try {
        const watcher = watch(folder, { persistent: false }, () =>
          this.#lookIn(Math.max(LOOK_MS, this.#size / FILES_PER_MS)),
        );
        watcher.on("error", () => watcher.close()); // the poll goes on
        this.#watchers.set(folder, watcher);
      } catch (error) {
        const often = `polling every ${POLL_MS / 1_000} s instead`;
        problems.add(`The system cannot watch all of ${this.#watched.folder} (${reason(error)}); ${often}`);
        return;
      }
    }
  }

  /** One look is planned at a time: the sooner one. */
  #lookIn(waitMs: number): void {
    if (this.#stopping.signal.aborted || (this.#next !== undefined && this.#next.waitMs <= waitMs)) return;
    clearTimeout(this.#next?.timeout);
    const timeout = setTimeout(() => {
      this.#next = undefined;
      void this.look();
    }, waitMs).unref();
    this.#next = { timeout, waitMs };
  }
}

function mapOf(files: readonly WatchedFile[]): Map<string, WatchedFile> {
  return new Map(files.map((file) => [file.path, file]));
}

function isSame(one: Found | undefined, other: Found | undefined): boolean {
  return one?.size === other?.size && one?.modifiedMs === other?.modifiedMs;
}

/** What is gone first, then in the order in which files were written. */
function byTime(
  [path, found]: readonly [string, Found | undefined],
  [otherPath, other]: readonly [string, Found | undefined],
): number {
  return (found?.modifiedMs ?? 0) - (other?.modifiedMs ?? 0) || (path < otherPath ? -1 : 1);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
