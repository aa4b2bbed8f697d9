/**
 * Watches a folder: every file that is created, changed or deleted becomes an event once it has settled.
 *
 * A notification of the system only triggers a look. A look compares the folder with the known files, which are stored
 * in the same commit as their events. So changes while nothing was watching, repeated notifications and missing ones
 * make no difference; a slow poll is the floor.
 */
import { type FSWatcher, watch } from "node:fs";
import { realpath } from "node:fs/promises";

import type { OwnIncoming } from "../../events/incoming.ts";
import { CortexError } from "../../model/errors.ts";
import { FILES_ADAPTER } from "../../model/event.ts";
import { MAX_HASHED_BYTES, readWatched } from "./read-file.ts";
import type { FileState, WatchedFile } from "./known-files.ts";
import { type Found, type Globs, isAskedFor, lookAt, relativeTo, scanFolder } from "./scan.ts";

export interface WatchedFolder extends Globs {
  readonly name: string;
  readonly folder: string;
  /** A file is complete when it has not changed for this long. */
  readonly settleMs: number;
  /** Events of larger files have no content. */
  readonly maxBytes: number;
  /** What to do with files that exist before the folder is watched for the first time. */
  readonly existing: "report" | "ignore";
}

interface FileWatchPorts {
  readonly clock: () => number;
  /** The known files under a path. */
  readonly known: (under: string) => Promise<readonly WatchedFile[]>;
  /** On whose authority the content of a file was written, and its label; of a file that is gone, what is known of it. */
  readonly originOf: (path: string) => Promise<FileAuthorship>;
  /** Accepts an event once, and stores the state of its file in the same commit. */
  readonly accept: (event: FileEvent, file: FileState) => Promise<unknown>;
  /** Stores the state of files without an event. */
  readonly note: (files: readonly FileState[]) => Promise<void>;
  /** Receives each problem once, as a sentence without a full stop. */
  readonly onProblem: (problem: string) => void;
}

/** Empty: nobody but the owner is known to have written it. */
export type FileAuthorship = Pick<OwnIncoming, "principal" | "label">;

export interface FileEvent extends FileAuthorship {
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
    /** Relative to the watched folder. */
    readonly name: string;
    readonly size: number;
    readonly modifiedAt: string;
    /** Null: too large to hash as a whole. */
    readonly sha256: string | null;
  };
  readonly timestampMs: number;
}

type Change = "created" | "changed" | "deleted";

/** Combines a burst of changes into one look. */
const LOOK_MS = 50;
/** Large folders are looked at less often. */
const FILES_PER_MS = 10;
/** For file systems without notifications, such as many network drives. */
const POLL_MS = 30_000;
/** The delay before a failed file is retried. */
export const RETRY_MS = 60_000;

/** A file as of the last look, and since when it has been like that. */
interface Unsettled {
  readonly found: Found | undefined;
  readonly sinceMs: number;
}

export class FileWatch implements AsyncDisposable {
  readonly #watched: WatchedFolder;
  readonly #ports: FileWatchPorts;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #unsettled = new Map<string, Unsettled>();
  readonly #stopping = new AbortController();
  /** Files by path, as their last event or note recorded them. */
  readonly #known = new Map<string, WatchedFile>();
  #hasLooked = false;
  #next: { readonly timeout: NodeJS.Timeout; readonly waitMs: number } | undefined;
  #looking: Promise<void> = Promise.resolve();
  #problems: ReadonlySet<string> = new Set();
  #size = 0;

  constructor(watched: WatchedFolder, ports: FileWatchPorts) {
    this.#watched = watched;
    this.#ports = ports;
  }

  start(): void {
    void this.look();
  }

  /** Looks at the folder now. Resolves when all settled files were reported. */
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

