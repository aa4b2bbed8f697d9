/**
 * One thread that runs hooks, seen from the main thread: the calls that it has not answered, whether it still gives
 * signs of life, and what memory it takes. When it ends, for whatever reason, whoever owns it is given the calls that
 * were left.
 */
import { Worker } from "node:worker_threads";

import type { FromThread, ThreadData, ToThread } from "./thread-protocol.ts";

export interface LaneParts<Call> {
  readonly data: ThreadData;
  readonly limits: LaneLimits;
  readonly onMessage: (message: FromThread, lane: Lane<Call>) => void;
  /** With the calls that it had not answered. Told once. */
  readonly onEnd: (cause: LaneEnd, left: readonly Call[], lane: Lane<Call>) => void;
}

export interface LaneLimits {
  /** What buffers and the heap may take together. */
  readonly memoryMb: number;
}

/**
 * Where V8 stops a thread that nobody has stopped before. It is far above what a hook may take: a thread that reaches
 * the limit of its heap faster than it can be ended takes the whole process along, and the limit of V8 leaves out
 * buffers. So memory is measured from here, several times a second.
 */
const HEAP_CEILING_MB = 4_096;

/** Why a thread is no more, as the end of the sentence "The hook …". */
export type LaneEnd =
  | { readonly kind: "closed" }
  | { readonly kind: "silent" }
  | { readonly kind: "memory"; readonly limitMb: number }
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "crash"; readonly error: string };

export class Lane<Call> {
  readonly calls = new Map<number, Call>();
  /** How many calls it was given so far. */
  served = 0;
  /** It is given no more calls, and is closed when those that it has are done. */
  retired = false;
  /** How many looks in a row it has not answered. */
  missed = 0;
  isReady = false;
  readonly #parts: LaneParts<Call>;
  readonly #thread: Worker;
  #cause: LaneEnd | undefined;
  #hasEnded = false;
  #measuring = false;
  readonly #gone = Promise.withResolvers<void>();

  constructor(parts: LaneParts<Call>) {
    this.#parts = parts;
    const name = `hook-thread.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`;
    this.#thread = new Worker(new URL(name, import.meta.url), {
      workerData: parts.data,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_CEILING_MB },
      // Flags of whoever started this process are not meant for hooks, and some are refused in threads.
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
    this.#thread.unref();
    this.#thread.on("message", (messages: readonly FromThread[]) => {
      this.missed = 0;
      this.isReady = true;
      for (const message of messages) if (!this.#hasEnded) parts.onMessage(message, this);
    });
    this.#thread.on("error", (error: NodeJS.ErrnoException) => {
      this.#cause ??=
        error.code === "ERR_WORKER_OUT_OF_MEMORY"
          ? { kind: "memory", limitMb: parts.limits.memoryMb }
          : { kind: "crash", error: `${error.name}: ${error.message}` };
    });
    this.#thread.on("exit", (code) => {
      this.#end({ kind: "exit", code });
      this.#gone.resolve();
    });
  }

  post(message: ToThread): void {
    this.#thread.postMessage(message);
  }

  /** Looks whether it is well: asks for a sign of life, and what memory it takes. */
  look(): void {
    this.missed++;
    this.post({ kind: "ping" });
    if (!this.#measuring) void this.#measure();
  }

  /** Ends the thread, whatever it is doing. Its calls are handed back at once. */
  kill(cause: LaneEnd): Promise<void> {
    this.#end(cause);
    void this.#thread.terminate();
    return this.#gone.promise;
  }

  #end(cause: LaneEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const left = [...this.calls.values()];
    this.calls.clear();
    this.#parts.onEnd(this.#cause ?? cause, left, this);
  }

  /** A thread that does not give way is asked too: V8 interrupts it for this. */
  async #measure(): Promise<void> {
    this.#measuring = true;
    const { memoryMb } = this.#parts.limits;
    try {
      const { external_memory, used_heap_size } = await this.#thread.getHeapStatistics();
      if (external_memory + used_heap_size > memoryMb * 1024 * 1024)
        void this.kill({ kind: "memory", limitMb: memoryMb });
    } catch {
      // The thread is gone, which its end tells.
    } finally {
      this.#measuring = false;
    }
  }
}
