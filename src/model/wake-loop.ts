/**
 * The one way to wait for work: a wake-up or a slow poll starts a round, and the round says when the next is due.
 *
 * - Rounds never overlap.
 * - A wake-up during a round leads to another round after it. A wake-up carries no data, and a lost one costs time only:
 *   there is a poll every `pollMs`, however often the loop is woken in between.
 * - The next round starts when the last one said, or with the next poll or wake-up, whichever comes first.
 * - A failed round is retried after `retryMs`. Wake-ups during the failed round wait for the retry, so a round that wakes
 *   its own loop and fails does not spin; a later wake-up retries at once. A streak of failures is reported once.
 * - A loop that was not started has no poll, and still runs a round when it is woken.
 * - Disposing the loop aborts the signal of the running round and waits for the round to end. Its failure is not reported:
 *   the store may be closed by then.
 */
export class WakeLoop implements AsyncDisposable {
  readonly #options: WakeLoopOptions;
  readonly #ended = new AbortController();
  #unlisten: (() => void) | undefined;
  #poll: NodeJS.Timeout | undefined;
  /** Goes off when wake-ups were gathered for long enough. */
  #gathered: NodeJS.Timeout | undefined;
  /** Goes off when the next round is due. */
  #due: NodeJS.Timeout | undefined;
  #rounds: Promise<void> | undefined;
  #isWoken = false;
  #isPollDue = false;
  #isFailing = false;

  constructor(options: WakeLoopOptions) {
    this.#options = options;
  }

  /** Listens, polls, and starts the first round, which is a poll. */
  start(): void {
    const { listen, pollMs } = this.#options;
    this.#unlisten = listen?.(() => this.wake());
    this.#poll = this.#keep(setInterval(() => this.#pollNow(), pollMs));
    this.#pollNow();
  }

  /** Asks for a round. It starts before this returns, unless one is running or `gatherMs` is set. */
  wake(): void {
    if (this.#ended.signal.aborted) return;
    const { gatherMs = 0 } = this.#options;
    const wasWoken = this.#isWoken;
    this.#isWoken = true;
    if (this.#rounds !== undefined) return;
    if (gatherMs === 0) this.#run();
    else if (!wasWoken) this.#gathered = this.#runIn(gatherMs); // what is due sooner stays due
  }

  /** Asks for a round, and waits until the loop rests. */
  async settle(): Promise<void> {
    this.wake();
    await this.#rounds;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    this.#unlisten?.();
    for (const timer of [this.#poll, this.#gathered, this.#due]) clearTimeout(timer);
    await this.#rounds;
  }

  #pollNow(): void {
    this.#isPollDue = true;
    this.wake();
  }

  #run(): void {
    clearTimeout(this.#gathered);
    clearTimeout(this.#due);
    this.#rounds = this.#runRounds();
  }

  #runIn(ms: number): NodeJS.Timeout {
    return this.#keep(setTimeout(() => this.#run(), ms));
  }

  async #runRounds(): Promise<void> {
    const { gatherMs = 0, pollMs } = this.#options;
    for (;;) {
      const dueMs = await this.#runRound();
      if (this.#isWoken && gatherMs === 0 && !this.#ended.signal.aborted) continue;
      this.#rounds = undefined; // with no await since #isWoken was read, or a wake-up would be lost
      if (this.#ended.signal.aborted) return;
      if (this.#isWoken) this.#gathered = this.#runIn(gatherMs);
      else if (dueMs !== undefined && dueMs < pollMs) this.#due = this.#runIn(dueMs);
      return;
    }
  }

  /** Returns in how many milliseconds the next round is due. Undefined: with the next poll. */
  async #runRound(): Promise<number | undefined> {
    const { round, retryMs } = this.#options;
    const isPoll = this.#isPollDue;
    this.#isWoken = false;
    this.#isPollDue = false;
    try {
      const dueMs = await round({ isPoll, signal: this.#ended.signal });
      this.#isFailing = false;
      return dueMs ?? undefined;
    } catch (error) {
      this.#isWoken = false;
      this.#isPollDue ||= isPoll;
      this.#report(error);
      return retryMs;
    }
  }

  #report(error: unknown): void {
    const wasFailing = this.#isFailing;
    this.#isFailing = true;
    if (wasFailing || this.#ended.signal.aborted) return;
    try {
      this.#options.onProblem?.(error);
    } catch {
      // A broken listener must not end the loop.
    }
  }

  #keep(timer: NodeJS.Timeout): NodeJS.Timeout {
    return this.#options.keepsAlive === true ? timer : timer.unref();
  }
}

export interface WakeLoopOptions {
  /** Does what is due. Returns in how many milliseconds more is due; undefined: nobody knows of more. */
  readonly round: (round: Round) => Promise<number | undefined> | Promise<void>;
  /** Subscribes to wake-ups and returns how to unsubscribe. Absent: only `wake` and the poll start rounds. */
  readonly listen?: (wake: () => void) => () => void;
  /** The longest that work waits whose wake-up was lost. */
  readonly pollMs: number;
  /** How long after a failure the round is retried. Absent: with the next poll. */
  readonly retryMs?: number;
  /** How long wake-ups are gathered before their round starts, so that a burst leads to one. Absent: not at all. */
  readonly gatherMs?: number;
  /** Told of the first failure of a streak. Absent: others report such failures. */
  readonly onProblem?: (error: unknown) => void;
  /** Whether waiting for work keeps the process alive. */
  readonly keepsAlive?: boolean;
}

export interface Round {
  /** Whether the round was started by the poll: time to look at what no wake-up tells of. */
  readonly isPoll: boolean;
  /** Aborts when the loop is disposed of. */
  readonly signal: AbortSignal;
}
