/**
 * Does something with a signal that aborts together with another one, or when the time is over. Nothing of it
 * stays behind on the other signal, which may live as long as the process.
 */
export async function withTimeout<Result>(
  act: (signal: AbortSignal) => Promise<Result>,
  outer: AbortSignal,
  timeoutMs: number,
): Promise<Result> {
  const inner = new AbortController();
  const abort = (): void => inner.abort();
  if (outer.aborted) abort();
  outer.addEventListener("abort", abort, { once: true });
  const timer = setTimeout(abort, timeoutMs);
  try {
    return await act(inner.signal);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener("abort", abort);
  }
}
