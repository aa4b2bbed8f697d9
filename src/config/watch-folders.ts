/**
 * Tells when something in a folder may have changed. The system says so, and a slow poll is the floor: the folder may
 * not be there yet, may be replaced, or may be on a disk that tells nothing.
 */
import { existsSync, type FSWatcher, watch } from "node:fs";

/** An editor writes in several steps; the last of them counts. */
const DEBOUNCE_MS = 100;
const POLL_MS = 5_000;

export class FolderWatch implements Disposable {
  readonly #folder: string;
  readonly #onChange: () => void;
  readonly #poll: NodeJS.Timeout;
  #watcher: FSWatcher | undefined;
  #debounce: NodeJS.Timeout | undefined;

  constructor(folder: string, onChange: () => void) {
    this.#folder = folder;
    this.#onChange = onChange;
    this.#watch();
    this.#poll = setInterval(() => {
      this.#watch();
      onChange();
    }, POLL_MS).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#poll);
    clearTimeout(this.#debounce);
    this.#watcher?.close();
  }

  #watch(): void {
    if (this.#watcher !== undefined && existsSync(this.#folder)) return;
    this.#watcher?.close();
    this.#watcher = undefined;
    try {
      this.#watcher = watch(this.#folder, { persistent: false }, () => this.#changed());
      this.#watcher.on("error", () => this.#watcher?.close()); // the poll goes on
    } catch {
      // There is no such folder yet, or the system watches no more of them: the poll will do.
    }
  }

  #changed(): void {
    clearTimeout(this.#debounce);
    this.#debounce = setTimeout(this.#onChange, DEBOUNCE_MS).unref();
  }
}
