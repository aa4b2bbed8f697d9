/**
 * The pool of sub-agent processes: limits their number, keeps some warm, and leaves none behind.
 *
 * Our own child can do one task after another, so a few idle ones are kept warm. Third-party programs are started for each
 * task and ended after it.
 */
import type { ProgramWatch } from "../../model/bounds.ts";
import { CortexError } from "../../model/errors.ts";
import { ownEnvironment, type Variables } from "../../programs/environment.ts";
import { Child, CHILD_TIMES, type ChildTimes } from "./child.ts";
import { endStrays, StrayRecords } from "./strays.ts";

export interface ProcessPoolOptions {
  /** The command of our own child: `process.execPath`, and `bin/cortex.js` with `sub-agent run`. */
  readonly program: string;
  readonly args: readonly string[];
  /** The working directory. Not a workspace, where the agent could plant a program. */
  readonly folder: string;
  /** Follows a third-party program, and ends what it has started. */
  readonly watch?: () => ProgramWatch;
  /** Our whole environment; children get only what is not secret. */
  readonly environment: Variables;
  /** The limit on processes, including warm ones. */
  readonly maxProcesses: () => number;
  /** How many idle processes are kept, and for how long. */
  readonly warm: () => number;
  readonly warmMs: () => number;
  /** Records the running processes for the next start after a crash. */
  readonly strayFile: string;
  readonly log: (text: string) => void;
  readonly times?: Partial<ChildTimes>;
}

interface ChildProgram {
  /** Absent: our own child. */
  readonly command?: readonly string[] | undefined;
  /** The variables configured for the command. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

export class ProcessPool implements AsyncDisposable {
  readonly times: ChildTimes;
  readonly #options: ProcessPoolOptions;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #records: StrayRecords;
  readonly #swept: Promise<void>;
  readonly #permits: Permits;
  readonly #busy = new Map<Child, { readonly isOwn: boolean }>();
  readonly #kept = new Map<Child, NodeJS.Timeout>();
  readonly #unfinished = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(options: ProcessPoolOptions) {
    this.times = { ...CHILD_TIMES, ...options.times };
    this.#options = options;
    this.#environment = ownEnvironment(options.environment);
    this.#records = new StrayRecords(options.strayFile, options.log);
    this.#swept = endStrays(options.strayFile, options.log);
    this.#permits = new Permits(options.maxProcesses);
  }

  get counts(): { readonly busy: number; readonly kept: number; readonly waiting: number } {
    return { busy: this.#busy.size, kept: this.#kept.size, waiting: this.#permits.waiting };
  }

  /** Waits for a free slot. Undefined: aborted. */
  async acquire({ command, variables }: ChildProgram, signal: AbortSignal): Promise<Child | undefined> {
    await this.#swept;
    if (this.#isClosed) throw closed();
    const isGiven = await this.#permits.take(signal);
    if (this.#isClosed) throw closed();
    if (!isGiven) return undefined;
    try {
      const isOwn = command === undefined;
      const child = isOwn
        ? (this.#takeKept() ?? (await this.#start()))
        : await this.#start(command, variables);
      this.#busy.set(child, { isOwn });
      return child;
    } catch (error) {
      this.#permits.give();
      throw error;
    }
  }

  /** Returns a child, which is kept warm or ended. `isAtWork`: it is still busy. */
  release(child: Child, { isAtWork }: { readonly isAtWork: boolean }): void {
    const isOwn = this.#busy.get(child)?.isOwn === true;
    this.#busy.delete(child);
    const hasRoom = !this.#isClosed && this.#kept.size < this.#options.warm();
    if (isOwn && !isAtWork && !child.hasExited && hasRoom) {
      this.#keep(child);
      this.#permits.give();
    } else void this.#end(child, isAtWork).then(() => this.#permits.give());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const child of this.#kept.keys()) void this.#dropKept(child);
    for (const child of this.#busy.keys()) void this.#end(child, true);
    this.#permits.turnAway();
    await this.#swept;
    while (this.#unfinished.size > 0) await Promise.all(this.#unfinished);
  }

  async #start(
    command?: readonly string[],
    variables: Readonly<Record<string, string>> = {},
  ): Promise<Child> {
    const [file = "", ...args] = command ?? [this.#options.program, ...this.#options.args];
    // A warm process has no permit, but counts toward the limit.
    const isFull = this.#permits.taken + this.#kept.size > this.#options.maxProcesses();
    const oldest = isFull ? this.#kept.keys().next().value : undefined;
    if (oldest !== undefined) await this.#dropKept(oldest);
    const environment = { ...this.#environment, ...variables };
    const { folder } = this.#options;
    const watch = command === undefined ? undefined : this.#options.watch?.();
    const starting = Child.start({ file, args, folder, environment, watch }, this.times);
    this.#track(Promise.allSettled([starting]));
    const child = await starting;
    this.#track(this.#records.add(child.pid));
    void child.exited.then(() => {
      this.#unlist(child);
      return this.#track(this.#records.remove(child.pid));
    });
    if (!this.#isClosed) return child;
    await this.#end(child, true);
    throw closed();
  }

  #takeKept(): Child | undefined {
    const child = [...this.#kept.keys()].at(-1); // the one most likely still in memory
    if (child !== undefined) this.#unlist(child);
    return child;
  }

  #keep(child: Child): void {
    this.#kept.set(child, setTimeout(() => void this.#dropKept(child), this.#options.warmMs()).unref());
  }

  #dropKept(child: Child): Promise<void> {
    this.#unlist(child);
    return this.#end(child, false);
  }

  #unlist(child: Child): void {
    clearTimeout(this.#kept.get(child));
    this.#kept.delete(child);
  }

  #end(child: Child, isAtWork: boolean): Promise<void> {
    const ended = child.stop({ isAtWork }).catch((error: unknown) => {
      this.#options.log(`Cannot kill process ${child.pid} of a sub-agent: ${String(error)}`);
    });
    this.#track(ended);
    return ended;
  }

  /** Disposal waits for this. Must not reject. */
  #track(work: Promise<unknown>): void {
    this.#unfinished.add(work);
    void work.then(() => this.#unfinished.delete(work));
  }
}

/** Permits for processes, granted in the order of requests. */
class Permits {
  readonly #max: () => number;
  readonly #waiting: ((isGiven: boolean) => void)[] = [];
  #taken = 0;

  constructor(max: () => number) {
    this.#max = max;
  }

  /** Including those for processes that are being started. */
  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** False: aborted, or the pool is closed. */
  async take(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const giveUp = (): void => {
      const at = this.#waiting.indexOf(resolve);
      if (at === -1) return;
      this.#waiting.splice(at, 1);
      resolve(false);
    };
    this.#waiting.push(resolve);
    signal.addEventListener("abort", giveUp, { once: true });
    this.#admit();
    const isGiven = await promise;
    signal.removeEventListener("abort", giveUp);
    return isGiven;
  }

  give(): void {
    this.#taken--;
    this.#admit();
  }

  turnAway(): void {
    for (const answer of this.#waiting.splice(0)) answer(false);
  }

  #admit(): void {
    while (this.#taken < this.#max()) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#taken++;
      next(true);
    }
  }
}

function closed(): CortexError {
  return new CortexError("sub_agent_failed", "Cortex is shutting down; no new sub-agents are started", {
    hint: "The turn continues after the next start.",
    transient: true,
  });
}
