/**
 * Keeps the agents and templates of relays up to date with their files and those of their prompts. A check compares what
 * the files mean, and may be asked for at any time.
 */
import { extname, join, relative, sep } from "node:path";
import type { Folders } from "../config/config.ts";
import type { Problem } from "../config/problem.ts";
import { FolderWatch } from "../config/watch-folders.ts";
import { canonicalJson } from "../model/json.ts";
import { PROMPT_FOLDERS } from "./prompt-files.ts";
import { readRelayConfig, type RelayConfigParts } from "./read-templates.ts";
import type { RelayConfig } from "./snapshot.ts";
import { ENTRY_KINDS, TEMPLATES_FILE, TEMPLATES_FOLDER } from "./template-files.ts";

/** An editor writes in several steps; the last of them counts. */
const DEBOUNCE_MS = 300;
const POLL_MS = 30_000;

export interface RelayConfigListener {
  /**
   * A changed configuration is now the current one. The files are those that the system told of, from the home on:
   * none where it told of nothing.
   */
  onChange(config: RelayConfig, files: readonly string[]): void;
  /** The files have changed and are wrong: the last good configuration stays. Told once for the same problems. */
  onProblems(problems: readonly Problem[], files: readonly string[]): void;
}

export interface RelayConfigWatchParts {
  readonly folders: Folders;
  /** Asked for every check: profiles can change too, and whoever changes them asks for a check. */
  readonly parts: () => RelayConfigParts;
  readonly listener: RelayConfigListener;
  readonly debounceMs?: number;
  readonly pollMs?: number;
}

/** Where the files are wrong to begin with, what is right of them is the current configuration. */
export async function watchRelayConfig(given: RelayConfigWatchParts): Promise<RelayConfigWatch> {
  const watched = new RelayConfigWatch(given, await readRelayConfig(given.folders, given.parts()));
  await watched.check(); // for what has changed before the folders were watched
  return watched;
}

export class RelayConfigWatch implements AsyncDisposable {
  readonly #given: RelayConfigWatchParts;
  readonly #watch: FolderWatch;
  #current: RelayConfig;
  /** What was read last, good or not. */
  #seen: string;
  /** What the system has told of since the last check. */
  readonly #touched = new Set<string>();
  #checking: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(given: RelayConfigWatchParts, current: RelayConfig) {
    this.#given = given;
    this.#current = current;
    this.#seen = printConfig(current);
    this.#watch = new FolderWatch({
      folders: foldersOf(given.folders),
      // What a listener throws here is a mistake in the program, and ends it as such.
      onChange: () => void this.check(),
      onTouched: (path) => this.#touch(path),
      debounceMs: given.debounceMs ?? DEBOUNCE_MS,
      pollMs: given.pollMs ?? POLL_MS,
    });
  }

  /** The last good configuration. */
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
    const { folders, parts, listener } = this.#given;
    const files = [...this.#touched].toSorted();
    this.#touched.clear();
    const config = await readRelayConfig(folders, parts());
    const seen = printConfig(config);
    if (this.#closed || seen === this.#seen) return;
    this.#seen = seen;
    // One that was wrong from the beginning is not worth keeping.
    const isKept = config.problems.length > 0 && this.#current.problems.length === 0;
    if (!isKept) this.#current = config;
    if (config.problems.length > 0) listener.onProblems(config.problems, files);
    else listener.onChange(config, files);
  }

  /** Other files of the configuration are in the same folder. */
  #touch(path: string): void {
    const { home, config } = this.#given.folders;
    const isOurs =
      path === join(config, TEMPLATES_FILE) ||
      [join(config, TEMPLATES_FOLDER), join(home, "prompts")].some((folder) => path.startsWith(folder + sep));
    if (isOurs && extname(path) !== "") this.#touched.add(relative(home, path));
  }
}

function foldersOf({ home, config }: Folders): string[] {
  const templates = join(config, TEMPLATES_FOLDER);
  const prompts = join(home, "prompts");
  const ofPrompts = Object.values(PROMPT_FOLDERS).map((name) => join(prompts, name));
  return [
    config,
    templates,
    ...ENTRY_KINDS.map((kind) => join(templates, kind)),
    prompts,
    ...ofPrompts,
    ...ofPrompts.map((folder) => join(folder, "templates")),
  ];
}

function printConfig({ agents, templates, problems, warnings }: RelayConfig): string {
  return canonicalJson([[...agents], [...templates], problems, warnings]);
}
