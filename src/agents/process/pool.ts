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

export interface ProcessPoolParts {
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

export interface ProcessPool extends AsyncDisposable {
  readonly times: ChildTimes;
  /** Waits until there may be one more. Undefined: the signal came first. */
  acquire(wanted: Wanted, signal: AbortSignal): Promise<Child | undefined>;
  /** Takes it back, to be kept or ended. `isAtWork`: it was not done. */
  release(child: Child, state: { readonly isAtWork: boolean }): void;
  readonly counts: { readonly busy: number; readonly kept: number; readonly waiting: number };
}

interface Wanted {
  /** Absent: our own child. */
  readonly command?: readonly string[] | undefined;
  readonly folder?: string | undefined;
  /** The variables that were named for the command. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

export function createProcessPool(parts: ProcessPoolParts): ProcessPool {
  const { maxProcesses, warm, warmMs, strayFile, log } = parts;
  const times = { ...CHILD_TIMES, ...parts.times };
  const environment = ownEnvironment(parts.environment);
  const notes = new StrayNotes(strayFile, log);
  const swept = endStrays(strayFile, log);
  const busy = new Map<Child, { readonly isOwn: boolean }>();
  const kept = new Map<Child, NodeJS.Timeout>();
  const unfinished = new Set<Promise<unknown>>();
  const waiting: ((isGiven: boolean) => void)[] = [];
  /** Those that are being started, or were promised to somebody, included. */
  let permits = 0;
  let isClosed = false;

  return {
    times,
    get counts() {
      return { busy: busy.size, kept: kept.size, waiting: waiting.length };
    },

    async acquire({ command, ...place }, signal) {
      if (!(await takePermit(signal))) return undefined;
      try {
        const isOwn = command === undefined;
        const child = isOwn ? (takeKept() ?? (await start())) : await start(command, place);
        busy.set(child, { isOwn });
        return child;
      } catch (error) {
        givePermit();
        throw error;
      }
    },

    release(child, { isAtWork }) {
      const { isOwn } = busy.get(child)!;
      busy.delete(child);
      if (isOwn && !isAtWork && !child.hasExited && !isClosed && kept.size < warm()) {
        keep(child);
        givePermit();
      } else void end(child, isAtWork).then(givePermit);
    },

    async [Symbol.asyncDispose]() {
      isClosed = true;
      for (const child of kept.keys()) void dropKept(child);
      for (const child of busy.keys()) void end(child, true);
      for (const turnAway of waiting.splice(0)) turnAway(false);
      await swept;
      while (unfinished.size > 0) await Promise.all(unfinished);
    },
  };

  /** Room for one more, in the order in which it was asked for. False: the signal came first. */
  async function takePermit(signal: AbortSignal): Promise<boolean> {
    await swept;
    if (isClosed) throw closed();
    if (signal.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const giveUp = (): void => {
      const at = waiting.indexOf(resolve);
      if (at === -1) return;
      waiting.splice(at, 1);
      resolve(false);
    };
    waiting.push(resolve);
    signal.addEventListener("abort", giveUp, { once: true });
    admit();
    const isGiven = await promise;
    signal.removeEventListener("abort", giveUp);
    if (isClosed) throw closed();
    return isGiven;
  }

  function admit(): void {
    while (waiting.length > 0 && permits < maxProcesses()) {
      permits++;
      waiting.shift()!(true);
    }
  }

  function givePermit(): void {
    permits--;
    admit();
  }

  async function start(
    command?: readonly string[],
    { folder = parts.folder, variables = {} }: Omit<Wanted, "command"> = {},
  ): Promise<Child> {
    const [file, ...args] = command ?? [parts.program, ...parts.args];
    // One that is kept has no permit, but is a process all the same.
    const oldest = permits + kept.size > maxProcesses() ? kept.keys().next().value : undefined;
    if (oldest !== undefined) await dropKept(oldest);
    const program = { file: file!, args, folder, environment: { ...environment, ...variables } };
    const starting = Child.start(program, times);
    track(Promise.allSettled([starting]));
    const child = await starting;
    track(notes.add(child.pid));
    void child.exited.then(() => {
      unlist(child);
      return track(notes.remove(child.pid));
    });
    if (!isClosed) return child;
    await end(child, true);
    throw closed();
  }

  function takeKept(): Child | undefined {
    const child = [...kept.keys()].at(-1); // what it has loaded is still in memory
    if (child !== undefined) unlist(child);
    return child;
  }

  function keep(child: Child): void {
    kept.set(child, setTimeout(() => void dropKept(child), warmMs()).unref());
  }

  function dropKept(child: Child): Promise<void> {
    unlist(child);
    return end(child, false);
  }

  function unlist(child: Child): void {
    clearTimeout(kept.get(child));
    kept.delete(child);
  }

  function end(child: Child, isAtWork: boolean): Promise<void> {
    const ended = child.stop({ isAtWork }).catch((error: unknown) => {
      log(`The process ${child.pid} of a sub-agent cannot be ended: ${String(error)}`);
    });
    track(ended);
    return ended;
  }

  /** What is waited for at the end. Never rejects. */
  function track(work: Promise<unknown>): void {
    unfinished.add(work);
    void work.then(() => unfinished.delete(work));
  }
}

function closed(): CortexError {
  return new CortexError("sub_agent_failed", "Cortex is being stopped, and starts no more sub-agents", {
    hint: "The turn goes on when Cortex is started again.",
    transient: true,
  });
}
