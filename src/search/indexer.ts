/**
 * Keeps the index of what was said up to date, beside everything else: in small steps, after a rest in which more may
 * come, and with long rests while others write. Searches also look at what waits here, so being late costs nothing
 * but their time; and how far it has come is in the store, so it can end at any moment.
 */
import { setTimeout as pause } from "node:timers/promises";

import type { Store } from "../store/store.ts";

export interface IndexerParts {
  readonly store: { readonly events: Pick<Store["events"], "index"> } & Pick<Store, "onWake">;
  /** Told when it does not go on, once until it does again. */
  readonly onProblem: (error: unknown) => void;
  readonly restMs?: number;
  readonly retryMs?: number;
}

/** What one step takes: a few milliseconds of the writer. */
export const STEP_EVENTS = 64;
/** Between something new and the first step, so that a busy minute is not one step for each message. */
const REST_MS = 200;
/** After a failure: a disk that is full is seldom emptied at once. */
const RETRY_MS = 10_000;
/** Wake-ups can be lost; this is how long something then waits. */
const POLL_MS = 60_000;

export class Indexer implements AsyncDisposable {
  readonly #parts: IndexerParts;
  readonly #stopping = new AbortController();
  #unlisten: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pass: Promise<void> | undefined;
  #woken = false;
  #failing = false;

  constructor(parts: IndexerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#unlisten = this.#parts.store.onWake("changes", () => this.#wake());
    this.#timer = setInterval(() => this.#wake(), POLL_MS);
    this.#wake();
  }

  /** Lets the step under way end. The rest is done after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    this.#unlisten?.();
    clearInterval(this.#timer);
    await this.#pass;
  }

  #wake(): void {
    if (this.#stopping.signal.aborted) return;
    this.#woken = true;
    this.#pass ??= this.#indexAll().finally(() => {
      this.#pass = undefined;
      if (this.#woken) this.#wake();
    });
  }

  async #indexAll(): Promise<void> {
    const { store, onProblem, restMs = REST_MS, retryMs = RETRY_MS } = this.#parts;
    try {
      for (let waiting = 1; waiting > 0;) {
        // Somebody has written since the last step: this can wait, they should not have to.
        if (this.#woken) await this.#pause(restMs);
        if (this.#stopping.signal.aborted) return;
        this.#woken = false;
        waiting = (await store.events.index(STEP_EVENTS)).waiting;
        this.#failing = false;
      }
    } catch (error) {
      if (!this.#failing) onProblem(error);
      this.#failing = true;
      this.#woken = true;
      await this.#pause(retryMs);
    }
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#stopping;
    await pause(ms, undefined, { signal }).catch(() => {}); // stopping ends a pause
  }
}
