/**
 * The hooks that there are, in step with their folder: what changes there is loaded, told to the store, and in use
 * at once. A file that is wrong is errored, and is the only one that is.
 */
import type { Direction } from "../../model/event.ts";
import { matches } from "../../model/permissions.ts";
import { ownerPatterns } from "../../patterns/matcher.ts";
import { CIRCUIT_REST_MS, type HookFile, type Store, type StoredHook } from "../../store/store.ts";
import { compileFilter, type CompiledFilter } from "./filter.ts";
import type { HookPool } from "../run/pool.ts";
import { type FoundHook, readFolder } from "../folder/read-folder.ts";
import type { Facts, HookSource } from "../run/lane-protocol.ts";

export interface CatalogueParts {
  readonly folder: string;
  readonly store: { readonly hooks: Pick<Store["hooks"], "sync" | "list" | "get"> };
  readonly pool: Pick<HookPool, "reload" | "inspect">;
}

/** A hook that can be asked. */
export interface Entry {
  readonly source: HookSource;
  readonly filter: CompiledFilter;
  readonly stored: StoredHook;
}

/** How many answers are kept: there are few channels, and their names come from outside. */
const MAX_WANTED = 1_000;

export class Catalogue {
  readonly #parts: CatalogueParts;
  readonly #entries = new Map<string, Entry>();
  /** Those that are switched off. Their filters are not read before somebody wants to see what they would say. */
  readonly #off = new Map<string, Omit<Entry, "filter">>();
  /** Answers of `wants`, until a hook changes: it is asked about every event. */
  readonly #wanted = new Map<string, boolean>();
  #digest: string | undefined;
  #syncing: Promise<unknown> = Promise.resolve();

  constructor(parts: CatalogueParts) {
    this.#parts = parts;
  }

  /** Looks at the folder, and resolves when what is there is in use. True: something has changed. */
  sync(): Promise<boolean> {
    return this.#queue(() => this.#sync());
  }

