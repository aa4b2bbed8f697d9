/**
 * A model that makes no progress is stuck, whatever it says of itself: it is given up, and so is an agent that
 * does not end when it is told to. Neither may hold a session up.
 */
import { CortexError } from "../model/errors.ts";

/**
 * How long an agent has to end once it was told to. Longer than a tool has, for which it may be waiting, and
 * shorter than the broker waits for a run.
 */
export const GRACE_MS = 8_000;

export interface Watched {
  /** Aborts when the run does, and when there has been no progress for too long. */
  readonly signal: AbortSignal;
  /** There is progress. */
  readonly touch: () => void;
  /** A tool has a time limit of its own. */
  readonly pause: <T>(work: () => Promise<T>) => Promise<T>;
}

export interface WatchOptions {
  readonly signal: AbortSignal;
  readonly silenceMs: number;
  readonly graceMs?: number | undefined;
}

/** Undefined: it was aborted, and has not ended. Rejects with `model_failed` where it has fallen silent. */
export async function watchSilence<T>(
  work: (watched: Watched) => Promise<T>,
  { signal, silenceMs, graceMs = GRACE_MS }: WatchOptions,
): Promise<T | undefined> {
  const silence = new AbortController();
  const stop = AbortSignal.any([signal, silence.signal]);
  const left = Promise.withResolvers<undefined>();
  let grace: NodeJS.Timeout | undefined;
  const beginGrace = (): void => void (grace = setTimeout(left.resolve, graceMs, undefined));
  stop.addEventListener("abort", beginGrace, { once: true });
  if (stop.aborted) beginGrace();

  let paused = 0;
  const timer = setTimeout(() => paused === 0 && silence.abort(), silenceMs);
  const touch = (): void => void timer.refresh();
  const pause = async <R>(tool: () => Promise<R>): Promise<R> => {
    paused++;
    try {
      return await tool();
    } finally {
      paused--;
      touch();
    }
  };
  const isSilent = (): boolean => silence.signal.aborted && !signal.aborted;
  try {
    const running = work({ signal: stop, touch, pause });
    running.catch(() => {}); // one that was left behind fails unheard
    const outcome = await Promise.race([running, left.promise]);
    if (isSilent()) throw wentSilent(silenceMs);
    return outcome;
  } catch (error) {
    throw isSilent() ? wentSilent(silenceMs) : error;
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
    stop.removeEventListener("abort", beginGrace);
  }
}

function wentSilent(silenceMs: number): CortexError {
  return new CortexError("model_failed", `The model has made no progress for ${silenceMs / 1000} s`, {
    hint: "Check that its server works. `limits.silenceMs` of the agent says how long it may take.",
    transient: true,
  });
}