  /** A failure is reported and retried: a file is known only once it was accepted. */
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
      if (!this.#hasLooked) await this.#firstLook(root, files);
      waitMs = await this.#settleAll(root, files, problems);
    } catch (error) {
      // An unplugged disk is not a folder whose files were all deleted.
      problems.add(`Cannot watch ${this.#watched.folder} for now: ${reason(error)}`);
    }
    for (const problem of problems) if (!this.#problems.has(problem)) this.#ports.onProblem(problem);
    this.#problems = problems;
    this.#lookIn(waitMs);
  }

  async #firstLook(root: string, files: ReadonlyMap<string, Found>): Promise<void> {
    const under = `${root}/`;
    let known = await this.#ports.known(under);
    if (known.length === 0) {
      const isIgnored = this.#watched.existing === "ignore";
      known = isIgnored ? Array.from(files, ([path, found]) => ({ path, ...found, sha256: "" })) : [];
      // The folder itself is noted too: an empty folder that is known is not a new one.
      await this.#ports.note([{ path: under, modifiedMs: 0, size: 0, sha256: "" }, ...known]);
    }
    for (const file of known) if (file.path !== under) this.#known.set(file.path, file);
    this.#hasLooked = true;
  }

  /** Returns the time until the next file may have settled. */
  async #settleAll(root: string, files: ReadonlyMap<string, Found>, problems: Set<string>): Promise<number> {
    const known = this.#known;
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
          sinceMs: this.#ports.clock() + RETRY_MS - this.#watched.settleMs,
        });
      }
    }
    return waitMs;
  }

  /** How much longer a file must stay unchanged. */
  #leftMs(path: string, found: Found | undefined): number {
    const { settleMs } = this.#watched;
    const nowMs = this.#ports.clock();
    const before = this.#unsettled.get(path);
    const isClockBack = before !== undefined && before.sinceMs > nowMs + RETRY_MS;
    if (before !== undefined && isSame(before.found, found) && !isClockBack)
      return before.sinceMs + settleMs - nowMs;
    this.#unsettled.set(path, { found, sinceMs: nowMs });
    return settleMs;
  }

  async #settlePresent(root: string, path: string): Promise<void> {
    // Before it is read: a record is there before the content is, and older ones go only afterwards.
    const origin = await this.#ports.originOf(path);
    const content = await readWatched(path, this.#watched.maxBytes);
    if (content === undefined) return; // changed while it was read: the next look sees it again
    const { text, ...facts } = content;
    const state: WatchedFile = { path, ...facts };
    const before = this.#known.get(path);
    const isWhole = state.size <= MAX_HASHED_BYTES; // the hash of a larger file covers only its beginning
    if (isWhole && before?.sha256 === state.sha256) await this.#ports.note([state]);
    else {
      const change = before === undefined ? "created" : "changed";
      const event = { ...this.#eventOf(root, state, change, text), ...origin };
      await this.#ports.accept(event, state);
    }
    this.#known.set(path, state);
  }

  async #settleAbsent(root: string, path: string): Promise<void> {
    const before = this.#known.get(path);
    if (before === undefined) return; // it came and went
    const gone = { path, gone: true } as const;
    if ((await lookAt(path)) === undefined) {
      const event = this.#eventOf(root, before, "deleted", null);
      await this.#ports.accept({ ...event, ...(await this.#ports.originOf(path)) }, gone);
    }
    // It exists but was not scanned: beyond the limit of files, or no longer included by the globs.
    else if (isAskedFor(relativeTo(root, path), this.#watched)) return;
    else await this.#ports.note([gone]);
    this.#known.delete(path);
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
      timestampMs: this.#ports.clock(),
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

  /** Only the soonest look is scheduled. */
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

function isSame(one: Found | undefined, other: Found | undefined): boolean {
  return one?.size === other?.size && one?.modifiedMs === other?.modifiedMs;
}

/** Deleted files first, then by modification time. */
function byTime(
  [path, found]: readonly [string, Found | undefined],
  [otherPath, other]: readonly [string, Found | undefined],
): number {
  return (found?.modifiedMs ?? 0) - (other?.modifiedMs ?? 0) || (path < otherPath ? -1 : 1);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
