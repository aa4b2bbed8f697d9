/** Which other programs have a file open, where the system tells: on Linux, and of processes that are ours to look at. */
import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";

const PROCESSES = "/proc";
/** So many are named. */
const MAX_NAMED = 5;

/** Each as `sqlite3 (process 4711)`, but for the processes in `except`. */
export async function openElsewhere(path: string, except: readonly number[]): Promise<string[]> {
  const names = await readdir(PROCESSES).catch(() => []);
  const pids = names.map(Number).filter((pid) => Number.isInteger(pid) && !except.includes(pid));
  const found = await Promise.all(pids.map((pid) => describeHolder(pid, path)));
  return found.filter((holder) => holder !== undefined).slice(0, MAX_NAMED);
}

async function describeHolder(pid: number, path: string): Promise<string | undefined> {
  const folder = join(PROCESSES, String(pid));
  try {
    const files = await readdir(join(folder, "fd"));
    const targets = await Promise.all(
      files.map((file) => readlink(join(folder, "fd", file)).catch(() => "")),
    );
    if (!targets.includes(path)) return undefined;
    return `${(await readFile(join(folder, "comm"), "utf8")).trim()} (process ${pid})`;
  } catch {
    return undefined; // it is over, or somebody else's
  }
}
