/** Reads the body of a page up to a limit, whatever its server does. */
import type { IncomingMessage } from "node:http";
import { pipeline, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

import { CortexError } from "../../model/errors.ts";

/** How much of a page is read, counted after decompression. */
export const MAX_PAGE_BYTES = 2 * 1024 * 1024;

const DECOMPRESSORS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

export interface PageBody {
  readonly bytes: Buffer;
  /** Why it is incomplete. */
  readonly cut?: "size" | "broken";
}

/** A body that breaks off is returned as far as it arrived. So is an aborted one: the caller checks its signal. */
export async function readPageBody(response: IncomingMessage, maxBytes: number): Promise<PageBody> {
  const source = decompressed(response);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of source) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxBytes) return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), cut: "size" };
    }
  } catch {
    return { bytes: Buffer.concat(chunks), cut: "broken" };
  } finally {
    response.destroy();
  }
  return { bytes: Buffer.concat(chunks) };
}

function decompressed(response: IncomingMessage): AsyncIterable<Buffer> {
  const encoding = response.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity" || encoding === "") return response;
  const decompressor = DECOMPRESSORS.get(encoding);
  if (decompressor === undefined) {
    response.destroy();
    throw new CortexError("tool_failed", `Unsupported content encoding "${encoding}"`, {
      hint: "Fetch another page.",
    });
  }
  // Errors of both streams reach the reader of the last one.
  return pipeline(response, decompressor(), () => {});
}

/** Decodes by the charset of the header, else of the HTML page itself, else as UTF-8. */
export function decodeText(bytes: Buffer, contentType: string): string {
  const charset =
    /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1] ??
    (contentType.includes("html") ? declaredCharset(bytes) : undefined);
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // unknown charset
  }
}

/** As far as the HTML standard requires. */
const CHARSET_PROBE_BYTES = 1024;

function declaredCharset(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, CHARSET_PROBE_BYTES).toString("latin1");
  return /<meta[^>]*?charset\s*=\s*["']?([\w.:-]+)/i.exec(head)?.[1];
}
