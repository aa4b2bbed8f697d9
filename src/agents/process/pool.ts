/**
 * The processes of sub-agents: how many there may be, which are kept, and that none is left.
 *
 * Our own child takes one piece of work after the other, so a few are kept for a while when theirs is done.
 * Programs of others are started for each piece of work and ended after it.
 */
import { CortexError } from "../../model/errors.ts";
import { ownEnvironment, type Variables } from "../../programs/environment.ts";
import { Child, CHILD_TIMES, type ChildTimes } from "./child.ts";
import { endStrays, StrayNotes } from "./strays.ts";

export interface ProcessPoolOptions {
  /** How our own child is started: `process.execPath`, and `bin/cortex.js` with `sub-agent run`. */
  readonly program: string;
  readonly args: readonly string[];
  /** Where programs are started that do not say where. */
  readonly folder: string;
  /** All of ours; children are given only what is no secret. */
  readonly environment: Variables;
  /** How many there may be at the same time, those that are kept included. */
  readonly maxProcesses: () => number;
  /** How many are kept when their work is done, and for how long. */
  readonly warm: () => number;
  readonly warmMs: () => number;
  /** Where the processes that there are are noted, for the next start after a crash. */
  readonly strayFile: string;
  readonly log: (text: string) => void;
  readonly times?: Partial<ChildTimes>;
}

interface Wanted {
  /** Absent: our own child. */
  readonly command?: readonly string[] | undefined;
  readonly folder?: string | undefined;
  /** The variables that were named for the command. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

export class ProcessPool implements AsyncDisposable {
  readonly times: ChildTimes;
  readonly #options: ProcessPoolOptions;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #notes: StrayNotes;
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
    this.#notes = new StrayNotes(options.strayFile, options.log);
    this.#swept = endStrays(options.strayFile, options.log);
    this.#permits = new Permits(options.maxProcesses);
  }

  get counts(): { readonly busy: number; readonly kept: number; readonly waiting: number } {
    return { busy: this.#busy.size, kept: this.#kept.size, waiting: this.#permits.waiting };
  }

  /** Waits until there may be one more. Undefined: the signal came first. */
  async acquire({ command, ...place }: Wanted, signal: AbortSignal): Promise<Child | undefined> {
    await this.#swept;
    if (this.#isClosed) throw closed();
    const isGiven = await this.#permits.take(signal);
    if (this.#isClosed) throw closed();
    if (!isGiven) return undefined;
    try {
      const isOwn = command === undefined;
      const child = isOwn ? (this.#takeKept() ?? (await this.#start())) : await this.#start(command, place);
      this.#busy.set(child, { isOwn });
      return child;
    } catch (error) {
      this.#permits.give();
      throw error;
    }
  }

  /** Takes it back, to be kept or ended. `isAtWork`: it was not done. */
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
    { folder = this.#options.folder, variables = {} }: Omit<Wanted, "command"> = {},
  ): Promise<Child> {
    const [file = "", ...args] = command ?? [this.#options.program, ...this.#options.args];
    // One that is kept has no permit, but is a process all the same.
    const isFull = this.#permits.taken + this.#kept.size > this.#options.maxProcesses();
    const oldest = isFull ? this.#kept.keys().next().value : undefined;
    if (oldest !== undefined) await this.#dropKept(oldest);
    const environment = { ...this.#environment, ...variables };
    const starting = Child.start({ file, args, folder, environment }, this.times);
    this.#track(Promise.allSettled([starting]));
    const child = await starting;
    this.#track(this.#notes.add(child.pid));
    void child.exited.then(() => {
      this.#unlist(child);
      return this.#track(this.#notes.remove(child.pid));
    });
    if (!this.#isClosed) return child;
    await this.#end(child, true);
    throw closed();
  }

  #takeKept(): Child | undefined {
    const child = [...this.#kept.keys()].at(-1); // what it has loaded is still in memory
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
      this.#options.log(`The process ${child.pid} of a sub-agent cannot be ended: ${String(error)}`);
    });
    this.#track(ended);
    return ended;
  }

  /** What is waited for at the end. Never rejects. */
  #track(work: Promise<unknown>): void {
    this.#unfinished.add(work);
    void work.then(() => this.#unfinished.delete(work));
  }
}

/** Room for so many processes, given in the order in which it was asked for. */
class Permits {
  readonly #max: () => number;
  readonly #waiting: ((isGiven: boolean) => void)[] = [];
  #taken = 0;

  constructor(max: () => number) {
    this.#max = max;
  }

  /** With those that are being started. */
  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** False: the signal came first, or nobody is admitted any more. */
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
  return new CortexError("sub_agent_failed", "Cortex is being stopped, and starts no more sub-agents", {
    hint: "The turn goes on when Cortex is started again.",
    transient: true,
  });
}
