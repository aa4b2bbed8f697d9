/** What is asked of patterns, in the thread of `match-thread.ts` or, where it is small, right here. */
import type { Compiler } from "./compile.ts";

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
  /** How many lines are found before the search ends. */
  readonly lines: number;
  /** How much of a line is searched. */
  readonly searched: number;
  /** How much of a line is given. */
  readonly shown: number;
}

export interface FirstMatch {
  /** Which of the patterns. */
  readonly index: number;
  /** All of the match, then its groups. A group that took no part is empty. */
  readonly groups: readonly string[];
}

export interface MatchedLines {
  readonly lines: readonly { readonly number: number; readonly text: string }[];
  /** How many lines were searched only in part. */
  readonly cut: number;
}

export interface Answers {
  /** For each text, for each pattern, whether it occurs there. */
  readonly test: boolean[][];
  readonly find: FirstMatch | undefined;
  readonly lines: MatchedLines;
}

/** Throws `pattern_refused`. */
export function work(job: Job, compiler: Compiler): Answers[Job["kind"]] {
  switch (job.kind) {
    case "test":
      for (const pattern of job.patterns) compiler.compile(pattern); // also where there is no text
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
      lines.push({ number, text: shorten(line, limits.shown) });
    start = end + 1;
  }
  return { lines, cut };
}

function shorten(line: string, length: number): string {
  return line.length > length ? `${line.slice(0, length)}…` : line;
}
