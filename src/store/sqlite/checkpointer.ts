/**
 * Keeps the write-ahead log bounded without making the writer wait.
 *
 * When the log has grown, a thread with a connection of its own copies it into the database while the
 * writer goes on. It can never catch up with a busy writer entirely, and the log starts again from its
 * beginning only when all of it has been copied; so the writer is asked to copy the small rest itself,
 * after it has answered a batch. The thread is started when it is first needed.
 */
import { Worker } from "node:worker_threads";

import { moduleBeside } from "./module-beside.ts";

/** 8 MiB in pages of 4 KiB. */
export const CHECKPOINT_FRAMES = 2_048;
/** 64 MiB: the writer copies everything itself rather than let the log grow further. */
export const MAX_WAL_FRAMES = 16_384;

export class Checkpointer {
  readonly #path: string;
  readonly #onFinish: () => void;
  #thread: Worker | undefined;
  #working = false;
  #closed = false;
  wantsFinish = false;

  constructor(path: string, onFinish: () => void) {
    this.#path = path;
    this.#onFinish = onFinish;
  }

  /** Told after each batch how long the log is. */
  observe(frames: number): void {
    if (this.#closed || this.wantsFinish) return;
    if (frames >= MAX_WAL_FRAMES) this.wantsFinish = true;
    else if (frames >= CHECKPOINT_FRAMES && !this.#working) this.#start();
  }

  /** Whether the batch that is about to leave should finish a checkpoint. */
  takeFinish(): boolean {
    const finish = this.wantsFinish;
    this.wantsFinish = false;
    return finish;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread?.terminate();
  }

  #start(): void {
    this.#working = true;
    this.#thread ??= this.#open();
    this.#thread.postMessage("checkpoint");
  }

  #open(): Worker {
    const thread = new Worker(moduleBeside(import.meta.url, "checkpoint-thread"), { workerData: this.#path });
    thread.unref();
    thread.on("message", () => this.#finish());
    // Without this thread the writer does all the copying: slower, and nothing is lost.
    thread.on("error", () => {
      this.#thread = undefined;
      this.#finish();
    });
    return thread;
  }

  #finish(): void {
    this.#working = false;
    if (this.#closed) return;
    this.wantsFinish = true;
    this.#onFinish();
  }
}
