/**
 * Tells when something in folders may have changed. The system says so, and a slow poll is the floor: a folder may not be
 * there yet, may be replaced, or may be on a disk that tells nothing. Folders are watched and not files, because many
 * editors put a new file in the place of the old one. Whoever is told looks for themselves what it was, so that it
 * does not matter how often or why they are told.
 */
import { existsSync, type FSWatcher, watch } from "node:fs";
import { join } from "node:path";

interface FolderWatchParts {
  /** Asked for again whenever something has changed: there may be more of them then. Not all need to be there. */
  readonly folders: () => readonly string[];
  readonly onChange: () => void;
  /** Told at once of each path that the system names. */
  readonly onTouched?: (path: string) => void;
  /** An editor writes in several steps; the last of them counts. */
  readonly debounceMs?: number;
  readonly pollMs?: number;
}

const DEBOUNCE_MS = 100;
const POLL_MS = 5_000;

export class FolderWatch implements Disposable {
  readonly #parts: FolderWatchParts;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #poll: NodeJS.Timeout;
  #debounce: NodeJS.Timeout | undefined;

  constructor(parts: FolderWatchParts) {
    this.#parts = parts;
    for (const folder of parts.folders()) this.#watch(folder);
    this.#poll = setInterval(() => this.#tell(), parts.pollMs ?? POLL_MS).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#poll);
    clearTimeout(this.#debounce);
    for (const watcher of this.#watchers.values()) watcher.close();
  }

  #tell(): void {
    for (const folder of this.#parts.folders()) this.#watch(folder); // one of them may be new
    this.#parts.onChange();
  }

  #watch(folder: string): void {
    const before = this.#watchers.get(folder);
    if (before !== undefined && existsSync(folder)) return;
    before?.close();
    this.#watchers.delete(folder);
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (name !== null) this.#parts.onTouched?.(join(folder, name));
        this.#changed();
      });
      watcher.on("error", () => watcher.close()); // the poll goes on
      this.#watchers.set(folder, watcher);
    } catch {
      // There is no such folder yet, or the system watches no more of them: the poll will do.
    }
  }

  #changed(): void {
    clearTimeout(this.#debounce);
    this.#debounce = setTimeout(() => this.#tell(), this.#parts.debounceMs ?? DEBOUNCE_MS).unref();
  }
}
