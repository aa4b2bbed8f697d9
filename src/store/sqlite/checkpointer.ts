/**
 * Keeps the write-ahead log bounded without making the writer wait.
 *
 * When the log has grown, a thread with a connection of its own copies it into the database while the
 * writer goes on. It can never catch up with a busy writer entirely, and the log starts again from its
 * beginning only when all of it has been copied; so the writer is asked to copy the small rest itself,
 * after it has answered a batch. The thread is started when it is first needed.
 */
import { Worker } from "node:worker_threads";

import { ownModule } from "../../model/own-files.ts";

/** 16 MiB in pages of 8 KiB. */
export const CHECKPOINT_FRAMES = 2_048;
/** 4 MiB: an idle writer copies this much itself, without the thread. */
export const QUIET_FRAMES = 512;
/** 64 MiB: the writer copies everything itself rather than let the log grow further. */
export const MAX_WAL_FRAMES = 8_192;

/**
 * idle → copying, in the thread → ready to finish → finishing, by the writer, after it has answered the
 * batch that told it to; the reply to that batch still shows the old length of the log → idle.
 */
type State = "idle" | "copying" | "ready" | "finishing";

export class Checkpointer {
  readonly #path: string;
  readonly #onReady: () => void;
  #thread: Worker | undefined;
  #state: State = "idle";
  #closed = false;

  constructor(path: string, onReady: () => void) {
    this.#path = path;
    this.#onReady = onReady;
  }

  get wantsFinish(): boolean {
    return this.#state === "ready";
  }

  /** Called with the reply to each batch: how long the log is, and whether the writer is idle. */
  observe(frames: number, isQuiet: boolean): void {
    if (this.#state === "finishing") this.#state = "idle";
    else if (frames >= MAX_WAL_FRAMES) this.#state = "ready";
    else if (isQuiet && frames >= QUIET_FRAMES && this.#state === "idle") this.#state = "ready";
    else if (frames >= CHECKPOINT_FRAMES && this.#state === "idle") this.#start();
  }

  /** Whether the batch that is about to leave should finish a checkpoint. */
  takeFinish(): boolean {
    if (this.#state !== "ready") return false;
    this.#state = "finishing";
    return true;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread?.terminate();
  }

  #start(): void {
    if (this.#closed) return;
    this.#state = "copying";
    this.#thread ??= this.#open();
    this.#thread.postMessage("checkpoint");
  }

  #open(): Worker {
    const thread = new Worker(ownModule("store/sqlite/checkpoint-thread"), { workerData: this.#path });
    thread.unref();
    thread.on("message", () => this.#copied());
    // Without this thread the writer does all the copying: slower, but nothing is lost.
    thread.on("error", () => {
      this.#thread = undefined;
      this.#copied();
    });
    return thread;
  }

  #copied(): void {
    if (this.#closed || this.#state !== "copying") return;
    this.#state = "ready";
    this.#onReady();
  }
}
