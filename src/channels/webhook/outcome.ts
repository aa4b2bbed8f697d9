/** Interprets a response to a message. Only the beginning of its body is read, for error messages. */
import type { CortexError } from "../../model/errors.ts";
import { deliveryFailed, deliveryRefused, type Receipt } from "../channel.ts";

/** The part of a response that is read. */
export const MAX_RESPONSE_BYTES = 4 * 1024;
const MAX_SHOWN_CHARACTERS = 200;

/** Retryable 4xx statuses: timeout, too early, too many requests. */
const NOT_NOW = new Set([408, 425, 429]);

export async function outcomeOf(
  response: Response,
  { place, nowMs }: { readonly place: string; readonly nowMs: number },
): Promise<Receipt> {
  const { status, headers } = response;
  const said = await readBeginning(response);
  if (status >= 200 && status < 300) return {};
  if (status >= 300 && status < 400) throw redirected(place, status, headers.get("location"));
  const what = `The webhook target "${place}" answered ${status}${said === "" ? "" : `: ${said}`}`;
  if (status >= 500 || NOT_NOW.has(status)) {
    const retryAfterMs = parseRetryAfter(headers.get("retry-after"), nowMs);
    throw deliveryFailed(what, { hint: "It is retried.", retryAfterMs });
  }
  throw deliveryRefused(what, { hint: "Fix the receiver or the config, then retry the delivery." });
}

/** Seconds or an HTTP date. Anything else is ignored. */
export function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(value)) return Number(value) * 1_000;
  const atMs = /[a-z]{3}/i.test(value) ? Date.parse(value) : Number.NaN; // "-5" would be a year
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

/** The status decides, so errors of the body are ignored. */
async function readBeginning({ body }: Response): Promise<string> {
  if (body === null) return "";
  const reader = body.getReader();
  const bytes: Uint8Array[] = [];
  try {
    for (let size = 0; size < MAX_RESPONSE_BYTES;) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes.push(value);
      size += value.length;
    }
    await reader.cancel();
  } catch {
    // Cut off or timed out: the part that arrived will do.
  }
  const text = new TextDecoder().decode(Buffer.concat(bytes).subarray(0, MAX_RESPONSE_BYTES));
  return shown(text);
}

/** Redirects are not followed: they could lead into the owner's network. */
function redirected(place: string, status: number, location: string | null): CortexError {
  const where = location === null ? "nowhere" : shown(location.replace(/[?#].*$/s, ""));
  return deliveryRefused(`The webhook target "${place}" answered ${status} with a redirect to ${where}`, {
    hint: "Redirects are not followed. Configure the final URL, then retry the delivery.",
  });
}

/** On one line, without control characters. */
function shown(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .slice(0, MAX_SHOWN_CHARACTERS);
}
