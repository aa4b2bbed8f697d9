/**
 * Bounds the programs that agents start, and ends all their processes with the call that started them.
 *
 * A process belongs to a call if it is in the group or the session of the call's program, has the call's marker in its
 * environment or as a limit, or was started by a process that belongs to it. So `setsid`, `nohup`, a double fork and an
 * empty environment do not escape. A process does if it lowers the limit as well, all between two looks: then nothing tells
 * it from a program of another Cortex, or of the user.
 *
 * Works on Linux; elsewhere, only process groups and the limits of the shell count.
 */
import { createHash, randomInt } from "node:crypto";
import { statSync } from "node:fs";
import { setTimeout as after } from "node:timers/promises";

import type { ProgramWatch, ResourceLimits } from "../model/bounds.ts";
import { hasCode } from "../model/error-code.ts";
import { inSlices, type Sliced } from "../model/in-slices.ts";
import {
  hasFileLocks,
  hasVariable,
  listPids,
  memoryOfFolders,
  ownMemory,
  pageBytes,
  type ProcessState,
  readProcess,
} from "./proc.ts";
import { CALL_VARIABLE, cpuExceeded, nameLimit } from "./shell-limits.ts";

/** The first look at a program. Each pause is twice as long, up to the longest: most commands are over before. */
const FIRST_LOOK_MS = 25;
const LOOK_EVERY_MS = 200;
/** The pause between two attempts to end all processes, and how often it is tried: some start others meanwhile. */
const RETRY_MS = 10;
const MAX_KILLS = 200;
const MB = 1024 ** 2;

export interface Supervised {
  readonly agent: string;
  readonly limits: ResourceLimits;
  /** Why the program must end for what is on the disk. Undefined: it may go on. */
  readonly diskExceeded: () => Promise<string | undefined>;
  readonly memoryFolders: readonly string[];
}

/** What a program uses at a moment. */
interface Use {
  readonly bytes: number;
  readonly processes: number;
}

/** All programs of the agents of a home. */
export class Supervisor {
  readonly #home: string;
  readonly #programs = new Map<string, Set<WatchedProgram>>();

  constructor(home: string) {
    this.#home = idOf(home);
  }

