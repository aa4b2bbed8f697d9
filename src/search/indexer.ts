/**
 * Keeps the search index up to date in the background, in small steps with pauses. Searches also read events that are not
 * indexed yet, so being late costs only time. The store records the progress, so the indexer can stop at any moment.
 */
import { WakeLoop } from "../model/wake-loop.ts";
import type { Store } from "../store/store.ts";

export interface IndexerOptions {
  readonly store: { readonly events: Pick<Store["events"], "index"> } & Pick<Store, "onWake">;
  /** Called once when indexing fails, until it works again. */
  readonly onProblem: (error: unknown) => void;
  readonly restMs?: number;
  readonly retryMs?: number;
}

/** The events of one step: a few milliseconds of the writer. */
export const STEP_EVENTS = 64;
/** The pause before the first step, so that a busy minute is not one step per message. */
const REST_MS = 200;
/** The delay after a failure: a full disk is seldom freed at once. */
const RETRY_MS = 10_000;
/** The delay if a wake-up was lost. */
const POLL_MS = 60_000;

export class Indexer implements AsyncDisposable {
  readonly #loop: WakeLoop;

  constructor({ store, onProblem, restMs = REST_MS, retryMs = RETRY_MS }: IndexerOptions) {
    this.#loop = new WakeLoop({
      async round() {
        const { waiting } = await store.events.index(STEP_EVENTS);
        return waiting > 0 ? 0 : undefined;
      },
      listen: (wake) => store.onWake("changes", wake),
      pollMs: POLL_MS,
      retryMs,
      gatherMs: restMs, // gives way to other writers
      onProblem,
      keepsAlive: true,
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Finishes the current step. The rest is indexed after the next start. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
