/**
 * The processes that there are, in a file: what is left of them after a crash is ended at the next start.
 *
 * Numbers of processes are used again, so one counts as ours only if it began at the moment that was noted.
 * Where it is gone, its group is still ours as long as somebody is in it: the system gives the number of a group
 * that lives to nobody else.
 */
import { readFile, rename, rm, writeFile } from "node:fs/promises";

import { findProcess, listProcesses } from "./list-processes.ts";

type Log = (text: string) => void;

interface Stray {
  readonly pid: number;
  readonly began: string;
}

/** Keeps the file. Where it cannot be written, that is logged, and nothing rejects: all works without. */
export class StrayNotes {
  readonly #file: string;
  readonly #log: Log;
  readonly #noted = new Map<number, string>();
  #changed: Promise<void> = Promise.resolve();

  constructor(file: string, log: Log) {
    this.#file = file;
    this.#log = log;
  }

  add(pid: number): Promise<void> {
    return this.#change(async () => {
      const found = await findProcess(pid);
      if (found !== undefined) this.#noted.set(pid, found.began);
    });
  }

  remove(pid: number): Promise<void> {
    return this.#change(async () => void this.#noted.delete(pid));
  }

  /** One after the other. */
  #change(change: () => Promise<void>): Promise<void> {
    const before = this.#changed;
    this.#changed = (async () => {
      await before;
      try {
        await change();
        await this.#write();
      } catch (error) {
        this.#log(`What runs cannot be noted in ${this.#file}: ${String(error)}`);
      }
    })();
    return this.#changed;
  }

  async #write(): Promise<void> {
    const strays: Stray[] = Array.from(this.#noted, ([pid, began]) => ({ pid, began }));
    if (strays.length === 0) return rm(this.#file, { force: true });
    await writeFile(`${this.#file}.new`, JSON.stringify(strays), { mode: 0o600 });
    await rename(`${this.#file}.new`, this.#file);
  }
}

/** Ends what the file says is still there, and deletes it. Never rejects. */
export async function endStrays(file: string, log: Log): Promise<void> {
  try {
    const strays = await readStrays(file);
    if (strays.length === 0) return;
    const processes = await listProcesses();
    for (const { pid, began } of strays) {
      const leader = processes.find((each) => each.pid === pid);
      const isOurs =
        leader === undefined ? processes.some(({ group }) => group === pid) : leader.began === began;
      if (!isOurs) continue;
      log(`A program was left by a Cortex that has died, and is ended: process ${pid}`);
      kill(pid);
    }
    await rm(file, { force: true });
  } catch (error) {
    log(`What a Cortex that has died has left cannot be ended: ${String(error)}`);
  }
}

/** Of a file that is not there, or was cut off, nothing. */
async function readStrays(file: string): Promise<readonly Stray[]> {
  try {
    const strays = JSON.parse(await readFile(file, "utf8")) as readonly Stray[];
    return strays.filter(({ pid, began }) => Number.isInteger(pid) && pid > 1 && typeof began === "string");
  } catch {
    return [];
  }
}

function kill(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // It has ended just now.
  }
}
