/**
 * How long a turn has been at work, over all the times that it was taken up.
 *
 * The time in which nobody worked on it, because it was suspended, waited for its next attempt or Cortex was
 * down, does not count. Nobody writes down when a process is killed; so a stretch of work that was cut off
 * reaches as far as the last thing that it wrote down.
 */
import type { ToolCall } from "../model/message.ts";
import type { Journal } from "../store/store.ts";

export interface Worked {
  /** In the stretches before this one. */
  readonly beforeMs: number;
  /** When this stretch began. */
  readonly sinceMs: number;
}

/** A call that has waited for an answer from elsewhere. */
type Waiting = Pick<ToolCall, "ordinal">;

export function workedMs({ beforeMs, sinceMs }: Worked, untilMs: number): number {
  return beforeMs + Math.max(0, untilMs - sinceMs);
}

/** Begins the next stretch, after what the journal tells of the one before. */
export function nextStretch(
  before: Pick<Journal, "messages" | "toolCalls">,
  pinned: { readonly worked?: Worked; readonly waiting?: readonly Waiting[] } | undefined,
  nowMs: number,
): Worked {
  const worked = pinned?.worked;
  if (worked === undefined) return { beforeMs: 0, sinceMs: nowMs };
  // Messages of the user were written by somebody else, at any time; so were the results of calls that waited.
  const answers = before.messages.filter(({ role }) => role === "assistant").map(({ atMs }) => atMs);
  const calls = before.toolCalls.map((call) => lastMoved(call, pinned?.waiting ?? []));
  const lastMs = [...answers, ...calls].reduce((last, atMs) => Math.max(last, atMs), worked.sinceMs);
  return { beforeMs: workedMs(worked, lastMs), sinceMs: nowMs };
}

function lastMoved({ ordinal, startedAtMs, completedAtMs }: ToolCall, waiting: readonly Waiting[]): number {
  return waiting.some((call) => call.ordinal === ordinal) ? startedAtMs : (completedAtMs ?? startedAtMs);
}
