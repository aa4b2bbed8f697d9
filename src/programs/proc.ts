/** Reads processes from `/proc`. Where there is none, as on macOS, there are no processes. */
import { closeSync, openSync, readdirSync, readlinkSync, readSync, statfsSync } from "node:fs";
import { readFile } from "node:fs/promises";

const PROC = "/proc";
/** USER_HZ, the unit of times in `/proc`: 100 on all architectures that Node supports. */
const TICKS_PER_SECOND = 100;
/** The beginning of an environment that is searched. Ours come first. */
const MAX_ENVIRON_BYTES = 256 * 1024;
/** TMPFS_MAGIC in linux/magic.h. */
const TMPFS = 0x01021994;
const DEAD = new Set(["Z", "X", "x"]);

export interface ProcessState {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** When it started, in ticks since the boot: with the id, it identifies a process. */
  readonly began: string;
  /** Including its children that have ended. */
  readonly cpuMs: number;
  /** Resident memory; pages that it shares with others included. */
  readonly residentPages: number;
}

export function listPids(): number[] {
  try {
    return readdirSync(PROC)
      .map(Number)
      .filter((pid) => Number.isInteger(pid));
  } catch {
    return [];
  }
}

const buffer = Buffer.allocUnsafe(MAX_ENVIRON_BYTES);

/** Undefined: it has ended, or belongs to another user. */
function readProc(pid: number, name: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(`${PROC}/${pid}/${name}`, "r");
    return buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, 0));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Undefined: it has ended. Zombies have. */
export function readProcess(pid: number): ProcessState | undefined {
  const stat = readProc(pid, "stat");
  if (stat === undefined) return undefined;
  // The name of the program, in parentheses, may contain anything. See proc_pid_stat(5) for the rest.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (DEAD.has(fields[0] ?? "")) return undefined;
  const number = (index: number): number => Number(fields[index]);
  const ticks = number(11) + number(12) + number(13) + number(14);
  return {
    pid,
    parent: number(1),
    group: number(2),
    session: number(3),
    began: fields[19] ?? "",
    cpuMs: (ticks * 1_000) / TICKS_PER_SECOND,
    residentPages: number(21),
  };
}

/** The size of a page of memory, which is 4, 16 or 64 KiB: Node does not say it, but knows our own memory in bytes. */
export const pageBytes = once((): number => {
  const pages = readProcess(process.pid)?.residentPages ?? 1;
  return 2 ** Math.round(Math.log2(process.memoryUsage.rss() / pages));
});

function once<Value>(compute: () => Value): () => Value {
  let value: Value | undefined;
  return () => (value ??= compute());
}

/** Whether a variable of the environment that the process was started with begins with this: `NAME=value`. */
export function hasVariable(pid: number, beginning: string): boolean {
  const environment = readProc(pid, "environ");
  return environment !== undefined && `\0${environment}`.includes(`\0${beginning}`);
}

/** Whether the limit on file locks of the process, in digits, begins with these. A process without a limit has no digits. */
export function hasFileLocks(pid: number, beginning: string): boolean {
  const limit = /^Max file locks +\w+ +(\d+)/m.exec(readProc(pid, "limits") ?? "")?.[1];
  return limit !== undefined && limit.startsWith(beginning);
}

/** The memory of processes, with each shared page counted once. The kernel looks at every page, outside our main thread. */
export async function ownMemory(pids: readonly number[]): Promise<number> {
  let bytes = 0;
  for (const pid of pids) {
    const rollup = await readFile(`${PROC}/${pid}/smaps_rollup`, "utf8").catch(() => ""); // it has ended
    bytes += Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024;
  }
  return bytes;
}

/** What files in folders that a sandboxed process sees take of the memory. 0 if it is not in a sandbox. */
export function memoryOfFolders(pid: number, folders: readonly string[]): number {
  try {
    const own = readlinkSync(`${PROC}/self/ns/mnt`);
    if (readlinkSync(`${PROC}/${pid}/ns/mnt`) === own) return 0;
    return folders
      .map((folder) => statfsSync(`${PROC}/${pid}/root${folder}`))
      .reduce(
        (sum, { type, blocks, bfree, bsize }) => sum + (type === TMPFS ? (blocks - bfree) * bsize : 0),
        0,
      );
  } catch {
    return 0; // it has ended
  }
}
