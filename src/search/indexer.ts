/**
 * Keeps the index of what was said up to date, beside everything else: in small steps, after a rest in which more may
 * come, and with long rests while others write. Searches also look at what waits here, so being late costs nothing
 * but their time; and how far it has come is in the store, so it can end at any moment.
 */
import { WakeLoop } from "../model/wake-loop.ts";
import type { Store } from "../store/store.ts";

export interface IndexerOptions {
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
      gatherMs: restMs, // others have written since the last step: this can wait, they should not have to
      onProblem,
      keepsAlive: true,
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Lets the step under way end. The rest is done after the next start. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
