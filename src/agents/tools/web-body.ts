/** Reads the body of a page as far as it is wanted, whatever its server does. */
import type { IncomingMessage } from "node:http";
import { pipeline, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

import { CortexError } from "../../model/errors.ts";

/** What is read of a page, counted after it is unpacked. */
export const MAX_PAGE_BYTES = 2 * 1024 * 1024;

const UNPACKERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

export interface Body {
  readonly bytes: Buffer;
  /** Why this is not all of it. */
  readonly cut?: "size" | "broken";
}

/** A body that breaks off is given as far as it came. An abort is one too: the caller knows its signal. */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<Body> {
  const source = unpacked(response);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
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

function unpacked(response: IncomingMessage): AsyncIterable<unknown> {
  const encoding = response.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity" || encoding === "") return response;
  const unpack = Object.hasOwn(UNPACKERS, encoding) ? UNPACKERS[encoding]! : undefined;
  if (unpack === undefined) {
    response.destroy();
    throw new CortexError("tool_failed", `The page is packed as "${encoding}", which was not asked for`, {
      hint: "Fetch another page.",
    });
  }
  // An error of either end arrives at whoever reads the other one.
  return pipeline(response, unpack(), () => {});
}

/** Encoded as the header says, else as an HTML page says of itself, else in UTF-8. */
export function decodeText(bytes: Buffer, contentType: string): string {
  const charset =
    /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1] ??
    (contentType.includes("html") ? declaredCharset(bytes) : undefined);
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // Nobody knows that charset: most of the web is UTF-8.
  }
}

/** The HTML standard looks as far. */
const CHARSET_PROBE_BYTES = 1024;

function declaredCharset(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, CHARSET_PROBE_BYTES).toString("latin1");
  return /<meta[^>]*?charset\s*=\s*["']?([\w.:-]+)/i.exec(head)?.[1];
}
