import { CortexError } from "../model/errors.ts";
import { MAX_ATTACHMENT_BYTES } from "../model/event.ts";

/** As much as one event may hold. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** With one attachment in base64 that is somewhat over the limit, so that the event can still say so. */
export const MAX_EVENT_BODY_BYTES = MAX_BODY_BYTES + 2 * MAX_ATTACHMENT_BYTES;

/** The JSON of a request. Undefined: there is no body. */
export async function readBody(request: Request, maxBytes?: number): Promise<unknown> {
  const bytes = await readBytes(request, maxBytes);
  if (bytes.length === 0) return undefined;
  const type = request.headers.get("content-type") ?? "";
  // Only this type makes a browser ask first before it sends something for another site.
  if (!/^application\/json *(;|$)/i.test(type))
    throw notJson(`its type is ${JSON.stringify(type.slice(0, 80))}`);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown;
  } catch (error) {
    throw notJson((error as Error).message);
  }
}

/** The body of a request as it came. */
export async function readBytes({ headers, body }: Request, maxBytes = MAX_BODY_BYTES): Promise<Uint8Array> {
  if (Number(headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function notJson(why: string): CortexError {
  return new CortexError("body_invalid", `The body is not JSON: ${why}`, {
    hint: "Send JSON in UTF-8, with `Content-Type: application/json`.",
  });
}

function tooLarge(maxBytes: number): CortexError {
  return new CortexError("body_too_large", `The body has more than ${maxBytes} bytes`, {
    hint: "Send less at once; large content belongs into a file that the agent can read.",
  });
}
