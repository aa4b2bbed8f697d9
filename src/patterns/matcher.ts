/**
 * Matches patterns that agents, templates and files of configuration give. Even a linear-time engine can be kept
 * busy for minutes by a large pattern, and a blocked main thread answers nobody, so this happens in a thread that
 * is ended when it is over its time. It starts on first use and ends when nobody needs it any more.
 *
 * Small patterns on short texts are matched right here: their cost is bounded by their lengths.
 */
import { Worker } from "node:worker_threads";

import type { CortexError } from "../model/errors.ts";
import { moduleBeside } from "../model/module-beside.ts";
import type { Compiler } from "./compile.ts";
import type { Answers, FirstMatch, Job, LineLimits, MatchedLines } from "./jobs.ts";
import { READY } from "./ready.ts";
import { quote, refused } from "./refused.ts";

/** How long one request may take. */
const MATCH_TIMEOUT_MS = 5_000;
/** How long the thread is kept without work. */
const IDLE_MS = 30_000;
/** Requests that wait for the thread. */
export const MAX_WAITING_MATCHES = 10_000;
/** Instructions times characters that are matched on the main thread: a few milliseconds for the worst pattern. */
export const MAX_INLINE_STEPS = 40_000;
const MAX_INLINE_PATTERN_LENGTH = 200;
/** Heap of the thread. The engine needs little; a text is at most a few megabytes. */
const MAX_HEAP_MB = 256;

interface MatcherOptions {
  readonly timeoutMs?: number;
  readonly idleMs?: number;
}

interface Request {
  readonly job: Job;
  readonly resolve: (answer: Answers[Job["kind"]]) => void;
  readonly reject: (error: unknown) => void;
  readonly signal: AbortSignal | undefined;
}

type Reply =
  | typeof READY
  | { readonly answer: Answers[Job["kind"]]; readonly refused?: undefined }
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

  /** Throws `pattern_refused` where one of them is invalid or too large. */
  async check(patterns: readonly string[], signal?: AbortSignal): Promise<void> {
    await this.test(patterns, [], signal);
  }

  /** For each text, for each pattern, whether it occurs there. Throws `pattern_refused`. */
  async test(
    patterns: readonly string[],
    texts: readonly string[],
    signal?: AbortSignal,
  ): Promise<Answers["test"]> {
    return this.#do({ kind: "test", patterns, texts }, signal) as Promise<Answers["test"]>;
  }

  /** The first of the patterns that occurs in a text. Throws `pattern_refused`. */
  async find(
    patterns: readonly string[],
    text: string,
    signal?: AbortSignal,
  ): Promise<FirstMatch | undefined> {
    return this.#do({ kind: "find", patterns, text }, signal) as Promise<FirstMatch | undefined>;
  }

  /** The lines of a text, as UTF-8, in which a pattern occurs. Throws `pattern_refused`. */
  async lines(
    pattern: string,
    bytes: Uint8Array,
    limits: LineLimits,
    signal?: AbortSignal,
  ): Promise<MatchedLines> {
    return this.#do({ kind: "lines", pattern, bytes, limits }, signal) as Promise<MatchedLines>;
  }

  /** Whether the thread is there. */
  get isRunning(): boolean {
    return this.#thread !== undefined;
  }

  async #do(job: Job, signal: AbortSignal | undefined): Promise<Answers[Job["kind"]]> {
    signal?.throwIfAborted();
    if (isSmall(job)) {
      const [{ Compiler: Made }, { work }] = await Promise.all([import("./compile.ts"), import("./jobs.ts")]);
      return work(job, (this.#compiler ??= new Made()));
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

  /** Its first message says that it is ready: starting is not counted as part of a request. */
  #open(): void {
    const thread = new Worker(moduleBeside(import.meta.url, "match-thread"), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      env: {},
    });
    this.#thread = thread;
    thread.on("message", (reply: Reply) => {
      if (thread !== this.#thread) return;
      if (reply === READY) {
        this.#hand(thread, this.#current!.job);
        return;
      }
      this.#settle(({ resolve, reject }) => {
        if (reply.refused === undefined) resolve(reply.answer);
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

/** Whether the length of its patterns and texts alone keeps a job short. */
function isSmall(job: Job): boolean {
  if (job.kind === "lines") return false;
  const patterns = patternsOf(job);
  if (!patterns.every(isPlain)) return false;
  const texts = job.kind === "test" ? job.texts : [job.text];
  const characters = texts.reduce((sum, { length }) => sum + length + 1, 1);
  return patterns.reduce((sum, pattern) => sum + programBound(pattern), 0) * characters <= MAX_INLINE_STEPS;
}

/** Without counted repetitions and classes of Unicode, which make large programs of few characters. */
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
  const which = others.length === 0 ? `The pattern ${quote(first ?? "")}` : "Matching the patterns";
  return refused(
    `${which} timed out after ${timeoutMs / 1000} s`,
    "Use smaller repetition counts, or search fewer and shorter texts.",
  );
}

function tooMany(): CortexError {
  return refused(`Too many pending searches (${MAX_WAITING_MATCHES})`, "Try again later.");
}

/** Of what agents search for. */
export const agentPatterns = new Matcher();

/** Of hooks, relays and scripts, which must not wait for what agents search for. */
export const ownerPatterns = new Matcher();
