/**
 * Lines of a stream. A line is read on request, so a writer that is faster than we are has to wait, and the buffer never
 * exceeds the longest allowed line.
 */
import type { Readable } from "node:stream";

export interface LineLimits {
  readonly maxBytes: number;
  /** The error of a line that cannot be read: `not UTF-8`, `incomplete`, `more than … bytes`. */
  readonly unreadable: (why: string) => Error;
}

const LINE_FEED = 0x0a;
const UTF_8 = new TextDecoder("utf-8", { fatal: true });

export class LineReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #maxBytes: number;
  readonly #unreadable: LineLimits["unreadable"];
  #lines: string[] = [];
  /** The index of the next line: removing lines from the front would move all others each time. */
  #next = 0;
  #partial: Buffer[] = [];
  #partialBytes = 0;
  #isAtEnd = false;
  #problem: Error | undefined;

  constructor(input: Readable, { maxBytes, unreadable }: LineLimits) {
    this.#chunks = (input as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    this.#maxBytes = maxBytes;
    this.#unreadable = unreadable;
  }

  /** The next line, if it was already read. */
  get waiting(): string | undefined {
    return this.#lines[this.#next];
  }

  /** Consumes the waiting line. */
  drop(): void {
    this.#next++;
  }

  /**
   * Undefined: the stream has ended. Rejects if the line is too long, not UTF-8 or incomplete. Must
   * not be called again before it resolves.
   */
  async next(): Promise<string | undefined> {
    while (this.waiting === undefined && !this.#isAtEnd) await this.#read();
    if (this.waiting === undefined && this.#problem !== undefined) throw this.#problem;
    return this.#lines[this.#next++];
  }

  async #read(): Promise<void> {
    const { value, done } = await this.#chunks.next();
    if (done !== true) return this.#take(value);
    this.#end(this.#partialBytes > 0 ? this.#unreadable("incomplete") : undefined);
  }

  #take(chunk: Buffer): void {
    this.#lines = [];
    this.#next = 0;
    let from = 0;
    while (!this.#isAtEnd) {
      const end = chunk.indexOf(LINE_FEED, from);
      const piece = chunk.subarray(from, end === -1 ? chunk.length : end);
      this.#partial.push(piece);
      this.#partialBytes += piece.length;
      if (this.#partialBytes > this.#maxBytes)
        return this.#end(this.#unreadable(`more than ${this.#maxBytes} bytes`));
      if (end === -1) return;
      this.#finish(Buffer.concat(this.#partial));
      from = end + 1;
    }
  }

  #finish(line: Buffer): void {
    this.#partial = [];
    this.#partialBytes = 0;
    try {
      this.#lines.push(UTF_8.decode(line));
    } catch {
      this.#end(this.#unreadable("not UTF-8"));
    }
  }

  /** Lines before a problem are still returned. */
  #end(problem: Error | undefined): void {
    this.#isAtEnd = true;
    this.#problem = problem;
    this.#partial = [];
  }
}
