/** Reloads the configuration when its files change. A check compares contents and can run at any time. */
import { CortexError } from "../model/errors.ts";
import {
  type ConfigInput,
  type ConfigTexts,
  configFolder,
  type LoadedConfig,
  loadConfig,
  readTexts,
} from "./read.ts";
import { FolderWatch } from "./watch-folders.ts";

interface ConfigListener {
  /** A changed, valid configuration is now current. */
  onChange(loaded: LoadedConfig): void;
  /** The changed files are invalid: the old configuration stays. Called once for the same contents. */
  onProblem(problem: CortexError): void;
}

/** Reads the configuration and watches it. Throws `config_invalid` if it is invalid at the start. */
export async function watchConfig(
  sources: ConfigInput,
  listener: ConfigListener,
  times: { debounceMs?: number; pollMs?: number } = {},
): Promise<ConfigWatch> {
  const texts = await readTexts(sources.home);
  const watch = new ConfigWatch({ sources, listener, texts, times });
  await watch.check(); // for changes made before the folder was watched
  return watch;
}

export class ConfigWatch implements AsyncDisposable {
  readonly #sources: ConfigInput;
  readonly #listener: ConfigListener;
  readonly #watch: FolderWatch;
  /** The last good configuration. */
  current: LoadedConfig;
  /** The contents of the last check, valid or not. */
  #seen: string;
  #checking: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(given: {
    sources: ConfigInput;
    listener: ConfigListener;
    texts: ConfigTexts;
    times: { debounceMs?: number; pollMs?: number };
  }) {
    this.#sources = given.sources;
    this.#listener = given.listener;
    this.current = loadConfig(given.sources, given.texts);
    this.#seen = JSON.stringify(given.texts);
    this.#watch = new FolderWatch({
      folders: () => [configFolder(given.sources.home)],
      // An error thrown by a listener is a bug and ends the program.
      onChange: () => void this.check(),
      ...given.times,
    });
  }

  /** Checks the files now. Resolves when the listener has returned. */
  check(): Promise<void> {
    const next = this.#checking.then(() => this.#compare());
    // The error of a listener is reported by this check and does not stop later ones.
    this.#checking = next.catch(() => undefined);
    return next;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#watch[Symbol.dispose]();
    await this.#checking;
  }

  async #compare(): Promise<void> {
    const texts = await readTexts(this.#sources.home);
    const seen = JSON.stringify(texts);
    if (this.#closed || seen === this.#seen) return;
    this.#seen = seen;
    const loaded = this.#load(texts);
    if (loaded instanceof CortexError) return this.#listener.onProblem(loaded);
    this.current = loaded;
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
}
