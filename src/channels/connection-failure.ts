import { codeOf } from "../model/error-code.ts";
import type { CortexError } from "../model/errors.ts";
import { deliveryFailed, deliveryUncertain } from "./channel.ts";

/** Errors of connecting: no byte of the request was sent. */
const BEFORE_SENDING = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "EMFILE",
  "ENETDOWN",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPROTO",
  "UND_ERR_CONNECT_TIMEOUT",
]);
const TLS = /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** Why there was no response of a peer. Only errors before the request are certain failures. */
export function connectionFailure(peer: string, error: unknown): CortexError {
  const code = innermostCode(error);
  const what = `The connection to ${peer} failed (${code})`;
  if (BEFORE_SENDING.has(code) || TLS.test(code)) {
    return deliveryFailed(what, {
      hint: "Check that it is running and that its URL is correct.",
      cause: error,
    });
  }
  return deliveryUncertain(`${what} during the request`, { hint: "It may have arrived.", cause: error });
}

/** fetch wraps the cause; a host with several addresses wraps it once more, with one error per address. */
function innermostCode(error: unknown): string {
  for (let each = error, depth = 0; each instanceof Error && depth < 5; each = each.cause, depth++) {
    const code = codeOf(each);
    if (code !== undefined) return code;
    if (each instanceof AggregateError && each.errors.length > 0) return innermostCode(each.errors[0]);
  }
  return "no error code";
}
