/**
 * Reports that something in folders may have changed. The system notifies, and a slow poll is the floor: a folder may not
 * exist yet, may be replaced, or may be on a disk without notifications. It watches folders rather than files, because
 * many editors replace the file. The listener compares for itself, so repeated calls do no harm.
 */
import { existsSync, type FSWatcher, watch } from "node:fs";
import { join } from "node:path";

interface FolderWatchOptions {
  /** Called again after every change, since there may be more folders then. Not all need to exist. */
  readonly folders: () => readonly string[];
  readonly onChange: () => void;
  /** Called at once for each path that the system names. */
  readonly onTouched?: (path: string) => void;
  /** An editor writes in several steps; the last of them counts. */
  readonly debounceMs?: number;
  readonly pollMs?: number;
}

const DEBOUNCE_MS = 100;
const POLL_MS = 5_000;

export class FolderWatch implements Disposable {
  readonly #options: FolderWatchOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #poll: NodeJS.Timeout;
  #debounce: NodeJS.Timeout | undefined;

  constructor(options: FolderWatchOptions) {
    this.#options = options;
    for (const folder of options.folders()) this.#watch(folder);
    this.#poll = setInterval(() => this.#tell(), options.pollMs ?? POLL_MS).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#poll);
    clearTimeout(this.#debounce);
    for (const watcher of this.#watchers.values()) watcher.close();
  }

  #tell(): void {
    for (const folder of this.#options.folders()) this.#watch(folder); // one of them may be new
    this.#options.onChange();
  }

  #watch(folder: string): void {
    const before = this.#watchers.get(folder);
    if (before !== undefined && existsSync(folder)) return;
    before?.close();
    this.#watchers.delete(folder);
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (name !== null) this.#options.onTouched?.(join(folder, name));
        this.#changed();
      });
      watcher.on("error", () => watcher.close()); // the poll continues
      this.#watchers.set(folder, watcher);
    } catch {
      // The folder does not exist yet, or the system has no watches left: the poll will do.
    }
  }

  #changed(): void {
    clearTimeout(this.#debounce);
    this.#debounce = setTimeout(() => this.#tell(), this.#options.debounceMs ?? DEBOUNCE_MS).unref();
  }
}
