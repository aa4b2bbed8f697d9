/** Finds other programs that have a file open. Works on Linux, for processes that we may inspect. */
import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";

const PROCESSES = "/proc";
/** How many programs are reported. */
const MAX_NAMED = 5;

/** Each as `sqlite3 (process 4711)`. Processes in `except` are skipped. */
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
    return undefined; // it has exited, or belongs to another user
  }
}
