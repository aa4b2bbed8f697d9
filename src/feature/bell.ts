/**
 * Wakes one loop that waits. Ringing while it works is not lost: the loop takes the promise before it looks
 * for something to do, and waits for it only when there was nothing.
 */
export class Bell {
  #next = Promise.withResolvers<void>();

  /** Resolves with the first ring from now on. */
  next(): Promise<void> {
    this.#next = Promise.withResolvers<void>();
    return this.#next.promise;
  }

  readonly ring = (): void => {
    this.#next.resolve();
  };
}
