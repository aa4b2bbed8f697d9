// What a process uses, as Linux counts it. Elsewhere there is nothing to read, and the cells stay empty.

import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Linux tells times of processes in hundredths of a second, whatever its own clock does. */
const MS_A_TICK = 10;
/** Places in /proc/<pid>/stat after the name of the program. */
const USER_TIME = 11;
const CHILDREN_USER_TIME = 13;

export interface Usage {
  readonly residentMb: number;
  /** What was computed since the start, on all threads. It hardly depends on what else the machine does. */
  readonly cpuMs: number;
  readonly processes: number;
}

/** What a process with all its descendants uses. */
export function familyUsage(pid: number): Usage | undefined {
  if (!existsSync(`/proc/${pid}/status`)) return undefined;
  const family = [pid, ...descendants(pid)];
  const sum = (of: (each: number) => number | undefined): number =>
    family.reduce((total, each) => total + (of(each) ?? 0), 0);
  return { residentMb: sum((each) => statusMb(each, "VmRSS")), cpuMs: sum(cpuMs), processes: family.length };
}

export function cpuMs(pid: number): number | undefined {
  return sumOfTicks(pid, USER_TIME);
}

/** What the children of this process have computed that have ended. */
export function cpuMsOfChildren(): number | undefined {
  return sumOfTicks("self", CHILDREN_USER_TIME);
}

/** A time of the user, and that of the system, which follows it. */
function sumOfTicks(pid: number | "self", at: number): number | undefined {
  try {
    // The name in brackets may hold spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ");
    return (Number(fields[at]) + Number(fields[at + 1])) * MS_A_TICK;
  } catch {
    return undefined; // it has ended meanwhile, or this is not Linux
  }
}

/** The most that this process itself ever held. */
export function peakMb(pid: number): number | undefined {
  return statusMb(pid, "VmHWM");
}

function statusMb(pid: number, field: string): number | undefined {
  try {
    const found = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(
      readFileSync(`/proc/${pid}/status`, "utf8"),
    );
    return found === null ? undefined : (Number(found[1]) * 1024) / 1e6;
  } catch {
    return undefined; // it has ended meanwhile
  }
}

function descendants(pid: number): number[] {
  const children = childrenOf(pid);
  return children.concat(children.flatMap(descendants));
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      (readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").match(/\d+/g) ?? []).map(Number),
    );
  } catch {
    return []; // it has ended meanwhile
  }
}
