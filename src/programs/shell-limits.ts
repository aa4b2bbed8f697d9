import type { ResourceLimits } from "../model/bounds.ts";

/** A process that ignores SIGXCPU is killed this much later. */
const CPU_GRACE_S = 5;
/** Node alone reserves 600 MB that it may never use. */
const RESERVED_MB = 1024;
const KIB = 1024;
/** The unit of `ulimit -f`. */
const BLOCKS_PER_MB = 2048;

/** The variable that marks the processes of a call with a number. */
export const CALL_VARIABLE = "CORTEX_CALL";
/**
 * The same number as a limit that Linux ignores, the one on file locks: processes inherit it even with an empty
 * environment, and only root can raise it. A line for `sh`: bash calls it -x, other shells -w.
 */
export const MARK_PROCESS = ["x", "w"]
  .map((option) => `ulimit -${option} "$${CALL_VARIABLE}" 2>/dev/null`)
  .join(" || ")
  .concat("\n");

/**
 * Commands for `sh` that bound each process it starts. They are a backstop for what the watch of the program would see too
 * late. The limit on data does not count address space that is only reserved, as the one on address space does. A limit
 * that the system refuses stays as it is.
 */
export function shellLimits({ memoryMb, cpuSeconds, openFiles, fileMb }: ResourceLimits): string {
  return [
    "-c 0",
    `-n ${openFiles}`,
    `-f ${fileMb * BLOCKS_PER_MB}`,
    `-d ${(memoryMb + RESERVED_MB) * KIB}`,
    `-H -t ${cpuSeconds + CPU_GRACE_S}`,
    `-S -t ${cpuSeconds}`,
  ]
    .map((limit) => `ulimit ${limit} 2>/dev/null\n`)
    .join("")
    .concat(MARK_PROCESS);
}

/** Signals of the system to a process that has used up its CPU time or written too large a file. */
const SIGXCPU = 24;
const SIGXFSZ = 25;
/** As shells report a process that a signal has killed. */
const KILLED = 128;

/** The limit that has killed a program, as a sentence. Undefined: none of them has. */
export function limitIn(
  { exitCode, signal }: { readonly exitCode: number | undefined; readonly signal: string | undefined },
  limits: ResourceLimits,
): string | undefined {
  if (signal === "SIGXCPU" || exitCode === KILLED + SIGXCPU) return cpuExceeded(limits);
  if (signal === "SIGXFSZ" || exitCode === KILLED + SIGXFSZ)
    return `Command killed: it wrote a file larger than ${limits.fileMb} MB. ${nameLimit("fileMb", limits)}`;
  return undefined;
}

export function cpuExceeded(limits: ResourceLimits): string {
  return `Command killed: it used more than ${limits.cpuSeconds} s of CPU time. ${nameLimit("cpuSeconds", limits)}`;
}

export function nameLimit(name: keyof ResourceLimits, limits: ResourceLimits): string {
  return `(Limit \`${name}\`: ${limits[name]}, in the agent's \`limits\`.)`;
}
