/** Runs a program that is expected to end soon, and gives what it said. */
import type { Program } from "./launch.ts";
import { type GroupEnd, runGroup } from "./run-group.ts";

interface Run extends Program {
  readonly timeoutMs: number;
  readonly input?: string;
  /** One that says more is ended. */
  readonly maxOutputBytes?: number;
}

export interface RunEnd extends GroupEnd {
  readonly output: Buffer;
  /** The beginning of what it said on standard error. */
  readonly errors: string;
  readonly saidTooMuch: boolean;
}

const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_ERROR_LENGTH = 1_000;
const GRACE_MS = 5_000;
const DRAIN_MS = 250;

/** Rejects only if the program cannot be started, with what the system says. */
export async function runToEnd({ maxOutputBytes = MAX_OUTPUT_BYTES, ...run }: Run): Promise<RunEnd> {
  const tooMuch = new AbortController();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let errors = "";
  const end = await runGroup({
    ...run,
    signal: tooMuch.signal,
    graceMs: GRACE_MS,
    drainMs: DRAIN_MS,
    input: run.input ?? "",
    async onOutput(chunk) {
      bytes += chunk.length;
      if (bytes <= maxOutputBytes) chunks.push(chunk);
      else tooMuch.abort();
    },
    async onErrors(chunk) {
      errors = (errors + chunk.toString("utf8")).slice(0, MAX_ERROR_LENGTH);
    },
  });
  return { ...end, output: Buffer.concat(chunks), errors, saidTooMuch: bytes > maxOutputBytes };
}
