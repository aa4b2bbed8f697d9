/**
 * Lines over a stream. One is read when it is asked for: whoever writes faster than we read has to wait, and
 * nothing is kept beyond the longest line that there may be.
 */
import type { Readable, Writable } from "node:stream";

import { CortexError } from "../../model/errors.ts";

/** A conversation of the longest kind has some megabytes. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

const LINE_FEED = 0x0a;
const UTF_8 = new TextDecoder("utf-8", { fatal: true });

export class LineReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #maxBytes: number;
  #lines: string[] = [];
  /** How many of them were given: taking them off the list would move all others each time. */
  #given = 0;
  #begun: Buffer[] = [];
  #begunBytes = 0;
  #isAtEnd = false;
  #problem: CortexError | undefined;

  constructor(input: Readable, maxBytes: number = MAX_LINE_BYTES) {
    this.#chunks = (input as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    this.#maxBytes = maxBytes;
  }

  /** The line that was read already and comes next. */
  get waiting(): string | undefined {
    return this.#lines[this.#given];
  }

  /** Takes the one that waits. */
  drop(): void {
    this.#given++;
  }

  /**
   * Undefined: there are no more. Rejects with `sub_agent_failed` for one that is too long, is no UTF-8, or was
   * begun and not ended. Not to be called again before it has resolved.
   */
  async next(): Promise<string | undefined> {
    while (this.waiting === undefined && !this.#isAtEnd) await this.#read();
    if (this.waiting === undefined && this.#problem !== undefined) throw this.#problem;
    return this.#lines[this.#given++];
  }

  async #read(): Promise<void> {
    const { value, done } = await this.#chunks.next();
    if (done !== true) return this.#take(value);
    this.#end(this.#begunBytes > 0 ? unreadable("ends in the middle", true) : undefined);
  }

  #take(chunk: Buffer): void {
    this.#lines = [];
    this.#given = 0;
    let from = 0;
    while (!this.#isAtEnd) {
      const end = chunk.indexOf(LINE_FEED, from);
      const piece = chunk.subarray(from, end === -1 ? chunk.length : end);
      this.#begun.push(piece);
      this.#begunBytes += piece.length;
      if (this.#begunBytes > this.#maxBytes) return this.#end(tooLong(this.#maxBytes));
      if (end === -1) return;
      this.#finish(Buffer.concat(this.#begun));
      from = end + 1;
    }
  }

  #finish(line: Buffer): void {
    this.#begun = [];
    this.#begunBytes = 0;
    try {
      this.#lines.push(UTF_8.decode(line));
    } catch {
      this.#end(unreadable("is not UTF-8"));
    }
  }

  /** Lines before a problem are still given. */
  #end(problem: CortexError | undefined): void {
    this.#isAtEnd = true;
    this.#problem = problem;
    this.#begun = [];
  }
}

/** Throws `sub_agent_failed` where it is too long for the other side. */
export function writeLine(output: Writable, value: object): void {
  const line = `${JSON.stringify(value)}\n`;
  if (Buffer.byteLength(line) - 1 > MAX_LINE_BYTES) throw tooLong(MAX_LINE_BYTES);
  output.write(line);
}

function tooLong(maxBytes: number): CortexError {
  return unreadable(`has more than ${maxBytes} bytes`);
}

function unreadable(why: string, transient = false): CortexError {
  return new CortexError("sub_agent_failed", `A line of the sub-agent protocol ${why}`, {
    hint: "A line is JSON in UTF-8 with a line feed at its end; docs/sub-agent-protocol.md has the limits.",
    transient,
  });
}
