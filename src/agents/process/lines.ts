/**
 * Lines over a stream. A line is read on request, so a writer that is faster than we are has to wait, and the buffer never
 * exceeds the longest allowed line.
 */
import type { Readable, Writable } from "node:stream";

import { CortexError } from "../../model/errors.ts";

/** Very long conversations have a few megabytes. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

const LINE_FEED = 0x0a;
const UTF_8 = new TextDecoder("utf-8", { fatal: true });

export class LineReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #maxBytes: number;
  #lines: string[] = [];
  /** The index of the next line: removing lines from the front would move all others each time. */
  #next = 0;
  #partial: Buffer[] = [];
  #partialBytes = 0;
  #isAtEnd = false;
  #problem: CortexError | undefined;

  constructor(input: Readable, maxBytes: number = MAX_LINE_BYTES) {
    this.#chunks = (input as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    this.#maxBytes = maxBytes;
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
   * Undefined: the stream has ended. Rejects with `sub_agent_failed` if the line is too long, not UTF-8 or incomplete. Must
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
    this.#end(this.#partialBytes > 0 ? unreadable("incomplete", true) : undefined);
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
      if (this.#partialBytes > this.#maxBytes) return this.#end(tooLong(this.#maxBytes));
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
      this.#end(unreadable("not UTF-8"));
    }
  }

  /** Lines before a problem are still returned. */
  #end(problem: CortexError | undefined): void {
    this.#isAtEnd = true;
    this.#problem = problem;
    this.#partial = [];
  }
}

/** Throws `sub_agent_failed` if the line is too long for the other side. */
export function writeLine(output: Writable, value: object): void {
  const line = `${JSON.stringify(value)}\n`;
  if (Buffer.byteLength(line) - 1 > MAX_LINE_BYTES) throw tooLong(MAX_LINE_BYTES);
  output.write(line);
}

function tooLong(maxBytes: number): CortexError {
  return unreadable(`more than ${maxBytes} bytes`);
}

function unreadable(why: string, transient = false): CortexError {
  return new CortexError("sub_agent_failed", `Invalid sub-agent protocol line: ${why}`, {
    hint: "Each line must be UTF-8 JSON ending in a line feed; docs/sub-agent-protocol.md lists the limits.",
    transient,
  });
}
