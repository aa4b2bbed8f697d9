/**
 * Runs a program in a process group of its own and leaves nothing of it behind.
 *
 * A program's children keep its output open after it has ended, and may ignore being told to end. So no wait
 * here is without a bound: each is followed by a harder measure, the last of which is to stop listening.
 * A process that has left the group on purpose is out of reach; keeping those is the sandbox's work.
 */
import { once } from "node:events";
import { setTimeout as after } from "node:timers/promises";

import { launch, type Program } from "./launch.ts";

interface GroupCommand extends Program {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** How long the group has between being told to end and being killed. */
  readonly graceMs: number;
  /** How long those that the program left behind have to finish what they write. */
  readonly drainMs: number;
  /** What it reads. Absent: nothing. */
  readonly input?: string;
  /** Told the number of the group when it has begun. Must not throw. */
  onBegun?(group: number): void;
  /** The next piece comes when this one is dealt with, so a fast program has to wait. Must not reject. */
  onOutput(chunk: Buffer): Promise<void>;
  /** The same for what it says of errors, which is otherwise not listened to. */
  onErrors?(chunk: Buffer): Promise<void>;
}

export interface GroupEnd {
  /** Undefined: it was ended by a signal, or could not be ended at all. */
  readonly exitCode: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  readonly stopped: "timeout" | "aborted" | undefined;
}

/** Rejects only if the program cannot be started. */
export async function runGroup(command: GroupCommand): Promise<GroupEnd> {
  const { graceMs, drainMs } = command;
  const child = launch(command, [
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
  await once(child, "spawn");
  const group = child.pid!;
  command.onBegun?.(group);
  child.stdin?.on("error", () => {}); // it need not read what it is given
  child.stdin?.end(command.input);
  const drained = Promise.all([
    drain(child.stdout!, (chunk) => command.onOutput(chunk)),
    child.stderr === null ? undefined : drain(child.stderr, (chunk) => command.onErrors!(chunk)),
  ]);

  end.stopped = await stopOrEnd(exited, command);
  if (end.stopped !== undefined) {
    signalGroup(group, "SIGTERM");
    await within(Promise.all([exited, drained]), graceMs);
    signalGroup(group, "SIGKILL");
    await within(exited, graceMs);
  }
  await within(drained, drainMs);
  signalGroup(group, "SIGKILL");
  await within(drained, drainMs);
  child.stdout!.destroy();
  child.stderr?.destroy();
  await drained;
  return end;
}

/** Undefined: it has ended by itself. */
async function stopOrEnd(
  exited: Promise<void>,
  { signal, timeoutMs }: GroupCommand,
): Promise<GroupEnd["stopped"]> {
  const settled = new AbortController();
  const timeout = after(timeoutMs, "timeout" as const, { signal: settled.signal });
  const aborted = once(signal, "abort", { signal: settled.signal }).then(() => "aborted" as const);
  try {
    if (signal.aborted) return "aborted";
    return await Promise.race([exited.then(() => undefined), timeout, aborted]);
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
    // The output was closed on our side: what has not come by then is not waited for.
  }
}

/** Waits for something that does not reject, but not longer. */
async function within(work: Promise<unknown>, ms: number): Promise<void> {
  const settled = new AbortController();
  const deadline = after(ms, undefined, { signal: settled.signal });
  await Promise.race([work, deadline]);
  settled.abort();
  await Promise.allSettled([deadline]);
}

export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch (error) {
    // Nobody is left in it; or, on macOS, only processes that have ended already.
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}
