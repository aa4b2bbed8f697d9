/**
 * What goes over the wire, watched from beside pi: it reports a failure as a sentence, and we want the
 * status, how long to wait, and to notice a server that has fallen silent.
 */

/** How long a server may send nothing at all. Providers send pings while a model thinks. */
export const IDLE_TIMEOUT_MS = 120_000;

export interface Seen {
  status?: number;
  headers?: Headers;
  /** Why there was no response. */
  refused?: unknown;
}

export class Watch implements Disposable {
  readonly seen: Seen = {};
  readonly #idle = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** Aborts when the caller does, and when the server has been silent for too long. */
  readonly signal: AbortSignal;

  constructor(signal: AbortSignal, idleTimeoutMs: number) {
    this.signal = AbortSignal.any([signal, this.#idle.signal]);
    this.#timer = setTimeout(() => this.#idle.abort(), idleTimeoutMs);
  }

  get fellSilent(): boolean {
    return this.#idle.signal.aborted;
  }

  /** Something has arrived. */
  readonly touch = (): void => {
    this.#timer.refresh();
  };

  /** The system's fetch, under watch. */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    let response: Response;
    try {
      response = await globalThis.fetch(input, init);
    } catch (error) {
      this.seen.refused = error;
      throw error;
    }
    this.touch();
    const { status, statusText, headers, body } = response;
    Object.assign(this.seen, { status, headers });
    if (body === null) return response;
    const watched = body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          this.touch();
          controller.enqueue(chunk);
        },
      }),
    );
    return new Response(watched, { status, statusText, headers });
  };

  /** Ends whatever is still under way. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#idle.abort();
  }
}
