/** The matching jobs, run in the thread of `match-thread.ts` or, if small, in the main thread. */
import type { Compiler } from "./compile.ts";
import { truncate } from "../model/truncate.ts";

export type Job =
  | { readonly kind: "test"; readonly patterns: readonly string[]; readonly texts: readonly string[] }
  | { readonly kind: "find"; readonly patterns: readonly string[]; readonly text: string }
  | {
      readonly kind: "lines";
      readonly pattern: string;
      readonly bytes: Uint8Array;
      readonly limits: LineLimits;
    };

export interface LineLimits {
  /** The search stops after this many matching lines. */
  readonly lines: number;
  /** How many characters of a line are searched. */
  readonly searched: number;
  /** How many characters of a line are returned. */
  readonly shown: number;
}

export interface FirstMatch {
  /** The index of the pattern. */
  readonly index: number;
  /** The whole match, then its groups. A group that did not participate is empty. */
  readonly groups: readonly string[];
}

export interface MatchedLines {
  readonly lines: readonly { readonly number: number; readonly text: string }[];
  /** How many lines were searched only partly. */
  readonly cut: number;
}

export interface JobResults {
  /** For each text, for each pattern, whether it occurs there. */
  readonly test: boolean[][];
  readonly find: FirstMatch | undefined;
  readonly lines: MatchedLines;
}

/** Throws `pattern_refused`. */
export function runJob(job: Job, compiler: Compiler): JobResults[Job["kind"]] {
  switch (job.kind) {
    case "test":
      for (const pattern of job.patterns) compiler.compile(pattern); // even without a text
      return job.texts.map((text) =>
        job.patterns.map((pattern) => compiler.compileFor(pattern, text).test(text)),
      );
    case "find":
      return findFirst(job.patterns, job.text, compiler);
    case "lines":
      return findLines(job, compiler);
  }
}

function findFirst(patterns: readonly string[], text: string, compiler: Compiler): FirstMatch | undefined {
  for (const [index, pattern] of patterns.entries()) {
    const matcher = compiler.compileFor(pattern, text).matcher(text);
    if (!matcher.find()) continue;
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, at) => matcher.group(at) ?? "");
    return { index, groups };
  }
  return undefined;
}

function findLines(
  { pattern, bytes, limits }: Extract<Job, { readonly kind: "lines" }>,
  compiler: Compiler,
): MatchedLines {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const lines: { number: number; text: string }[] = [];
  let cut = 0;
  let number = 0;
  for (let start = 0; start < text.length && lines.length < limits.lines;) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(start, Math.min(end, start + limits.searched)).replace(/\r$/, "");
    number += 1;
    if (end - start > limits.searched) cut += 1;
    if (compiler.compileFor(pattern, line).test(line))
      lines.push({ number, text: truncate(line, limits.shown) });
    start = end + 1;
  }
  return { lines, cut };
}

/** The first message of the thread. */
export const READY = "ready";
