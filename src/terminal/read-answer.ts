import type { Interface } from "node:readline/promises";

/** Asks whoever is at the terminal. Undefined: Ctrl-C or Ctrl-D. */
export async function readAnswer(lines: Interface, question: string): Promise<string | undefined> {
  const closed = new AbortController();
  const close = (): void => closed.abort();
  lines.once("close", close).once("SIGINT", close);
  try {
    return (await lines.question(question, { signal: closed.signal })).trim();
  } catch (error) {
    if (closed.signal.aborted) return undefined;
    throw error;
  } finally {
    lines.off("close", close).off("SIGINT", close);
  }
}