  /** Call it right before the program starts. */
  watch(supervised: Supervised): ProgramWatch {
    const programs = this.#programs.get(supervised.agent) ?? new Set();
    this.#programs.set(supervised.agent, programs);
    return new WatchedProgram(markerOf(this.#home), supervised, programs);
  }

  /** Kills what programs of an earlier Cortex on this home have left behind. Call it before any program starts. */
  async endLeftovers(log: (line: string) => void): Promise<void> {
    const told = new Set<number>();
    await killAll(async () => {
      const found = await inSlices(findMarked(this.#home));
      for (const pid of found.filter((each) => !told.has(each))) {
        told.add(pid);
        log(`Killing process ${pid}, left behind by a command when Cortex was killed`);
      }
      return found;
    });
  }
}

/**
 * Different for every home on this machine, also in containers and in copies of a home, and the same after a restart.
 * Processes do not outlive a restart of the machine, so the numbers need not either.
 */
function idOf(home: string): string {
  const { dev, ino } = statSync(home, { bigint: true });
  const id = createHash("sha256").update(`${dev} ${ino}`).digest().readUIntBE(0, 6) % MARKER_PART;
  return `1${String(id).padStart(MARKER_DIGITS, "0")}`;
}

/** Of the home and of the call, each: together a number that fits a limit of the system. */
const MARKER_DIGITS = 9;
const MARKER_PART = 10 ** MARKER_DIGITS;

function markerOf(home: string): string {
  return home + String(randomInt(MARKER_PART)).padStart(MARKER_DIGITS, "0");
}

function* findMarked(home: string): Sliced<number[]> {
  const found: number[] = [];
  for (const pid of listPids()) {
    yield;
    if (pid !== process.pid && isMarked(pid, home) && readProcess(pid) !== undefined) found.push(pid);
  }
  return found;
}

/** By a marker that begins with this. */
function isMarked(pid: number, beginning: string): boolean {
  return hasVariable(pid, `${CALL_VARIABLE}=${beginning}`) || hasFileLocks(pid, beginning);
}

class WatchedProgram implements ProgramWatch {
  readonly environment: Readonly<Record<string, string>>;
  readonly exceeded: Promise<string>;
  readonly #supervised: Supervised;
  /** All programs of the agent that run now. */
  readonly #programs: Set<WatchedProgram>;
  readonly #marker: string;
  readonly #exceed: (what: string) => void;
  /** Processes that ran before the program started. One that ends is removed: its id may be used again. */
  #older = new Set(listPids());
  #members: ReadonlyMap<number, ProcessState> = new Map();
  #leader = 0;
  #timer: NodeJS.Timeout | undefined;
  #use: Use = { bytes: 0, processes: 0 };
  #hasEnded = false;

  constructor(marker: string, supervised: Supervised, programs: Set<WatchedProgram>) {
    this.#marker = marker;
    this.environment = { [CALL_VARIABLE]: marker };
    this.#supervised = supervised;
    this.#programs = programs;
    const { promise, resolve } = Promise.withResolvers<string>();
    this.exceeded = promise;
    this.#exceed = resolve;
  }

  begin(leader: number): void {
    this.#leader = leader;
    this.#programs.add(this);
    this.#lookIn(FIRST_LOOK_MS);
  }

  async terminate(): Promise<void> {
    for (const pid of await this.#strays()) signal(pid, "SIGTERM");
  }

  async end(graceMs: number): Promise<void> {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    if (this.#leader === 0) return; // it has not started
    const strays = await this.#strays();
    if (strays.length > 0 && graceMs > 0) {
      for (const pid of strays) signal(pid, "SIGTERM");
      const deadline = performance.now() + graceMs;
      while (performance.now() < deadline && (await this.#strays()).length > 0) await after(RETRY_MS);
    }
    if (this.#members.size > 0) await killAll(() => this.#find());
    this.#programs.delete(this);
  }

  /** Processes outside the group, which is ended as a whole. */
  async #strays(): Promise<number[]> {
    return (await this.#find()).filter((pid) => this.#members.get(pid)?.group !== this.#leader);
  }

  async #find(): Promise<number[]> {
    this.#members = await inSlices(this.#look());
    return [...this.#members.keys()];
  }

  *#look(): Sliced<Map<number, ProcessState>> {
    const pids = listPids();
    this.#older = new Set(pids.filter((pid) => this.#older.has(pid)));
    const members = new Map<number, ProcessState>();
    for (const pid of pids) {
      if (this.#older.has(pid)) continue;
      yield;
      const found = readProcess(pid);
      if (found !== undefined && this.#isMember(found, members)) members.set(pid, found);
    }
    return members;
  }

  #isMember(
    { pid, parent, group, session, began }: ProcessState,
    found: ReadonlyMap<number, ProcessState>,
  ): boolean {
    return (
      group === this.#leader ||
      session === this.#leader ||
      this.#members.get(pid)?.began === began ||
      found.has(parent) ||
      isMarked(pid, this.#marker)
    );
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => void this.#checkAgain(ms), ms);
  }

  async #checkAgain(ms: number): Promise<void> {
    const exceeded = await this.#check();
    if (exceeded !== undefined) this.#exceed(exceeded);
    else if (!this.#hasEnded) this.#lookIn(Math.min(ms * 2, LOOK_EVERY_MS));
  }

  /** The limit that is exceeded. */
  async #check(): Promise<string | undefined> {
    const { limits, diskExceeded } = this.#supervised;
    const pids = await this.#find();
    const cpuMs = sum([...this.#members.values()].map((each) => each.cpuMs));
    this.#use = { processes: pids.length, bytes: await this.#memory(pids) };
    if (cpuMs > limits.cpuSeconds * 1_000) return cpuExceeded(limits);
    if (this.#isLargest("bytes", limits.memoryMb * MB)) return this.#tooMuch("memoryMb", "MB of memory");
    if (this.#isLargest("processes", limits.processes)) return this.#tooMuch("processes", "processes");
    return diskExceeded();
  }

  async #memory(pids: readonly number[]): Promise<number> {
    const { memoryFolders, limits } = this.#supervised;
    const last = pids.at(-1);
    const files = last === undefined ? 0 : memoryOfFolders(last, memoryFolders);
    const resident = sum([...this.#members.values()].map((each) => each.residentPages)) * pageBytes();
    const others = sum([...this.#programs].map((other) => (other === this ? 0 : other.#use.bytes)));
    // Pages that processes share are counted once, but only if that decides.
    if (files + resident + others <= limits.memoryMb * MB) return files + resident;
    return files + (await ownMemory(pids));
  }

  /** Whether the agent's programs together exceed a limit, and this one uses the most. */
  #isLargest(what: keyof Use, limit: number): boolean {
    const uses = [...this.#programs].map((program) => program.#use[what]);
    return sum(uses) > limit && this.#use[what] === Math.max(...uses);
  }

  #tooMuch(limit: "memoryMb" | "processes", unit: string): string {
    const { limits } = this.#supervised;
    const others = this.#programs.size === 1 ? "" : ", together with the agent's other commands";
    return `Command killed: it used more than ${limits[limit]} ${unit}${others}. ${nameLimit(limit, limits)}`;
  }
}

/** Until none is found. Bounded, because a process that waits for a broken disk cannot be ended. */
async function killAll(find: () => Promise<readonly number[]>): Promise<void> {
  for (let tries = 0; tries < MAX_KILLS; tries++) {
    const pids = await find();
    if (pids.length === 0) return;
    for (const pid of pids) signal(pid, "SIGKILL");
    if (tries > 0) await after(RETRY_MS);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It has just ended, or runs as another user.
    if (!hasCode(error, "ESRCH", "EPERM")) throw error;
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
