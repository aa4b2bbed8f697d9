/**
 * Keeps the configuration up to date with its files.
 *
 * The system tells when something in the folder changes, and a slow poll is the floor: a folder may not
 * be there yet, may be replaced, or may be on a disk that tells nothing. Both only ask for a check, and a
 * check compares contents, so that it does not matter how often or why it is asked for. The folder is
 * watched and not the files, because many editors put a new file in the place of the old one.
 */
import { existsSync, type FSWatcher, watch } from "node:fs";
import { CortexError } from "../model/errors.ts";
import {
  type ConfigSources,
  type ConfigTexts,
  configFolder,
  type LoadedConfig,
  loadConfig,
  readTexts,
} from "./read.ts";

/** An editor writes in several steps; the last of them counts. */
const DEBOUNCE_MS = 100;
const POLL_MS = 5_000;

export interface ConfigListener {
  /** A changed and valid configuration is now the current one. */
  onChange(loaded: LoadedConfig): void;
  /** The files have changed and are wrong: the old configuration stays. Told once for the same contents. */
  onProblem(problem: CortexError): void;
}

/** Reads the configuration and goes on watching it. Throws `config_invalid` where there is no good one to begin with. */
export async function watchConfig(
  sources: ConfigSources,
  listener: ConfigListener,
  times: { debounceMs?: number; pollMs?: number } = {},
): Promise<ConfigWatch> {
  const texts = await readTexts(sources.home);
  const watch = new ConfigWatch({
    sources,
    listener,
    texts,
    debounceMs: DEBOUNCE_MS,
    pollMs: POLL_MS,
    ...times,
  });
  await watch.check(); // for what has changed before the folder was watched
  return watch;
}

export class ConfigWatch implements AsyncDisposable {
  readonly #sources: ConfigSources;
  readonly #listener: ConfigListener;
  readonly #debounceMs: number;
  readonly #poll: NodeJS.Timeout;
  #watcher: FSWatcher | undefined;
  #debounce: NodeJS.Timeout | undefined;
  #current: LoadedConfig;
  /** The contents that were judged last, good or not. */
  #seen: string;
  #checking: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(given: {
    sources: ConfigSources;
    listener: ConfigListener;
    texts: ConfigTexts;
    debounceMs: number;
    pollMs: number;
  }) {
    this.#sources = given.sources;
    this.#listener = given.listener;
    this.#debounceMs = given.debounceMs;
    this.#current = loadConfig(given.sources, given.texts);
    this.#seen = JSON.stringify(given.texts);
    this.#watchFolder();
    this.#poll = setInterval(() => {
      this.#watchFolder();
      this.#checkSoon(0);
    }, given.pollMs).unref();
  }

  /** The last good configuration. */
  get current(): LoadedConfig {
    return this.#current;
  }

  /** Looks at the files now. Resolves when whoever listens has been told. */
  check(): Promise<void> {
    const next = this.#checking.then(() => this.#compare());
    // A listener that throws is reported to whoever asked for this check, and stops no later one.
    this.#checking = next.catch(() => undefined);
    return next;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#debounce);
    this.#watcher?.close();
    await this.#checking;
  }

  async #compare(): Promise<void> {
    const texts = await readTexts(this.#sources.home);
    const seen = JSON.stringify(texts);
    if (this.#closed || seen === this.#seen) return;
    this.#seen = seen;
    const loaded = this.#load(texts);
    if (loaded instanceof CortexError) return this.#listener.onProblem(loaded);
    this.#current = loaded;
    this.#listener.onChange(loaded);
  }

  #load(texts: ConfigTexts): LoadedConfig | CortexError {
    try {
      return loadConfig(this.#sources, texts);
    } catch (error) {
      if (error instanceof CortexError) return error;
      throw error;
    }
  }

  #watchFolder(): void {
    const folder = configFolder(this.#sources.home);
    if (this.#watcher !== undefined && existsSync(folder)) return;
    this.#watcher?.close();
    this.#watcher = undefined;
    try {
      this.#watcher = watch(folder, { persistent: false }, () => this.#checkSoon(this.#debounceMs));
      this.#watcher.on("error", () => this.#watcher?.close()); // the poll goes on
    } catch {
      // There is no such folder yet, or the system watches no more of them: the poll will do.
    }
  }

  #checkSoon(delayMs: number): void {
    if (this.#closed) return;
    clearTimeout(this.#debounce);
    // What a listener throws here is a mistake in the program, and ends it as such.
    this.#debounce = setTimeout(() => void this.check(), delayMs).unref();
  }
}
