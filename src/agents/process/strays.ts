/**
 * Records running processes in a file, so that the next start after a crash can kill the survivors.
 *
 * Process ids are reused, so a process counts as ours only if it has the recorded start time. If it is gone, its process
 * group is still ours as long as it has members, because the id of a live group is not reused.
 */
import { readFile, rename, rm, writeFile } from "node:fs/promises";

import { findProcess, listProcesses } from "./list-processes.ts";

type Log = (text: string) => void;

interface Stray {
  readonly pid: number;
  readonly began: string;
}

/** Maintains the file. A failed write is logged and never rejects: everything works without the file. */
export class StrayRecords {
  readonly #file: string;
  readonly #log: Log;
  readonly #recorded = new Map<number, string>();
  #changed: Promise<void> = Promise.resolve();

  constructor(file: string, log: Log) {
    this.#file = file;
    this.#log = log;
  }

  add(pid: number): Promise<void> {
    return this.#change(async () => {
      const found = await findProcess(pid);
      if (found !== undefined) this.#recorded.set(pid, found.began);
    });
  }

  remove(pid: number): Promise<void> {
    return this.#change(async () => void this.#recorded.delete(pid));
  }

  /** Changes run one at a time. */
  #change(change: () => Promise<void>): Promise<void> {
    const before = this.#changed;
    this.#changed = (async () => {
      await before;
      try {
        await change();
        await this.#write();
      } catch (error) {
        this.#log(`Cannot record running processes in ${this.#file}: ${String(error)}`);
      }
    })();
    return this.#changed;
  }

  async #write(): Promise<void> {
    const strays: Stray[] = Array.from(this.#recorded, ([pid, began]) => ({ pid, began }));
    if (strays.length === 0) return rm(this.#file, { force: true });
    await writeFile(`${this.#file}.new`, JSON.stringify(strays), { mode: 0o600 });
    await rename(`${this.#file}.new`, this.#file);
  }
}

/** Kills the processes in the file that still run, and deletes the file. Never rejects. */
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
      log(`Killing process ${pid}, left behind by a crash`);
      kill(pid);
    }
    await rm(file, { force: true });
  } catch (error) {
    log(`Cannot kill the processes left behind by a crash: ${String(error)}`);
  }
}

/** Empty if the file is missing or truncated. */
async function readStrays(file: string): Promise<readonly Stray[]> {
  try {
    const strays: readonly Stray[] = JSON.parse(await readFile(file, "utf8"));
    return strays.filter(({ pid, began }) => Number.isInteger(pid) && pid > 1 && typeof began === "string");
  } catch {
    return [];
  }
}

function kill(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // It has just exited.
  }
}
