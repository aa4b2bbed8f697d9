/**
 * Keeps the agents and templates of relays up to date with their files and prompts. A check compares the content of the
 * files and can be requested at any time.
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
   * A changed configuration is now current. `files` are those reported by the file system, relative to the home, and may
   * be empty.
   */
  onChange(config: RelayConfig, files: readonly string[]): void;
  /** The files are invalid, initially or after a change. Called once for the same problems. */
  onProblems(problems: readonly Problem[], refused: RefusedFiles): void;
}

export interface RefusedFiles {
  readonly files: readonly string[];
  /** Whether the last valid configuration stays in use. Otherwise the valid entries of the files are in use. */
  readonly isKept: boolean;
}

export interface RelayConfigWatchOptions {
  readonly folders: Folders;
  /** Called for every check, because profiles can change too. */
  readonly context: () => RelayConfigContext;
  readonly listener: RelayConfigListener;
  readonly debounceMs?: number;
  readonly pollMs?: number;
}

/** If the files are invalid from the start, the listener is notified and their valid entries are current. */
export async function watchRelayConfig(options: RelayConfigWatchOptions): Promise<RelayConfigWatch> {
  const current = await readRelayConfig(options.folders, options.context());
  const { problems } = current;
  if (problems.length > 0) options.listener.onProblems(problems, { files: [], isKept: false });
  const watched = new RelayConfigWatch(options, current);
  await watched.check(); // for changes made before the folders were watched
  return watched;
}

export class RelayConfigWatch implements AsyncDisposable {
  readonly #options: RelayConfigWatchOptions;
  readonly #watch: FolderWatch;
  #current: RelayConfig;
  /** Whether the current configuration has no problems. */
  #isGood: boolean;
  /** The last content read, valid or not. */
  #seen: string;
  /** Files that the system reported since the last check. */
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
      // An exception from a listener here is a bug, and ends the process as one.
      onChange: () => void this.check(),
      onTouched: (path) => {
        const file = templateFile(path, options.folders);
        if (file !== undefined) this.#touched.add(file);
      },
      debounceMs: options.debounceMs ?? TEMPLATES_DEBOUNCE_MS,
      pollMs: options.pollMs ?? POLL_MS,
    });
  }

  /** The last valid configuration, with the problems of the files as they are now. */
  get current(): RelayConfig {
    return this.#current;
  }

  /** Checks the files now. Resolves after the listener was notified. */
  check(): Promise<void> {
    const next = this.#checking.then(() => this.#compare());
    // An exception from a listener rejects this check only, not later ones.
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
    // A configuration that was never valid is not kept.
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
