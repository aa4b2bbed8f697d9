/**
 * Collects the output of a command in bounded memory: its end for the model and, if the model does not get all of it, the
 * whole output in a file. The file is bounded, too: it keeps the beginning.
 */
import type { FileHandle } from "node:fs/promises";

import { withoutSequences } from "../../model/control-sequences.ts";
import type { ToolContext } from "../../model/tool.ts";
import { MAX_SHOWN_BYTES, openOutput, tailOf } from "./output.ts";

export interface ShownOutput {
  readonly text: string;
  readonly bytes: number;
  /** The file with the whole output, if `text` is truncated. */
  readonly file?: string;
  /** The problem of the file, if any. */
  readonly flaw?: string;
}

export class CommandOutput implements AsyncDisposable {
  readonly #context: Pick<ToolContext, "outputFolder" | "callKey">;
  readonly #maxFileBytes: number;
  #tail: Buffer = Buffer.alloc(0);
  #bytes = 0;
  #file: { readonly path: string; readonly handle: FileHandle } | undefined;
  #fileBytes = 0;
  #failure: unknown;

  constructor(context: Pick<ToolContext, "outputFolder" | "callKey">, maxFileBytes: number) {
    this.#context = context;
    this.#maxFileBytes = maxFileBytes;
  }

  async append(chunk: Buffer): Promise<void> {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_SHOWN_BYTES) {
      if (this.#file === undefined) await this.#keep(this.#tail); // the whole output so far
      await this.#keep(chunk);
    }
    const tail = chunk.length < MAX_SHOWN_BYTES ? Buffer.concat([this.#tail, chunk]) : chunk;
    this.#tail = tail.subarray(-MAX_SHOWN_BYTES);
  }

  /** The output to show. Nothing may be appended afterwards. */
  async finish(): Promise<ShownOutput> {
    const isTail = this.#bytes > this.#tail.length;
    const decoded = this.#tail.toString();
    // A tail may start in the middle of a character.
    const readable = makeReadable(isTail ? decoded.replace(/^\ufffd{1,3}/, "") : decoded);
    const text = tailOf(readable);
    const isCut = isTail || text.length < readable.trimEnd().length;
    if (isCut && this.#file === undefined) await this.#keep(this.#tail);
    const flaw = this.#flaw();
    return {
      text,
      bytes: this.#bytes,
      ...(isCut && this.#file !== undefined ? { file: this.#file.path } : {}),
      ...(isCut && flaw !== undefined ? { flaw } : {}),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.handle.close();
  }

  /** A failed write does not stop the command; it is reported at the end. */
  async #keep(bytes: Buffer): Promise<void> {
    if (this.#failure !== undefined) return;
    try {
      this.#file ??= await openOutput(this.#context);
      const fitting = bytes.subarray(0, this.#maxFileBytes - this.#fileBytes);
      await this.#file.handle.writeFile(fitting);
      this.#fileBytes += fitting.length;
    } catch (error) {
      this.#failure = error;
    }
  }

  #flaw(): string | undefined {
    if (this.#failure instanceof Error)
      return `The output could not be saved completely: ${this.#failure.message}`;
    return this.#bytes > this.#maxFileBytes
      ? `Only the first ${this.#fileBytes} bytes were saved`
      : undefined;
  }
}

/** Removes escape sequences, and control characters that some databases reject. */
export function makeReadable(text: string): string {
  return withoutSequences(text).replaceAll(/(?![\t\n\r])\p{Cc}/gu, "\ufffd");
}
