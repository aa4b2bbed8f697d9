import type { Readable } from "node:stream";

/** How much is kept of what a program writes to its standard error. */
export const MAX_STDERR_BYTES = 64 * 1024;
/** How much of that an error tells. */
const MAX_TOLD = 2_000;

/** The end of what a program writes to its standard error. It is read as fast as it comes. */
export class StderrTail {
  #kept: Buffer = Buffer.alloc(0);

  constructor(stderr: Readable) {
    stderr.on("data", (chunk: Buffer) => {
      this.#kept = Buffer.concat([this.#kept, chunk]).subarray(-MAX_STDERR_BYTES);
    });
    stderr.on("error", () => {}); // it was closed on our side
  }

  /** For the end of a sentence; empty where there is nothing. */
  get described(): string {
    const text = this.#kept.toString("utf8").trim();
    if (text === "") return "";
    return `. Its standard error: ${text.length > MAX_TOLD ? `…${text.slice(-MAX_TOLD)}` : text}`;
  }

  get bytes(): number {
    return this.#kept.length;
  }
}
