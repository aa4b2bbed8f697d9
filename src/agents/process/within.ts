/** Waits for something, but not longer than that, and not after an abort. Leaves nothing behind at the signals. */
export async function within<T>(
  work: Promise<T>,
  ms: number,
  ...signals: readonly AbortSignal[]
): Promise<T | "late" | "aborted"> {
  if (signals.some(({ aborted }) => aborted)) return "aborted";
  const other = Promise.withResolvers<"late" | "aborted">();
  const timer = setTimeout(other.resolve, ms, "late");
  const abort = (): void => other.resolve("aborted");
  for (const signal of signals) signal.addEventListener("abort", abort);
  try {
    return await Promise.race([work, other.promise]);
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener("abort", abort);
  }
}
