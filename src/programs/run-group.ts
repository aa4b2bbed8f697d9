/**
 * Runs a program in its own process group and leaves no process of the group behind.
 *
 * Children can keep a program's output open after it exits, and can ignore SIGTERM. So every wait here is bounded and
 * followed by a harsher measure; the last is to stop reading. Processes that leave the group on purpose are out of reach
 * here; the watch finds them, and the sandbox contains them.
 */
import { once } from "node:events";
import { setTimeout as after } from "node:timers/promises";

import type { ProgramWatch } from "../model/bounds.ts";
import { hasCode } from "../model/error-code.ts";
import { launch, type Program } from "./launch.ts";

interface GroupCommand extends Program {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** The time between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** How long processes left behind may still write. */
  readonly drainMs: number;
  /** Standard input. Absent: none. */
  readonly input?: string;
  /** Bounds it, and ends what leaves the group. Absent: nothing does. */
  readonly watch?: ProgramWatch | undefined;
  /** Called with the group's id once it runs. Must not throw. */
  onBegun?(group: number): void;
  /** The next chunk is read after this resolves, so a fast program has to wait. Must not reject. */
  onOutput(chunk: Buffer): Promise<void>;
  /** The same for standard error, which is otherwise ignored. */
  onErrors?(chunk: Buffer): Promise<void>;
}

export interface GroupEnd {
  /** Undefined: it was killed by a signal, or could not be killed at all. */
  readonly exitCode: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  readonly stopped: "timeout" | "aborted" | undefined;
  /** The limit for which it was killed, as a sentence. Only with a watch. */
  readonly limit?: string | undefined;
}

/** Rejects only if the program cannot be started. */
export async function runGroup(command: GroupCommand): Promise<GroupEnd> {
  const { graceMs, drainMs, watch } = command;
  const environment = { ...command.environment, ...watch?.environment };
  const child = launch({ ...command, environment }, [
    command.input === undefined ? "ignore" : "pipe",
    "pipe",
    command.onErrors === undefined ? "ignore" : "pipe",
  ]);
  const end: { -readonly [Key in keyof GroupEnd]: GroupEnd[Key] } = {
    exitCode: undefined,
    signal: undefined,
    stopped: undefined,
  };
  const exited = new Promise<void>((resolve) => {
    child.once("exit", (exitCode, signal) => {
      end.exitCode = exitCode ?? undefined;
      end.signal = signal ?? undefined;
      resolve();
    });
  });
  try {
    await once(child, "spawn");
  } catch (error) {
    await watch?.end(0);
    throw error;
  }
  const { pid: group, stdin, stdout, stderr } = child;
  if (group === undefined) throw new Error("A process that was spawned has an id");
  watch?.begin(group);
  command.onBegun?.(group);
  stdin?.on("error", () => {}); // the program need not read its input
  stdin?.end(command.input);
  const drained = Promise.all([
    stdout && drain(stdout, (chunk) => command.onOutput(chunk)),
    stderr && drain(stderr, async (chunk) => command.onErrors?.(chunk)),
  ]);

  const stop = await stopOrEnd(exited, command);
  Object.assign(end, stop);
  if (end.stopped !== undefined) {
    signalGroup(group, "SIGTERM");
    await watch?.terminate();
    await within(Promise.all([exited, drained]), graceMs);
  }
  if (stop !== undefined) {
    signalGroup(group, "SIGKILL");
    await watch?.end(0);
    await within(exited, graceMs);
  }
  await within(drained, drainMs);
  signalGroup(group, "SIGKILL");
  await watch?.end(stop === undefined ? graceMs : 0);
  await within(drained, drainMs);
  stdout?.destroy();
  stderr?.destroy();
  await drained;
  return end;
}

/** What exceeds a limit would exceed it further, so it gets no time to end. */
type Stop = Pick<GroupEnd, "limit"> | Pick<GroupEnd, "stopped">;

/** Undefined: it exited on its own. */
async function stopOrEnd(
  exited: Promise<void>,
  { signal, timeoutMs, watch }: GroupCommand,
): Promise<Stop | undefined> {
  const settled = new AbortController();
  const timeout = after(timeoutMs, { stopped: "timeout" } as const, { signal: settled.signal });
  const aborted = once(signal, "abort", { signal: settled.signal }).then(
    () => ({ stopped: "aborted" }) as const,
  );
  const ends = [exited.then(() => undefined), timeout, aborted];
  try {
    if (signal.aborted) return { stopped: "aborted" };
    const exceeded = watch?.exceeded.then((limit) => ({ limit }));
    return await Promise.race(exceeded === undefined ? ends : [...ends, exceeded]);
  } finally {
    settled.abort();
    await Promise.allSettled([timeout, aborted]);
  }
}

async function drain(
  output: AsyncIterable<Buffer>,
  onChunk: (chunk: Buffer) => Promise<void>,
): Promise<void> {
  try {
    for await (const chunk of output) await onChunk(chunk);
  } catch {
    // We closed the output and no longer wait for the rest.
  }
}

/** Waits for a promise until a timeout or an abort. Leaves no listener on the signals. */
export async function within<T>(
  work: Promise<T>,
  ms: number,
  ...signals: readonly AbortSignal[]
): Promise<T | "late" | "aborted"> {
  if (signals.some(({ aborted }) => aborted)) return "aborted";
  const other = Promise.withResolvers<"late" | "aborted">();
  const timer = setTimeout(() => other.resolve("late"), ms);
  const abort = (): void => other.resolve("aborted");
  for (const signal of signals) signal.addEventListener("abort", abort);
  try {
    return await Promise.race([work, other.promise]);
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener("abort", abort);
  }
}

export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch (error) {
    // The group is empty; or, on macOS, has only zombies.
    if (!hasCode(error, "ESRCH", "EPERM")) throw error;
  }
}

interface ShortProgram extends Program {
  readonly timeoutMs: number;
  readonly input?: string;
  /** A program that writes more is killed. */
  readonly maxOutputBytes?: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
}

export interface RunEnd extends GroupEnd {
  readonly output: Buffer;
  /** The beginning of its standard error. */
  readonly errors: string;
  readonly hasTooMuchOutput: boolean;
}

const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_ERROR_LENGTH = 1_000;
const GRACE_MS = 5_000;
const DRAIN_MS = 250;

/** Runs a program that is expected to end soon. Rejects only if it cannot be started, with the system's error. */
export async function runToEnd({
  maxOutputBytes = MAX_OUTPUT_BYTES,
  ...program
}: ShortProgram): Promise<RunEnd> {
  const tooMuch = new AbortController();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let errors = "";
  const end = await runGroup({
    ...program,
    signal: AbortSignal.any([tooMuch.signal, ...(program.signal === undefined ? [] : [program.signal])]),
    graceMs: GRACE_MS,
    drainMs: DRAIN_MS,
    input: program.input ?? "",
    async onOutput(chunk) {
      bytes += chunk.length;
      if (bytes <= maxOutputBytes) chunks.push(chunk);
      else tooMuch.abort();
    },
    async onErrors(chunk) {
      errors = (errors + chunk.toString("utf8")).slice(0, MAX_ERROR_LENGTH);
    },
  });
  return { ...end, output: Buffer.concat(chunks), errors, hasTooMuchOutput: bytes > maxOutputBytes };
}
