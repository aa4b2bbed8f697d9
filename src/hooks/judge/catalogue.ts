/**
 * The known hooks, in step with their folder: a change there is loaded, recorded in the store and in use at once. A bad
 * file is errored, and affects no other.
 */
import type { Direction } from "../../model/event.ts";
import { errorText } from "../../model/errors.ts";
import { matches } from "../../model/permissions.ts";
import { present } from "../../model/present.ts";
import { ownerPatterns } from "../../patterns/matcher.ts";
import { CIRCUIT_REST_MS, type HookFile, type Store, type StoredHook } from "../../store/store.ts";
import { compileFilter, type CompiledFilter } from "./filter.ts";
import type { HookPool } from "../run/pool.ts";
import { type HookScript, readFolder } from "../folder/read-folder.ts";
import type { HookFacts, HookSource } from "../run/lane-protocol.ts";

/** A hook that can be asked. */
export interface ReadyHook {
  readonly source: HookSource;
  readonly filter: CompiledFilter;
  readonly stored: StoredHook;
}

/** How many answers are cached: channels are few, but their names come from outside. */
const MAX_WANTED = 1_000;

export class Catalogue {
  readonly #folder: string;
  readonly #hooks: Pick<Store["hooks"], "sync" | "list" | "get">;
  readonly #pool: Pick<HookPool, "reload" | "inspect">;
  readonly #enabled = new Map<string, ReadyHook>();
  /** Their filters are compiled only when one of them is tested. */
  readonly #disabled = new Map<string, Omit<ReadyHook, "filter">>();
  /** Answers of `wants`, which is asked about every event, until a hook changes. */
  readonly #wanted = new Map<string, boolean>();
  #digest: string | undefined;
  #syncing: Promise<unknown> = Promise.resolve();

  constructor(folder: string, { hooks }: Pick<Store, "hooks">, pool: Pick<HookPool, "reload" | "inspect">) {
    this.#folder = folder;
    this.#hooks = hooks;
    this.#pool = pool;
  }

  /** Reads the folder, and resolves when its hooks are in use. True: something changed. */
  sync(): Promise<boolean> {
    return this.#queue(() => this.#sync());
  }

  /** Rereads a hook's state, and loads the hook if it may be loaded now. */
  async take(name: string): Promise<void> {
    const stored = await this.refresh(name);
    if (stored?.enabled !== true || this.#enabled.has(name)) return;
    await this.#queue(() => {
      this.#digest = undefined;
      return this.#sync();
    });
  }

  #queue(sync: () => Promise<boolean>): Promise<boolean> {
    const next = this.#syncing.then(sync);
    this.#syncing = next.catch(() => undefined); // the caller gets the failure
    return next;
  }

  /** A hook that can be asked, even if it is disabled. */
  async find(name: string): Promise<ReadyHook | undefined> {
    const disabled = this.#disabled.get(name);
    if (disabled === undefined) return this.#enabled.get(name);
    return { ...disabled, filter: await compile(disabled.stored.filter) };
  }

  /** The enabled hooks. Due: active, or paused for long enough to be tried again. */
  *enabled(nowMs: number): Iterable<{ readonly hook: ReadyHook; readonly isDue: boolean }> {
    for (const hook of this.#enabled.values()) {
      const { state, openedAtMs = 0 } = hook.stored;
      if (state === "active") yield { hook, isDue: true };
      else if (state === "open") yield { hook, isDue: nowMs - openedAtMs >= CIRCUIT_REST_MS };
    }
  }

  names(): string[] {
    return [...this.#enabled.keys(), ...this.#disabled.keys()];
  }

  /** Whether a hook could want events of this direction, on this channel. If none does, they are not judged. */
  readonly wants = (direction: Direction, channel?: string): boolean => {
    const key = `${direction} ${channel}`;
    const known = this.#wanted.get(key);
    if (known !== undefined) return known;
    const wanted = [...this.#enabled.values()].some(
      ({ stored: { state }, filter: { directions, channels } }) =>
        (state === "active" || state === "open") &&
        directions.has(direction) &&
        (channel === undefined || channels === undefined || matches(channels, channel)),
    );
    if (this.#wanted.size < MAX_WANTED) this.#wanted.set(key, wanted);
    return wanted;
  };

  /** Rereads a hook's state and counters. */
  async refresh(name: string): Promise<StoredHook | undefined> {
    const stored = await this.#hooks.get(name);
    const hook = this.#enabled.get(name);
    if (stored !== undefined && hook !== undefined) {
      this.#enabled.set(name, { ...hook, stored });
      if (stored.state !== hook.stored.state) this.#wanted.clear();
    }
    return stored;
  }

  async #sync(): Promise<boolean> {
    const { scripts, digest } = await readFolder(this.#folder);
    if (digest === this.#digest) return false;
    const before = byName(await this.#hooks.list());
    if (this.#digest !== undefined) {
      const changed = scripts.filter(({ file }) => before.get(file.name)?.digest !== file.digest);
      this.#pool.reload(changed.map(({ file }) => file.name));
    }
    const read = await Promise.all(scripts.map((script) => this.#read(script, before.get(script.file.name))));
    const stored = byName(await this.#hooks.sync(read.map(({ file }) => file)));
    this.#enabled.clear();
    this.#disabled.clear();
    this.#wanted.clear();
    for (const { file, path, filter } of read) {
      const known = stored.get(file.name);
      if (filter === undefined || known === undefined) continue;
      const hook = { source: { name: file.name, path }, stored: known };
      if (filter === "unread") this.#disabled.set(file.name, hook);
      else this.#enabled.set(file.name, { ...hook, filter });
    }
    this.#digest = digest;
    return true;
  }

  /** A hook that was loaded before with the same content need not be loaded again to be described. */
  async #read({ file, path, isLoadable }: HookScript, known: StoredHook | undefined): Promise<ReadHook> {
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
      return { file: { ...described, error: errorText(error) }, path };
    }
  }

  async #inspect(file: HookFile, path: string): Promise<HookFile> {
    const answer = await this.#pool.inspect({ name: file.name, path });
    if ("error" in answer) return { ...file, error: answer.error };
    const { problem, filter, ...exported } = answer.inspected;
    const { title, description } = exported;
    // The header of the file wins over what it exports.
    return {
      ...present({ title, description }),
      ...file,
      ...modeOf(exported, file),
      ...present({ filter, error: problem }),
    };
  }
}

/** Throws if the filter is invalid. */
async function compile(filter: unknown): Promise<CompiledFilter> {
  const compiled = compileFilter(filter);
  if (compiled.match !== undefined) await ownerPatterns.check([compiled.match]);
  return compiled;
}

function byName(hooks: readonly StoredHook[]): ReadonlyMap<string, StoredHook> {
  return new Map(hooks.map((hook) => [hook.name, hook]));
}

interface ReadHook {
  readonly file: HookFile;
  readonly path: string;
  /** Undefined: the hook cannot be asked. */
  readonly filter?: CompiledFilter | "unread";
}

function describedBefore(file: HookFile, { title, description, mode, filter }: StoredHook): HookFile {
  return { ...file, title, description, mode, ...(filter === undefined ? {} : { filter }) };
}

/** Loading a file runs it: what an agent wrote waits until a person has enabled its current content. */
function mayLoad({ origin, digest }: HookFile, known: StoredHook | undefined): boolean {
  return origin !== "agent" || (known?.enabled === true && known.digest === digest);
}

function modeOf({ mode }: HookFacts, file: HookFile): Pick<HookFile, "mode"> {
  return { mode: mode === "one-shot" ? "one-shot" : file.mode };
}