  /** Reads a hook's state again, and loads it where that was not allowed before. */
  async take(name: string): Promise<void> {
    const stored = await this.refresh(name);
    if (stored?.enabled !== true || this.#entries.has(name)) return;
    await this.#queue(() => {
      this.#digest = undefined;
      return this.#sync();
    });
  }

  #queue(sync: () => Promise<boolean>): Promise<boolean> {
    const next = this.#syncing.then(sync);
    this.#syncing = next.catch(() => undefined); // told to whoever asked for it
    return next;
  }

  /** A hook that can be asked, be it switched off. */
  async find(name: string): Promise<Entry | undefined> {
    const off = this.#off.get(name);
    if (off === undefined) return this.#entries.get(name);
    return { ...off, filter: await compile(off.stored.filter) };
  }

  /** Those that are enabled. Due: active, or paused for long enough to be tried again. */
  *enabled(nowMs: number): Iterable<{ readonly entry: Entry; readonly isDue: boolean }> {
    for (const entry of this.#entries.values()) {
      const { state, openedAtMs = 0 } = entry.stored;
      if (state === "active") yield { entry, isDue: true };
      else if (state === "open") yield { entry, isDue: nowMs - openedAtMs >= CIRCUIT_REST_MS };
    }
  }

  names(): string[] {
    return [...this.#entries.keys(), ...this.#off.keys()];
  }

  /** Whether a hook could want events of this direction, on this channel: where none does, they are not judged. */
  wants(direction: Direction, channel?: string): boolean {
    const key = `${direction} ${channel}`;
    const known = this.#wanted.get(key);
    if (known !== undefined) return known;
    const wanted = [...this.#entries.values()].some(
      ({ stored: { state }, filter: { directions, channels } }) =>
        (state === "active" || state === "open") &&
        directions.has(direction) &&
        (channel === undefined || channels === undefined || matches(channels, channel)),
    );
    if (this.#wanted.size < MAX_WANTED) this.#wanted.set(key, wanted);
    return wanted;
  }

  /** Reads a hook's state and counters again. */
  async refresh(name: string): Promise<StoredHook | undefined> {
    const stored = await this.#parts.store.hooks.get(name);
    const entry = this.#entries.get(name);
    if (stored !== undefined && entry !== undefined) {
      this.#entries.set(name, { ...entry, stored });
      if (stored.state !== entry.stored.state) this.#wanted.clear();
    }
    return stored;
  }

  async #sync(): Promise<boolean> {
    const { folder, store, pool } = this.#parts;
    const found = await readFolder(folder);
    if (found.digest === this.#digest) return false;
    const before = new Map((await store.hooks.list()).map((hook) => [hook.name, hook]));
    if (this.#digest !== undefined) {
      const changed = found.hooks.filter(({ file }) => before.get(file.name)?.digest !== file.digest);
      pool.reload(changed.map(({ file }) => file.name));
    }
    const read = await Promise.all(found.hooks.map((hook) => this.#read(hook, before.get(hook.file.name))));
    const stored = new Map(
      (await store.hooks.sync(read.map(({ file }) => file))).map((hook) => [hook.name, hook]),
    );
    this.#entries.clear();
    this.#off.clear();
    this.#wanted.clear();
    for (const { file, path, filter } of read) {
      const known = stored.get(file.name);
      if (filter === undefined || known === undefined) continue;
      const entry = { source: { name: file.name, path }, stored: known };
      if (filter === "unread") this.#off.set(file.name, entry);
      else this.#entries.set(file.name, { ...entry, filter });
    }
    this.#digest = found.digest;
    return true;
  }

  /** What was loaded before with the same content is known, and need not be loaded to be known again. */
  async #read({ file, path, isLoadable }: FoundHook, known: StoredHook | undefined): Promise<ReadHook> {
    if (!isLoadable || !mayLoad(file, known)) return { file, path };
    const wasLoaded = file.origin !== "agent" || known?.filter !== undefined;
    const isKnown =
      known?.digest === file.digest && known.error === undefined && known.state !== "errored" && wasLoaded;
    const described = isKnown ? describedBefore(file, known) : await this.#inspect(file, path);
    if (described.error !== undefined) return { file: described, path };
    if (!(known?.enabled ?? file.startsDisabled !== true)) return { file: described, path, filter: "unread" };
    try {
      return { file: described, path, filter: await compile(described.filter) };
    } catch (error) {
      return { file: { ...described, error: (error as Error).message }, path };
    }
  }

  async #inspect(file: HookFile, path: string): Promise<HookFile> {
    const answer = await this.#parts.pool.inspect({ name: file.name, path });
    if ("error" in answer) return { ...file, error: answer.error };
    const { problem, filter, ...exported } = answer.inspected;
    return {
      ...ofExports(exported),
      ...file,
      ...modeOf(exported, file),
      ...(filter === undefined ? {} : { filter }),
      ...(problem === undefined ? {} : { error: problem }),
    };
  }
}

/** Throws what is wrong with it. */
async function compile(filter: unknown): Promise<CompiledFilter> {
  const compiled = compileFilter(filter);
  if (compiled.match !== undefined) await ownerPatterns.check([compiled.match]);
  return compiled;
}

interface ReadHook {
  readonly file: HookFile;
  readonly path: string;
  /** Undefined: it cannot be asked. */
  readonly filter?: CompiledFilter | "unread";
}

function describedBefore(file: HookFile, { title, description, mode, filter }: StoredHook): HookFile {
  return { ...file, title, description, mode, ...(filter === undefined ? {} : { filter }) };
}

/** To load a file is to run it: what an agent wrote waits for a person's yes, to what it is now. */
function mayLoad({ origin, digest }: HookFile, known: StoredHook | undefined): boolean {
  return origin !== "agent" || (known?.enabled === true && known.digest === digest);
}

/** The header of the file wins over what it exports. */
function ofExports({ title, description }: Facts): Partial<HookFile> {
  return { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) };
}

function modeOf({ mode }: Facts, file: HookFile): Pick<HookFile, "mode"> {
  return { mode: mode === "one-shot" ? "one-shot" : file.mode };
}
