/** Reads from an open file in bounded memory. */
import type { FileHandle } from "node:fs/promises";

const CHUNK_BYTES = 64 * 1024;

/** How much of a file is searched for a NUL byte, which text does not contain. The same as in git. */
const BINARY_PROBE_BYTES = 8000;

const NEWLINE = 0x0a;

export function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, BINARY_PROBE_BYTES).includes(0);
}

/** Whether the file is binary. */
export async function holdsBinary(handle: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(BINARY_PROBE_BYTES), { position: 0 });
  return isBinary(buffer.subarray(0, bytesRead));
}

/** All bytes of a file. Undefined: it is larger. The size that the system reports is not trusted. */
export async function readAtMost(
  handle: FileHandle,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunksOf(handle, signal)) {
    length += chunk.length;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export interface LinesFrom {
  readonly bytes: Buffer;
  /** Whether the file ends where the bytes do. */
  readonly complete: boolean;
  /** The number of lines, if the file ends before the requested line. */
  readonly lastLine: number;
}

/** Up to `maxBytes` bytes from the start of a line. The first line is 1. */
export async function readFromLine(
  handle: FileHandle,
  firstLine: number,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<LinesFrom> {
  const kept: Buffer[] = [];
  let length = 0;
  let line = 1;
  let endsWithNewline = true;
  for await (const chunk of chunksOf(handle, signal)) {
    let start = 0;
    while (line < firstLine && start < chunk.length) {
      const newline = chunk.indexOf(NEWLINE, start);
      start = newline === -1 ? chunk.length : newline + 1;
      if (newline !== -1) line += 1;
    }
    endsWithNewline = chunk.at(-1) === NEWLINE;
    if (start === chunk.length) continue;
    kept.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > maxBytes)
      return { bytes: Buffer.concat(kept).subarray(0, maxBytes), complete: false, lastLine: line };
  }
  return { bytes: Buffer.concat(kept), complete: true, lastLine: endsWithNewline ? line - 1 : line };
}

async function* chunksOf(handle: FileHandle, signal: AbortSignal): AsyncGenerator<Buffer> {
  for (let position = 0; ;) {
    signal.throwIfAborted();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(CHUNK_BYTES), { position });
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}
