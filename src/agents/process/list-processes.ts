/**
 * Lists the processes of this machine, from /proc on Linux and else from `ps`. Zombies are omitted.
 */
import { readdir, readFile } from "node:fs/promises";

import { runToEnd } from "../../programs/run-group.ts";

interface ProcessEntry {
  readonly pid: number;
  readonly group: number;
  /** The start time as the system reports it: equal texts mean equal times. */
  readonly began: string;
}

/** Everything `ps` needs. */
const ENVIRONMENT = { PATH: "/bin:/usr/bin", LC_ALL: "C" };
const PS_MS = 10_000;
const MAX_PS_BYTES = 16 * 1024 * 1024;

const ZOMBIE = "Z";

export async function listProcesses(): Promise<readonly ProcessEntry[]> {
  if (process.platform !== "linux") return listByPs("-A");
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(findByProc));
  return found.filter((each) => each !== undefined);
}

/** Undefined: no process has this id. */
export async function findProcess(pid: number): Promise<ProcessEntry | undefined> {
  if (process.platform === "linux") return findByProc(pid);
  return (await listByPs("-p", String(pid)))[0];
}

async function findByProc(pid: number): Promise<ProcessEntry | undefined> {
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, "utf8"),
      readFile("/proc/sys/kernel/random/boot_id", "utf8"),
    ]);
    // The name of the program, in parentheses, may contain anything. See proc_pid_stat(5) for the rest.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === ZOMBIE) return undefined;
    return { pid, group: Number(fields[2]), began: `${boot.trim()} ${fields[19]}` };
  } catch {
    return undefined;
  }
}

async function listByPs(...which: readonly string[]): Promise<readonly ProcessEntry[]> {
  const { output } = await runToEnd({
    file: "ps",
    args: [...which, "-o", "pid=,pgid=,state=,lstart="],
    environment: ENVIRONMENT,
    timeoutMs: PS_MS,
    maxOutputBytes: MAX_PS_BYTES,
  });
  return output
    .toString()
    .split("\n")
    .flatMap((line) => {
      const [, pid, group, state, began] = /^\s*(\d+)\s+(\d+)\s+(\S)\S*\s+(.+?)\s*$/.exec(line) ?? [];
      if (began === undefined || state === ZOMBIE) return [];
      return { pid: Number(pid), group: Number(group), began };
    });
}
