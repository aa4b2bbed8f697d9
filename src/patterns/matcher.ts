/**
 * Matches patterns from agents, templates and configuration files. A large pattern can keep even a linear-time engine busy
 * for minutes, which would block the main thread. So matching runs in a thread that is terminated after a timeout. The
 * thread starts on first use and ends when idle.
 *
 * Small patterns on short texts are matched in the main thread: their lengths bound the cost.
 */
import { Worker } from "node:worker_threads";

import type { CortexError } from "../model/errors.ts";
import { ownModule } from "../model/own-files.ts";
import type { Compiler } from "./compile.ts";
import {
  type FirstMatch,
  type Job,
  type JobResults,
  type LineLimits,
  type MatchedLines,
  READY,
  runJob,
} from "./jobs.ts";
import { quotePattern, refused } from "./refused.ts";

/** The timeout of one request. */
const MATCH_TIMEOUT_MS = 5_000;
/** How long an idle thread is kept. */
const IDLE_MS = 30_000;
/** Requests waiting for the thread. */
export const MAX_WAITING_MATCHES = 10_000;
/** Instructions times characters for matching in the main thread: a few milliseconds for the worst pattern. */
export const MAX_INLINE_STEPS = 40_000;
const MAX_INLINE_PATTERN_LENGTH = 200;
/** The heap limit of the thread. The engine needs little, and texts have at most a few megabytes. */
const MAX_HEAP_MB = 256;

interface MatcherOptions {
  readonly timeoutMs?: number;
  readonly idleMs?: number;
}

type JobResult = JobResults[Job["kind"]];

interface Request {
  readonly job: Job;
  readonly resolve: (result: JobResult) => void;
  readonly reject: (error: unknown) => void;
  readonly signal: AbortSignal | undefined;
}

type Reply =
  | typeof READY
  | { readonly result: JobResult; readonly refused?: undefined }
  | { readonly refused: { readonly message: string; readonly hint: string } };

export class Matcher {
  readonly #timeoutMs: number;
  readonly #idleMs: number;
  readonly #waiting: Request[] = [];
  #current: Request | undefined;
  #thread: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  #compiler: Compiler | undefined;

  constructor({ timeoutMs = MATCH_TIMEOUT_MS, idleMs = IDLE_MS }: MatcherOptions = {}) {
    this.#timeoutMs = timeoutMs;
    this.#idleMs = idleMs;
  }

  /** Throws `pattern_refused` if a pattern is invalid or too large. */
  async check(patterns: readonly string[], signal?: AbortSignal): Promise<void> {
    await this.test(patterns, [], signal);
  }

  /** For each text, for each pattern, whether it occurs there. Throws `pattern_refused`. */
  async test(
    patterns: readonly string[],
    texts: readonly string[],
    signal?: AbortSignal,
  ): Promise<JobResults["test"]> {
    return this.#run<"test">({ kind: "test", patterns, texts }, signal);
  }

  /** The first pattern that occurs in a text. Throws `pattern_refused`. */
  async find(
    patterns: readonly string[],
    text: string,
    signal?: AbortSignal,
  ): Promise<FirstMatch | undefined> {
    return this.#run<"find">({ kind: "find", patterns, text }, signal);
  }

  /** The lines of a UTF-8 text in which a pattern occurs. Throws `pattern_refused`. */
  async lines(
    pattern: string,
    bytes: Uint8Array,
    limits: LineLimits,
    signal?: AbortSignal,
  ): Promise<MatchedLines> {
    return this.#run<"lines">({ kind: "lines", pattern, bytes, limits }, signal);
  }

  /** Whether the thread is running. */
  get isRunning(): boolean {
    return this.#thread !== undefined;
  }

