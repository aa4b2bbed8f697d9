/** Keeps the configuration up to date with its files. A check compares contents, and may be asked for at any time. */
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
  /** A changed and valid configuration is now the current one. */
  onChange(loaded: LoadedConfig): void;
  /** The files have changed and are wrong: the old configuration stays. Told once for the same contents. */
  onProblem(problem: CortexError): void;
}

/** Reads the configuration and goes on watching it. Throws `config_invalid` where there is no good one to begin with. */
export async function watchConfig(
  sources: ConfigInput,
  listener: ConfigListener,
  times: { debounceMs?: number; pollMs?: number } = {},
): Promise<ConfigWatch> {
  const texts = await readTexts(sources.home);
  const watch = new ConfigWatch({ sources, listener, texts, times });
  await watch.check(); // for what has changed before the folder was watched
  return watch;
}

export class ConfigWatch implements AsyncDisposable {
  readonly #sources: ConfigInput;
  readonly #listener: ConfigListener;
  readonly #watch: FolderWatch;
  /** The last good configuration. */
  current: LoadedConfig;
  /** The contents that were judged last, good or not. */
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
      // What a listener throws here is a mistake in the program, and ends it as such.
      onChange: () => void this.check(),
      ...given.times,
    });
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
