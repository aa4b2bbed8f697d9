/**
 * Keeps the agents and templates of relays up to date with their files and those of their prompts. A check compares what
 * the files mean, and may be asked for at any time.
 */
import type { Folders } from "../../config/config.ts";
import type { Problem } from "../../config/problem.ts";
import { FolderWatch } from "../../config/watch-folders.ts";
import { canonicalJson } from "../../model/json.ts";
import { readRelayConfig, type RelayConfigContext } from "./read.ts";
import type { RelayConfig } from "./snapshot.ts";
import { templateFile, templateFolders, TEMPLATES_DEBOUNCE_MS } from "./folders.ts";

const POLL_MS = 30_000;

export interface RelayConfigListener {
  /**
   * A changed configuration is now the current one. The files are those that the system told of, from the home on:
   * none where it told of nothing.
   */
  onChange(config: RelayConfig, files: readonly string[]): void;
  /** The files are wrong, to begin with or after a change. Told once for the same problems. */
  onProblems(problems: readonly Problem[], refused: RefusedFiles): void;
}

export interface RefusedFiles {
  readonly files: readonly string[];
  /** Whether the last good configuration stays. There may be none: then what is right of the files is in use. */
  readonly isKept: boolean;
}

export interface RelayConfigWatchOptions {
  readonly folders: Folders;
  /** Asked for every check: profiles can change too, and whoever changes them asks for a check. */
  readonly context: () => RelayConfigContext;
  readonly listener: RelayConfigListener;
  readonly debounceMs?: number;
  readonly pollMs?: number;
}

/** Where the files are wrong to begin with, whoever listens is told, and what is right of them is the current configuration. */
export async function watchRelayConfig(options: RelayConfigWatchOptions): Promise<RelayConfigWatch> {
  const current = await readRelayConfig(options.folders, options.context());
  const { problems } = current;
  if (problems.length > 0) options.listener.onProblems(problems, { files: [], isKept: false });
  const watched = new RelayConfigWatch(options, current);
  await watched.check(); // for what has changed before the folders were watched
  return watched;
}

export class RelayConfigWatch implements AsyncDisposable {
  readonly #options: RelayConfigWatchOptions;
  readonly #watch: FolderWatch;
  #current: RelayConfig;
  /** Whether what is current was read without a problem. */
  #isGood: boolean;
  /** What was read last, good or not. */
  #seen: string;
  /** What the system has told of since the last check. */
  readonly #touched = new Set<string>();
  #checking: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: RelayConfigWatchOptions, current: RelayConfig) {
    this.#options = options;
    this.#current = current;
    this.#isGood = current.problems.length === 0;
    this.#seen = printConfig(current);
    this.#watch = new FolderWatch({
      folders: () => templateFolders(options.folders),
      // What a listener throws here is a mistake in the program, and ends it as such.
      onChange: () => void this.check(),
      onTouched: (path) => {
        const file = templateFile(path, options.folders);
        if (file !== undefined) this.#touched.add(file);
      },
      debounceMs: options.debounceMs ?? TEMPLATES_DEBOUNCE_MS,
      pollMs: options.pollMs ?? POLL_MS,
    });
  }

  /** The last good configuration, with what is wrong with the files as they are now. */
  get current(): RelayConfig {
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
    this.#watch[Symbol.dispose]();
    await this.#checking;
  }

  async #compare(): Promise<void> {
    if (this.#closed) return;
    const { folders, context, listener } = this.#options;
    const files = [...this.#touched].toSorted();
    this.#touched.clear();
    const config = await readRelayConfig(folders, context());
    const seen = printConfig(config);
    if (this.#closed || seen === this.#seen) return;
    this.#seen = seen;
    const { problems, warnings } = config;
    // One that was wrong from the beginning is not worth keeping.
    const isKept = problems.length > 0 && this.#isGood;
    this.#current = isKept ? { ...this.#current, problems, warnings } : config;
    this.#isGood = isKept || problems.length === 0;
    if (problems.length > 0) listener.onProblems(problems, { files, isKept });
    else listener.onChange(config, files);
  }
}

function printConfig({ agents, templates, problems, warnings }: RelayConfig): string {
  return canonicalJson([[...agents], [...templates], problems, warnings]);
}