  /** The result is of the job's kind. */
  async #run<Kind extends Job["kind"]>(
    job: Extract<Job, { readonly kind: Kind }>,
    signal: AbortSignal | undefined,
  ): Promise<JobResults[Kind]> {
    return (await this.#resultOf(job, signal)) as JobResults[Kind];
  }

  async #resultOf(job: Job, signal: AbortSignal | undefined): Promise<JobResult> {
    signal?.throwIfAborted();
    if (isSmall(job)) {
      const { Compiler: LoadedCompiler } = await import("./compile.ts");
      return runJob(job, (this.#compiler ??= new LoadedCompiler()));
    }
    if (this.#waiting.length >= MAX_WAITING_MATCHES) throw tooMany();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject, signal });
      this.#next();
    });
  }

  #next(): void {
    if (this.#current !== undefined) return;
    clearTimeout(this.#timer);
    let request = this.#waiting.shift();
    while (request?.signal?.aborted === true) {
      request.reject(request.signal.reason);
      request = this.#waiting.shift();
    }
    if (request === undefined) {
      this.#rest();
      return;
    }
    this.#current = request;
    request.signal?.addEventListener("abort", this.#abort, { once: true });
    if (this.#thread === undefined) this.#open();
    else this.#hand(this.#thread, request.job);
  }

  #hand(thread: Worker, job: Job): void {
    thread.ref();
    thread.postMessage(job);
    this.#timer = setTimeout(() => this.#giveUp(), this.#timeoutMs);
  }

  #rest(): void {
    this.#thread?.unref();
    this.#timer = setTimeout(() => this.#end(), this.#idleMs).unref();
  }

  /** The thread first reports that it is ready, so starting does not count toward a request's timeout. */
  #open(): void {
    const thread = new Worker(ownModule("patterns/match-thread"), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      env: {},
    });
    this.#thread = thread;
    thread.on("message", (reply: Reply) => {
      if (thread !== this.#thread) return;
      if (reply === READY) {
        if (this.#current !== undefined) this.#hand(thread, this.#current.job);
        return;
      }
      this.#settle(({ resolve, reject }) => {
        if (reply.refused === undefined) resolve(reply.result);
        else reject(refused(reply.refused.message, reply.refused.hint));
      });
    });
    thread.on("error", (error) => {
      if (thread !== this.#thread) return;
      this.#thread = undefined;
      this.#settle(({ reject }) => reject(error));
    });
  }

  #giveUp(): void {
    this.#end();
    this.#settle(({ job, reject }) => reject(tooSlow(job, this.#timeoutMs)));
  }

  readonly #abort = (): void => {
    this.#end();
    this.#settle(({ reject, signal }) => reject(signal?.reason));
  };

  #settle(tell: (request: Request) => void): void {
    const request = this.#current;
    this.#current = undefined;
    request?.signal?.removeEventListener("abort", this.#abort);
    if (request !== undefined) tell(request);
    this.#next();
  }

  #end(): void {
    const thread = this.#thread;
    this.#thread = undefined;
    void thread?.terminate();
  }
}

/** Whether the lengths of patterns and texts alone bound the cost of a job. */
function isSmall(job: Job): boolean {
  if (job.kind === "lines") return false;
  const patterns = patternsOf(job);
  if (!patterns.every(isPlain)) return false;
  const texts = job.kind === "test" ? job.texts : [job.text];
  const characters = texts.reduce((sum, { length }) => sum + length + 1, 1);
  return patterns.reduce((sum, pattern) => sum + programBound(pattern), 0) * characters <= MAX_INLINE_STEPS;
}

/** Without counted repetitions and Unicode classes, which compile a few characters to large programs. */
function isPlain(pattern: string): boolean {
  return pattern.length <= MAX_INLINE_PATTERN_LENGTH && !/[{]|\\[pP]/.test(pattern);
}

/** A plain pattern has at most this many instructions. */
export function programBound(pattern: string): number {
  return 2 * pattern.length + 4;
}

function patternsOf(job: Job): readonly string[] {
  return job.kind === "lines" ? [job.pattern] : job.patterns;
}

function tooSlow(job: Job, timeoutMs: number): CortexError {
  const [first, ...others] = patternsOf(job);
  const which = others.length === 0 ? `The pattern ${quotePattern(first ?? "")}` : "Matching the patterns";
  return refused(
    `${which} timed out after ${timeoutMs / 1000} s`,
    "Use smaller repetition counts, or search fewer and shorter texts.",
  );
}

function tooMany(): CortexError {
  return refused(`Too many pending searches (${MAX_WAITING_MATCHES})`, "Try again later.");
}

/** For searches by agents. */
export const agentPatterns = new Matcher();

/** For hooks, relays and scripts, which must not wait for searches by agents. */
export const ownerPatterns = new Matcher();
