/**
 * Gives a reader of others' texts many texts that nobody would write. Whatever it is given, it ends soon, and either with
 * a result or with an error that says what is wrong with the text; its laws hold.
 */
import { PARSERS, type Parser, refused } from "../parsers.ts";
import { createRandom } from "../simulation/random.ts";
import { makeText } from "./make-text.ts";

/** Of the processor's time of this thread, for 2 KB. Many times what the slowest reader takes. */
const MAX_CASE_MS = 250;
/** A garbage collection can fall into one measurement, but not into all of them. */
const ATTEMPTS = 3;

export const TARGETS: readonly string[] = [...new Set(PARSERS.map(({ name }) => name))];

export interface Failure {
  readonly parser: string;
  /** The number that makes the same text again. */
  readonly at: number;
  readonly text: string;
  readonly error: Error;
}

/** Runs the cases `from`, `from + 1` … of a parser. Ends with the first that fails. */
export async function fuzz(
  name: string,
  { from, cases, stride = 1 }: { readonly from: number; readonly cases: number; readonly stride?: number },
): Promise<Failure | undefined> {
  const parsers = PARSERS.filter((parser) => parser.name === name && parser.read.length > 0); // others have one text
  const samples = parsers.flatMap((parser) => parser.samples ?? []);
  const pieces = parsers.flatMap(({ worst }) => worst);
  for (let at = from; at < from + cases; at += stride) {
    const text = makeText({ samples, pieces }, createRandom(at));
    try {
      for (const parser of parsers) await check(parser, text);
    } catch (error) {
      return { parser: name, at, text, error: error as Error };
    }
  }
  return undefined;
}

async function check({ read, law }: Parser, text: string): Promise<void> {
  let ms = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS && ms > MAX_CASE_MS; attempt++) {
    const startedMs = usedMs();
    await attemptTo(read, text);
    ms = usedMs() - startedMs;
  }
  if (ms > MAX_CASE_MS) throw new Error(`took ${Math.round(ms)} ms of CPU`);
  if (law !== undefined) await attemptTo(law, text);
}

async function attemptTo(read: (text: string) => unknown, text: string): Promise<void> {
  try {
    await read(text);
  } catch (error) {
    refused(error);
  }
}

function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
